// Decides to which addresses a panel may direct a socket.

import { CodedError, OWN_CODES } from '../diagnosis/transport-errors.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import { printable } from '../text/printable.ts';
import { unbracketed } from './hosts.ts';
import type { ResolveName } from './name-lookups.ts';
import { isLocalHost, isMetadataAddress } from './ranges.ts';

/** The addresses to which a panel may direct a socket. */
export interface SocketPolicy {
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
    const detail = `expected a wss:// socket address from the panel, got "${printable(address)}"`;
    return { cause: 'socket_address', detail };
  }
  const shown = `socket address "${printable(`${url.protocol}//${url.host}`)}"`;
  const problem = (cause: CauseCode, reason: string): Problem => ({ cause, detail: `${shown}: ${reason}` });
  if (url.protocol !== 'wss:' && url.protocol !== 'ws:')
    return problem('socket_address', 'expected the scheme wss');
  if (url.username !== '' || url.password !== '')
    return problem('socket_address', 'user info is not allowed');
  if (url.hash !== '') return problem('socket_address', 'a fragment is not allowed');
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
  problem: (cause: CauseCode, reason: string) => Problem,
): Problem | undefined {
  if (policy.socketHosts !== undefined) {
    const allowed = policy.socketHosts.some((name) => sameHost(name, host));
    return allowed ? undefined : problem('socket_address_not_allowed', 'the host is not in `socket_hosts`');
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

/**
 * Resolves the names of a panel's nodes, and rejects forbidden addresses: `node.example.com` of a
 * hostile panel could resolve to 169.254.169.254. Names in `socket_hosts` may have any address, and
 * nodes of a panel on this machine may have local ones.
 */
export function guardedNames(
  { panelUrl, socketHosts }: Pick<SocketPolicy, 'panelUrl' | 'socketHosts'>,
  resolve: ResolveName,
): ResolveName {
  if (socketHosts !== undefined) return resolve;
  const isPanelLocal = isLocalHost(new URL(panelUrl).hostname);
  const isRefused = (address: string) =>
    isMetadataAddress(address) || (!isPanelLocal && isLocalHost(address));
  return async (name, signal) => {
    const addresses = await resolve(name, signal);
    const refused = addresses.find(({ address }) => isRefused(address));
    if (refused === undefined && addresses.length > 0) return addresses;
    const reached = refused?.address ?? 'no address';
    throw new CodedError(OWN_CODES.address, `"${name}" resolves to ${reached}`);
  };
}

function sameHost(a: string, b: string): boolean {
  return unbracketed(a).toLowerCase() === unbracketed(b).toLowerCase();
}
