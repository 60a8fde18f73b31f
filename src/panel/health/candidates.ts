/** Decides which server tries a path or a node next. */
import { isBlockedAlone } from '../../diagnosis/signs.ts';
import { Heap, type HeapItem } from '../heap.ts';
import type { Outcome } from './outcome.ts';

/**
 * Ranks of servers that haven't failed. The others rank by the time of their failure, oldest first.
 */
const STREAMS = -2;
const NEVER_FAILED = -1;

/** The number of different lots, which is so high that few are equal. */
const LOTS = 2 ** 30;

/** A server that may be chosen. Equal candidates are in random order. */
export class Candidate implements HeapItem {
  readonly server: string;
  pool: Pool | undefined;
  streams = false;
  isBlocked = false;
  hasFailed = false;
  lot = 0;
  place = -1;

  constructor(server: string) {
    this.server = server;
  }
}

const isDrawnBefore = (one: Candidate | Pool, other: Candidate | Pool) => one.lot < other.lot;

/** The candidates of one node, or all servers without a known node. */
class Pool implements HeapItem {
  readonly open = new Heap<Candidate>(isDrawnBefore);
  /** Servers that are blocked individually. They try only their node, and after the others. */
  readonly blocked = new Heap<Candidate>(isDrawnBefore);
  readonly node: string | undefined;
  readonly lot: number;
  /** The number of servers with a failure that the node may cause. */
  failing = 0;
  /** When a server of the node last failed, if any is failing. */
  failedAt = NEVER_FAILED;
  place = -1;

  constructor(node: string | undefined, lot: number) {
    this.node = node;
    this.lot = lot;
  }

  /**
   * Nodes rank like servers: first nodes without failures where a server streams, then others
   * without failures, then the one whose last failure is oldest. After a failure, another node
   * therefore tries the path before a second server of the same node.
   */
  get rank(): number {
    const { firstRank = Number.POSITIVE_INFINITY } = this.open;
    return this.failing === 0 ? firstRank : this.failedAt;
  }

  get isEmpty(): boolean {
    return this.open.size === 0 && this.blocked.size === 0;
  }
}

/** The servers of one channel, in the order in which they try it. */
export class Candidates {
  readonly #random: () => number;
  readonly #pools = new Map<string | undefined, Pool>();
  readonly #inOrder = new Heap<Pool>(isDrawnBefore);

  /** `random` is uniform in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * Updates the server's node, its last outcome on the channel, and whether its socket streams.
   * Returns its candidate, which is the `of` of the next call.
   */
  set(
    of: string | Candidate,
    node: string | undefined,
    last: Outcome | undefined,
    streams: boolean,
  ): Candidate {
    const candidate = typeof of === 'string' ? new Candidate(of) : of;
    const problem = last?.problem;
    candidate.streams = streams;
    const before = this.#takeOut(candidate);
    const pool = before !== undefined && before.node === node ? before : this.#pool(node);
    const failedAt = problem === undefined ? undefined : last?.at;
    // A failure that the path may cause doesn't count as the server's own.
    const isOwn = last?.signs.path !== 'fails';
    this.#putIn(candidate, pool, failedAt, isOwn && problem !== undefined && isBlockedAlone(problem));
    if (before !== undefined && before !== pool) this.#poolChanged(before);
    return candidate;
  }

  /** The server tries after the others from now on, although its failure may have another cause. */
  failed(candidate: Candidate, at: number): void {
    const pool = this.#takeOut(candidate);
    if (pool !== undefined) this.#putIn(candidate, pool, at, candidate.isBlocked);
  }

  delete(candidate: Candidate): void {
    const pool = this.#takeOut(candidate);
    if (pool !== undefined) this.#poolChanged(pool);
  }

  /**
   * The servers of this node: those that stream, then those that never failed, then those with the
   * oldest failure. Individually blocked servers are last: if all are, only they can show that the
   * node works again.
   */
  *ofNode(node: string): Generator<string, void, undefined> {
    const pool = this.#pools.get(node);
    for (const { server } of pool?.open.inOrder() ?? []) yield server;
    for (const { server } of pool?.blocked.inOrder() ?? []) yield server;
  }

  /**
   * Servers of all nodes, one node after the other, without those that are blocked individually.
   */
  *ofAll(): Generator<string, void, undefined> {
    for (const pool of this.#inOrder.inOrder()) {
      // The other nodes have only blocked servers.
      if (pool.open.size === 0) break;
      for (const { server } of pool.open.inOrder()) yield server;
    }
  }

  /** All servers of this node, in no particular order. */
  serversOn(node: string): readonly string[] {
    const pool = this.#pools.get(node);
    return pool === undefined ? [] : [...pool.open.items, ...pool.blocked.items].map(({ server }) => server);
  }

  #takeOut(candidate: Candidate): Pool | undefined {
    const { pool, isBlocked, hasFailed } = candidate;
    if (pool === undefined) return undefined;
    candidate.pool = undefined;
    (isBlocked ? pool.blocked : pool.open).delete(candidate);
    if (hasFailed && !isBlocked) pool.failing -= 1;
    return pool;
  }

  #putIn(candidate: Candidate, pool: Pool, failedAt: number | undefined, isBlocked: boolean): void {
    const rank = failedAt ?? (candidate.streams ? STREAMS : NEVER_FAILED);
    candidate.pool = pool;
    candidate.isBlocked = isBlocked;
    candidate.hasFailed = failedAt !== undefined;
    candidate.lot = this.#draw();
    (isBlocked ? pool.blocked : pool.open).put(candidate, rank);
    if (failedAt !== undefined && !isBlocked) {
      pool.failedAt = pool.failing === 0 ? failedAt : Math.max(failedAt, pool.failedAt);
      pool.failing += 1;
    }
    this.#poolChanged(pool);
  }

  #pool(node: string | undefined): Pool {
    let pool = this.#pools.get(node);
    if (pool === undefined) this.#pools.set(node, (pool = new Pool(node, this.#draw())));
    return pool;
  }

  /** A small integer, because the engine would keep a fraction in a separate object. */
  #draw(): number {
    return Math.floor(this.#random() * LOTS);
  }

  #poolChanged(pool: Pool): void {
    if (!pool.isEmpty) this.#inOrder.put(pool, pool.rank);
    else {
      this.#inOrder.delete(pool);
      this.#pools.delete(pool.node);
    }
  }
}
