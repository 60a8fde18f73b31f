import { isIP } from 'node:net';
import { parseEndpoint } from '../domain/endpoint.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';

type ServerAtAddress = Pick<ServerTarget, 'panel' | 'uuid' | 'node' | 'address' | 'allocation'>;

/** Instead of an owner's UUID: several servers have the port. */
const SEVERAL = 'several';

/**
 * A function that tells whether a panel's server list gives a port of a server's address, which may be of another panel, to another
 * server. Servers of a node have the same address unless both are listed with IP addresses, since a name doesn't tell.
 */
export function listedPorts(panel: string, servers: Iterable<ListedServer>) {
  // By place and port: looking one up takes no longer if many servers have it.
  const ownersAt = new Map<string, Map<number, string>>();
  for (const server of servers) {
    const { uuid, node, otherPorts = [] } = server;
    const { host, port = [] } = endpointOf(server);
    const places = [`host ${host}`, `${panel}'s node ${node}`];
    if (isIP(host) === 0) places.push(`names on ${panel}'s node ${node}`);
    for (const place of places) {
      const owners = ownersAt.get(place) ?? new Map<number, string>();
      ownersAt.set(place, owners);
      for (const own of [port, otherPorts].flat())
        owners.set(own, (owners.get(own) ?? uuid) === uuid ? uuid : SEVERAL);
    }
  }
  return (server: ServerAtAddress, port: number): boolean => {
    const { host, port: own } = endpointOf(server);
    const node = `${server.panel}'s node ${server.node}`;
    const onNode = isIP(host) === 0 ? node : `names on ${node}`;
    const owners = [`host ${host}`, onNode].map((place) => ownersAt.get(place)?.get(port) ?? server.uuid);
    return port !== own && owners.some((owner) => owner !== server.uuid);
  };
}

function endpointOf({ address, allocation = address }: Pick<ServerAtAddress, 'address' | 'allocation'>) {
  const { host = '', port } = (allocation === undefined ? undefined : parseEndpoint(allocation)) ?? {};
  return { host, port };
}
