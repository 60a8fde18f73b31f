import { isIP } from 'node:net';
import { parseEndpoint } from '../domain/endpoint.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';

type ServerAtAddress = Pick<ServerTarget, 'panel' | 'uuid' | 'node' | 'address' | 'allocation'>;

/** Instead of an owner's UUID: several servers have the port. */
const SEVERAL = 'several';

/** The ports that a panel's server list gives to servers, as far as it shows. */
export class ListedPorts {
  /** The UUIDs of the servers with a port, by place and port: looking one up takes no longer if many servers have it. */
  readonly #owners = new Map<string, Map<number, string>>();

  constructor(panel: string, servers: Iterable<ListedServer>) {
    for (const server of servers) {
      const { uuid, node, otherPorts = [] } = server;
      const { host, port } = endpointOf(server);
      const ownPorts = port === undefined ? otherPorts : [port, ...otherPorts];
      const places = [`host ${host}`, `${panel}'s node ${node}`];
      if (isIP(host) === 0) places.push(`names on ${panel}'s node ${node}`);
      for (const place of places) this.#add(place, ownPorts, uuid);
    }
  }

  /**
   * Does another server have this port of this server's address, which may be of another panel? Servers of a node have the same address
   * unless both are listed with IP addresses, since a name doesn't tell.
   */
  isTaken(server: ServerAtAddress, port: number): boolean {
    const { host, port: own } = endpointOf(server);
    if (port === own) return false;
    const node = `${server.panel}'s node ${server.node}`;
    const onNode = isIP(host) === 0 ? node : `names on ${node}`;
    return [`host ${host}`, onNode].some((place) => {
      const owner = this.#owners.get(place)?.get(port);
      return owner !== undefined && owner !== server.uuid;
    });
  }

  #add(place: string, ports: readonly number[], uuid: string): void {
    const owners = this.#owners.get(place) ?? new Map<number, string>();
    this.#owners.set(place, owners);
    for (const port of ports) {
      const before = owners.get(port) ?? uuid;
      owners.set(port, before === uuid ? uuid : SEVERAL);
    }
  }
}

function endpointOf({ address, allocation = address }: Pick<ServerAtAddress, 'address' | 'allocation'>) {
  const { host = '', port } = (allocation === undefined ? undefined : parseEndpoint(allocation)) ?? {};
  return { host, port };
}
