import { isIP } from 'node:net';
import { parseEndpoint } from '../domain/endpoint.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ListedServer } from '../panel/dialect.ts';

interface ListedPort {
  readonly uuid: string;
  readonly host: string;
  readonly port: number;
}

type Server = Pick<ServerTarget, 'uuid' | 'node' | 'address' | 'allocation'>;

/** The ports that a listing gives to servers, as far as it shows: those of their default allocations. */
export class ListedPorts {
  readonly #byHost = new Map<string, ListedPort[]>();
  readonly #byNode = new Map<string, ListedPort[]>();

  constructor(servers: Iterable<ListedServer>) {
    for (const server of servers) {
      const { host, port } = endpointOf(server);
      if (port === undefined) continue;
      const listed = { uuid: server.uuid, host, port };
      add(this.#byHost, host, listed);
      add(this.#byNode, server.node ?? '', listed);
    }
  }

  /**
   * The ports of other servers at this server's address. Servers of a node have the same address unless both are listed with IP
   * addresses, since a name doesn't tell.
   */
  ofOthers(server: Server): readonly number[] {
    const { host, port: own } = endpointOf(server);
    const onNode = this.#byNode.get(server.node ?? '') ?? [];
    const here = [
      ...(this.#byHost.get(host) ?? []),
      ...onNode.filter((listed) => isIP(host) === 0 || isIP(listed.host) === 0),
    ];
    const others = here.filter(({ uuid, port }) => uuid !== server.uuid && port !== own);
    return [...new Set(others.map(({ port }) => port))];
  }
}

function endpointOf({ address, allocation = address }: Server): { host: string; port: number | undefined } {
  const { host = '', port } = (allocation === undefined ? undefined : parseEndpoint(allocation)) ?? {};
  return { host, port };
}

function add(index: Map<string, ListedPort[]>, key: string, listed: ListedPort): void {
  const others = index.get(key);
  if (others === undefined) index.set(key, [listed]);
  else others.push(listed);
}
