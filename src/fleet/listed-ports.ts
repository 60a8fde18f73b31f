import { isIP } from 'node:net';
import { parseEndpoint } from '../domain/endpoint.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';

type ServerAtAddress = Pick<ServerTarget, 'uuid' | 'node' | 'address' | 'allocation'>;

interface PortOwner extends Pick<ServerAtAddress, 'uuid' | 'node'> {
  readonly host: string;
}

/** The ports that a server list gives to servers, as far as it shows. */
export class ListedPorts {
  readonly #owners = new Map<number, PortOwner[]>();

  constructor(servers: Iterable<ListedServer>) {
    for (const server of servers) {
      const { owner, port } = endpointOf(server);
      const ports = new Set([...(port === undefined ? [] : [port]), ...(server.otherPorts ?? [])]);
      for (const own of ports) {
        const owners = this.#owners.get(own);
        if (owners === undefined) this.#owners.set(own, [owner]);
        else owners.push(owner);
      }
    }
  }

  /**
   * Does another server have this port of this server's address? Servers of a node have the same address unless both are listed with
   * IP addresses, since a name doesn't tell.
   */
  isTaken(server: ServerAtAddress, port: number): boolean {
    const { owner, port: own } = endpointOf(server);
    const isHere = ({ host, node }: PortOwner) =>
      host === owner.host || (node === owner.node && (isIP(host) === 0 || isIP(owner.host) === 0));
    const others = this.#owners.get(port)?.filter(({ uuid }) => uuid !== owner.uuid);
    return port !== own && others?.some(isHere) === true;
  }
}

function endpointOf({ uuid, node, address, allocation = address }: ServerAtAddress): {
  readonly owner: PortOwner;
  readonly port: number | undefined;
} {
  const { host = '', port } = (allocation === undefined ? undefined : parseEndpoint(allocation)) ?? {};
  return { owner: { uuid, node, host }, port };
}
