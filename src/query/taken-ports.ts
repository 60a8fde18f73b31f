// Finds ports that belong to other servers, according to the server lists.

import { isIP } from 'node:net';
import { parseEndpoint } from '../addresses/hosts.ts';
import type { ServerTarget } from '../domain/server.ts';

/** The facts about a server's addresses in a panel's server list. */
export interface ListedAddress {
  readonly uuid: string;
  readonly node?: string | undefined;
  readonly address?: string | undefined;
  readonly allocation?: string | undefined;
  readonly otherPorts?: readonly number[] | undefined;
}

type ServerAtAddress = Pick<ServerTarget, 'panel' | 'uuid' | 'node' | 'address' | 'allocation'>;

/** Stands for the UUID of the owner if several servers have the port. */
const SEVERAL = 'several';

/** Does this port at the server's address belong to another server? */
type IsTaken = (server: ServerAtAddress, port: number) => boolean;

/**
 * Creates a check, from a panel's server list, of whether a port belongs to another server. The
 * server may be another panel's. Two servers of a node have the same address unless both are listed
 * with IP addresses, because a name may resolve to any of the node's.
 */
export function makeIsTaken(panel: string, servers: Iterable<ListedAddress>): IsTaken {
  // The owners by place and port, so that a lookup takes the same time however many servers have
  // the port.
  const ownersAt = new Map<string, string>();
  for (const server of servers) {
    const { uuid, node, otherPorts = [] } = server;
    const { host, port = [] } = serverEndpoint(server);
    const places = [`host ${host}`, `${panel}'s node ${node}`];
    if (isIP(host) === 0) places.push(`names on ${panel}'s node ${node}`);
    for (const at of places.flatMap((place) => [port, otherPorts].flat().map((own) => `${place}:${own}`)))
      ownersAt.set(at, (ownersAt.get(at) ?? uuid) === uuid ? uuid : SEVERAL);
  }
  return (server, port) => {
    const { host, port: own } = serverEndpoint(server);
    const node = `${server.panel}'s node ${server.node}`;
    const onNode = isIP(host) === 0 ? node : `names on ${node}`;
    const owners = [`host ${host}`, onNode].map((place) => ownersAt.get(`${place}:${port}`) ?? server.uuid);
    return port !== own && owners.some((owner) => owner !== server.uuid);
  };
}

function serverEndpoint({ address, allocation = address }: Pick<ServerAtAddress, 'address' | 'allocation'>) {
  const { host = '', port } = (allocation === undefined ? undefined : parseEndpoint(allocation)) ?? {};
  return { host, port };
}

/** The same check with the latest server list, which is a new array after each change. */
export function makeIsTakenNow(panel: string, listed: () => readonly ListedAddress[]): IsTaken {
  let servers: readonly ListedAddress[] = [];
  let isTaken = makeIsTaken(panel, servers);
  return (server, port) => {
    const latest = listed();
    if (latest !== servers) isTaken = makeIsTaken(panel, latest);
    servers = latest;
    return isTaken(server, port);
  };
}
