// Lists the ways to query a server: ports, addresses and protocols.

import { MAX_PORT } from '../addresses/hosts.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { QueryAddress } from './query-address.ts';
import type { Way } from './query-model.ts';
import { QUERY_TYPES } from './query-types.ts';

/**
 * At most 4 ports of a server are queried, of at most 16 candidates: the first ones may belong to
 * other servers.
 */
const [MAX_PORTS, MAX_CANDIDATES] = [4, 16];

/** The ports of TeamSpeak's query interfaces, which all servers of a host share. */
const CONTROL_PORTS: Readonly<Record<string, number>> = { teamspeak2: 51_234, teamspeak3: 10_011 };

/**
 * The ways to query a server, in the order in which they are tried: the port in one of the server's
 * variables, the players' port, the ports derived from that, and the server's other ports. The port
 * of another server is never queried.
 */
export function listWays(
  type: string,
  ips: readonly string[],
  { host: hostname, port: own, isQueryPort }: QueryAddress,
  { namedPort, otherPorts = [] }: Pick<ServerTarget, 'namedPort' | 'otherPorts'>,
  isTaken: (port: number) => boolean,
): readonly Way[] {
  const { protocols = [], usualPort, fixedPort = own, offsets = [] } = QUERY_TYPES.get(type) ?? {};
  const control = CONTROL_PORTS[type];
  const derived = [...offsets.map((offset) => own + offset), own === usualPort ? fixedPort : own];
  const candidates = [(isQueryPort ? undefined : namedPort) ?? control ?? own];
  if (control === undefined && !isQueryPort) candidates.push(own, ...derived, ...otherPorts);
  const free: number[] = [];
  for (const port of [...new Set(candidates)].slice(0, MAX_CANDIDATES)) {
    if (free.length === MAX_PORTS) break;
    if (port >= 1 && port <= MAX_PORT && (isQueryPort || !isTaken(port))) free.push(port);
  }
  return free.flatMap((queryPort) => {
    const port = control === undefined ? queryPort : own;
    return ips.flatMap((ip) => protocols.map((protocol) => ({ protocol, ip, port, queryPort, hostname })));
  });
}
