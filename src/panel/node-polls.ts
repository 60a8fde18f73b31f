/** The polls of a node's servers, which share lists of resources if the panel has them. */
import { type Clock, NEVER } from '../domain/clock.ts';
import { untilAborted } from '../domain/waits.ts';
import type { ServerAddress } from './requests.ts';
import type { Resources } from './responses.ts';

/**
 * With fewer servers, each is polled individually, because a list is longer and saves hardly any
 * calls.
 */
const MIN_SERVERS = 3;

/** A server that was polled this recently counts as polled. */
const POLLED_MS = 60_000;

/** How long a list is used: panels cache a node's data, so a new list would contain the same. */
export const LIST_MS = 10_000;

/** After a failed list, the node's servers are polled individually for this long. */
const AFTER_FAILURE_MS = 300_000;

/** A list of a node's resources by UUID, and when it was requested. */
export interface ListOfNode {
  readonly requestedAt: number;
  readonly resources: ReadonlyMap<string, Resources>;
}

/** One poll of a server. */
export interface Poll {
  readonly server: ServerAddress;
  /**
   * A list that was requested before this instant is older than the known data about the server.
   */
  readonly usefulFrom: number;
  readonly signal: AbortSignal;
  /** Requests the resources of only this server. */
  readonly alone: () => Promise<Resources>;
  /** Requests the list of its node. */
  readonly list: () => Promise<ListOfNode>;
}

/** How a request for a list ended. It is withdrawn with the poll for which it was made. */
type End = 'listed' | 'failed' | 'withdrawn';

/** When the last list of a node was requested, and when it arrived. */
interface ListTimes {
  requestedAt: number;
  arrivedAt: number;
}

interface Node extends ListTimes {
  /** When servers were polled within the last minute, earliest first. */
  readonly polledAt: Map<string, number>;
  /** The entries of the last list that no server has used yet. */
  readonly unused: Map<string, Resources>;
  underWay: Promise<End> | undefined;
  failedAt: number;
}

/** The polls of servers on all of a panel's nodes. */
export class NodePolls {
  readonly #clock: Clock;
  readonly #used: (server: string, list: Readonly<ListTimes>) => void;
  readonly #nodes = new Map<string, Node>();

  /**
   * `used` is called with each server that gets its resources from a list, unless the list's node
   * was forgotten in the meantime.
   */
  constructor(clock: Clock, used: (server: string, list: Readonly<ListTimes>) => void) {
    this.#clock = clock;
    this.#used = used;
  }

  /**
   * A server's resources, from a list if several servers of its node are polled. If the list lacks
   * the server, or there is none, it gets its own request. Rejects with that request's error, or
   * with the signal's reason.
   */
  async poll({ server, usefulFrom, signal, alone, list }: Poll): Promise<Resources> {
    const { id, uuid, nodeId } = server;
    if (uuid === undefined || nodeId === undefined) return alone();
    const node = this.#node(nodeId);
    this.#notePoll(node, id);
    for (;;) {
      const listed = this.#take(node, server, usefulFrom);
      if (listed !== undefined) return listed;
      const isHeld = this.#clock.now() < node.failedAt + AFTER_FAILURE_MS;
      if (isHeld || node.polledAt.size < MIN_SERVERS) return alone();
      node.underWay ??= this.#request(node, list, signal);
      const end = await untilAborted(node.underWay, signal);
      if (end !== 'withdrawn') return this.#take(node, server, usefulFrom) ?? alone();
    }
  }

  /** Forgets all other nodes. */
  keepNodes(nodeIds: ReadonlySet<string | undefined>): void {
    for (const nodeId of this.#nodes.keys()) if (!nodeIds.has(nodeId)) this.#nodes.delete(nodeId);
  }

  #node(nodeId: string): Node {
    const known = this.#nodes.get(nodeId);
    if (known !== undefined) return known;
    const node: Node = {
      polledAt: new Map(),
      requestedAt: NEVER,
      arrivedAt: NEVER,
      unused: new Map(),
      underWay: undefined,
      failedAt: NEVER,
    };
    this.#nodes.set(nodeId, node);
    return node;
  }

  #notePoll({ polledAt }: Node, server: string): void {
    const now = this.#clock.now();
    polledAt.delete(server);
    polledAt.set(server, now);
    for (const [other, at] of polledAt) {
      if (at + POLLED_MS > now) break;
      polledAt.delete(other);
    }
  }

  /** A server uses a list once, because a second poll would only get the same sample. */
  #take(node: Node, server: ServerAddress, usefulFrom: number): Resources | undefined {
    const { id, uuid = '', nodeId = '' } = server;
    const { requestedAt, arrivedAt, unused } = node;
    if (requestedAt < usefulFrom || requestedAt + LIST_MS <= this.#clock.now()) return undefined;
    const resources = unused.get(uuid);
    if (resources === undefined) return undefined;
    unused.delete(uuid);
    if (this.#nodes.get(nodeId) === node) this.#used(id, { requestedAt, arrivedAt });
    return { ...resources, requestedAt };
  }

  async #request(node: Node, list: Poll['list'], signal: AbortSignal): Promise<End> {
    try {
      const { requestedAt, resources } = await list();
      node.requestedAt = requestedAt;
      node.arrivedAt = this.#clock.now();
      node.unused.clear();
      for (const [uuid, one] of resources) node.unused.set(uuid, one);
      return 'listed';
    } catch {
      if (signal.aborted) return 'withdrawn';
      // A failed list is no evidence about a server. The servers' own requests reveal the cause.
      node.failedAt = this.#clock.now();
      return 'failed';
    } finally {
      node.underWay = undefined;
    }
  }
}
