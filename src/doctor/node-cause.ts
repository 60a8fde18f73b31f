import { isLocalHost } from '../session/socket-address.ts';
import type { Cause } from './causes.ts';
import { errorTexts, speaksOfProxy, tlsTrouble } from './error-codes.ts';

/** What the configuration allows of sockets' addresses. */
export interface AddressRules {
  /** Plain `ws` is allowed. */
  readonly allowsPlain: boolean;
  /** The hosts that sockets may be opened to are named. */
  readonly limitsHosts: boolean;
}

/** Why a socket may not be opened to the address that the panel named. */
export function addressCause(address: string, { allowsPlain, limitsHosts }: AddressRules): Cause {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^wss?:$/.test(url.protocol) || url.username !== '') return 'socket_address';
  if (url.protocol === 'ws:' && !allowsPlain) return 'socket_address_insecure';
  if (limitsHosts) return 'socket_address_not_allowed';
  return isLocalHost(url.hostname) ? 'socket_address_local' : 'socket_address';
}

/** An upgrade that did not succeed, as the socket tells it. */
export interface RefusedUpgrade {
  /** Set where an HTTP answer came instead. */
  readonly status?: number;
  readonly error: Error;
}

/** Why the upgrade did not succeed; `proxied` where the node is reached through a proxy. */
export function upgradeCause({ status, error }: RefusedUpgrade, proxied: boolean): Cause {
  if (status === undefined) return connectCause(error, proxied);
  if (status === 407) return 'node_proxy';
  if (status === 403) return 'origin';
  if (status === 400) return 'too_many_sockets';
  if (status >= 300 && status < 400) return 'upgrade_redirected';
  return status >= 500 ? 'upgrade_error' : 'upgrade_refused';
}

function connectCause(error: Error, proxied: boolean): Cause {
  const texts = errorTexts(error);
  // What the guarded look-up of a name says.
  if (texts.some((text) => text.includes('socket_hosts'))) return 'socket_address_local';
  if (proxied && (speaksOfProxy(texts) || texts.includes('ECONNREFUSED') || texts.includes('ENOTFOUND'))) {
    return 'node_proxy';
  }
  const tls = tlsTrouble(texts);
  if (tls !== undefined) return `node_${tls}`;
  if (texts.some((text) => /^(?:ENOTFOUND|EAI_)/.test(text))) return 'node_dns';
  return texts.includes('ETIMEDOUT') ? 'node_timeout' : 'node_connection';
}
