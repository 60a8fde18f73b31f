import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP } from 'node:net';
import { OWN_CODES } from '../diagnosis/transport.ts';
import { unbracketed } from '../domain/endpoint.ts';
import { printable } from '../domain/printable.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { isLocalAddress, isMetadataAddress } from './special-addresses.ts';

/** The addresses to which a panel may direct a socket. */
export interface SocketPolicy {
  /** The panel's name. */
  readonly panel: string;
  readonly panelUrl: string;
  /** Plain `ws` is allowed. */
  readonly allowInsecure: boolean;
  /** If set, the only hosts to which a socket may be opened. */
  readonly socketHosts?: readonly string[];
}

/** Why a socket may not be opened to `address`; undefined if it may. */
export function socketAddressProblem(address: string, policy: SocketPolicy): Problem | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) {
    const detail = `expected a wss:// socket address from the panel, got "${printable(address, policy.panel)}"`;
    return { cause: 'socket_address', detail };
  }
  const shown = `socket address "${printable(`${url.protocol}//${url.host}`, policy.panel)}"`;
  const problem = (cause: CauseCode, words: string): Problem => ({ cause, detail: `${shown}: ${words}` });
  if (url.protocol !== 'wss:' && url.protocol !== 'ws:')
    return problem('socket_address', 'expected the scheme wss');
  if (url.username !== '' || url.password !== '')
    return problem('socket_address', 'user info is not allowed');
  const panelHost = new URL(policy.panelUrl).hostname;
  if (url.protocol === 'ws:' && !policy.allowInsecure && !isLocalHost(panelHost)) {
    return problem('socket_address_insecure', 'plain ws is not allowed');
  }
  return hostProblem(url.hostname, panelHost, policy, problem);
}

function hostProblem(
  host: string,
  panelHost: string,
  policy: SocketPolicy,
  problem: (cause: CauseCode, words: string) => Problem,
): Problem | undefined {
  if (policy.socketHosts !== undefined) {
    const allowed = policy.socketHosts.some((name) => sameHost(name, host));
    return allowed ? undefined : problem('socket_address_not_allowed', 'the host is not in socket_hosts');
  }
  if (isLocalHost(host) && !isLocalHost(panelHost)) {
    return problem(
      'socket_address_local',
      'a loopback or link-local address, but the panel is on another machine',
    );
  }
  if (!isMetadataAddress(unbracketed(host))) return undefined;
  return problem('socket_address_local', 'a cloud metadata address');
}

/** Is the host (a name, or an address in brackets as in a URL) this machine or a link-local address? */
export function isLocalHost(host: string): boolean {
  const bare = unbracketed(host);
  if (isIP(bare) !== 0) return isLocalAddress(bare);
  const name = bare.toLowerCase().replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost');
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * Like `dns.lookup`, but rejects a name if any of its addresses is forbidden: checking the name alone would let a hostile panel
 * reach whatever listens there.
 */
function lookupWithout(isRefused: (address: string) => boolean) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, []);
        return;
      }
      const refused = addresses.find(({ address }) => isRefused(address));
      const [first] = addresses;
      if (refused !== undefined || first === undefined) {
        const reached = refused?.address ?? 'no address';
        callback(
          Object.assign(new Error(`"${hostname}" resolves to ${reached}`), { code: OWN_CODES.address }),
          [],
        );
        return;
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** For names given by a panel on another machine: they may not lead to a local address or a metadata service. */
export const guardedLookup = lookupWithout(
  (address) => isLocalAddress(address) || isMetadataAddress(address),
);

/** For names given by a panel on this machine, whose nodes may be on it as well. */
const metadataGuardedLookup = lookupWithout(isMetadataAddress);

/** The lookup for a panel's sockets; undefined if names may lead anywhere, because the operator listed them in `socket_hosts`. */
export function socketLookup({ panelUrl, socketHosts }: Pick<SocketPolicy, 'panelUrl' | 'socketHosts'>) {
  if (socketHosts !== undefined) return undefined;
  return isLocalHost(new URL(panelUrl).hostname) ? metadataGuardedLookup : guardedLookup;
}

function sameHost(a: string, b: string): boolean {
  return unbracketed(a).toLowerCase() === unbracketed(b).toLowerCase();
}
