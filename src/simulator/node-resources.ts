// The resources of a node's servers, which a simulated Calagopus panel caches.

import { type ApiHost, hasAccess } from './api-host.ts';
import { nodeUuid } from './calagopus-documents.ts';
import { resourceUsage } from './frames.ts';
import { json, type SimulatedAnswer, textsRefusal } from './simulated-responses.ts';
import { currentUsage, type SimulatedServer } from './simulated-server.ts';

/** How long the panel caches the resources of a node's servers. */
const CACHE_MS = 15_000;

export class NodeResources {
  readonly #host: ApiHost;
  readonly #cached = new Map<string, { readonly at: number; readonly usages: ReadonlyMap<string, object> }>();

  constructor(host: ApiHost) {
    this.#host = host;
  }

  /** The resources of the node's servers that the account can access. */
  ofNode(nodeId: string): SimulatedAnswer {
    const usages = this.#usages(nodeId);
    if (usages === undefined) return textsRefusal(500, 'internal server error');
    const isSeen = (uuid: string) => {
      const server = this.#host.fleet.findById(uuid);
      return server !== undefined && hasAccess(this.#host, server);
    };
    return json(200, { resources: Object.fromEntries([...usages].filter(([uuid]) => isSeen(uuid))) });
  }

  of(server: SimulatedServer): SimulatedAnswer {
    const usages = this.#usages(nodeUuid(server));
    if (usages === undefined) return textsRefusal(500, 'internal server error');
    const usage = usages.get(server.uuid);
    return usage === undefined
      ? textsRefusal(404, 'no resource usage data found for server')
      : json(200, { resources: usage });
  }

  /** Undefined if the node is unreachable. */
  #usages(nodeId: string): ReadonlyMap<string, object> | undefined {
    const { clock, fleet } = this.#host;
    const cached = this.#cached.get(nodeId);
    if (cached !== undefined && clock.now() - cached.at < CACHE_MS) return cached.usages;
    const servers = fleet.all.filter((server) => nodeUuid(server) === nodeId);
    if (servers.some(({ nodeDown }) => nodeDown)) return undefined;
    const usages = new Map(
      servers.map((server) => [server.uuid, resourceUsage(server.game.state, currentUsage(server))]),
    );
    this.#cached.set(nodeId, { at: clock.now(), usages });
    return usages;
  }
}
