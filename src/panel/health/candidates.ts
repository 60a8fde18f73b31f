/** Which server tries a path or a node next, kept in order as outcomes arrive. */
import { isBlockedAlone } from '../../diagnosis/signs.ts';
import { Heap, type Placed, Seat } from '../heap.ts';
import type { Outcome } from './outcome.ts';

/** Ranks of servers that haven't failed; others rank by when they did, least recently first. */
const STREAMS = -2;
const NEVER_FAILED = -1;

/** A server that may be chosen; equals are in random order. */
export class Candidate implements Placed {
  readonly server: string;
  pool: Pool | undefined;
  streams = false;
  isBlocked = false;
  hasProblem = false;
  rank = NEVER_FAILED;
  lot = 0;
  place = -1;

  constructor(server: string) {
    this.server = server;
  }
}

const isDrawnBefore = (one: Candidate, other: Candidate) => one.lot < other.lot;
const isPoolBefore = (one: Seat<Pool>, other: Seat<Pool>) => one.item.lot < other.item.lot;

/** The candidates of one node, or of servers without a known node. */
class Pool {
  readonly open = new Heap<Candidate>(isDrawnBefore);
  /**
   * Servers refused for a reason of their own: tried only while it isn't known whether the panel
   * works.
   */
  readonly blocked = new Heap<Candidate>(isDrawnBefore);
  readonly node: string | undefined;
  readonly lot: number;
  readonly well = new Seat<Pool>(this);
  readonly all = new Seat<Pool>(this);
  problems = 0;

  constructor(node: string | undefined, lot: number) {
    this.node = node;
    this.lot = lot;
  }

  get isWell(): boolean {
    return this.problems === 0 && this.open.first?.rank === STREAMS;
  }

  get isEmpty(): boolean {
    return this.open.size + this.blocked.size === 0;
  }
}

/** The servers of one channel, in the order in which they are to try it. */
export class Candidates {
  readonly #random: () => number;
  readonly #pools = new Map<string | undefined, Pool>();
  /** Pools without a failure, in which a server streams. */
  readonly #well = new Heap<Seat<Pool>>(isPoolBefore);
  readonly #all = new Heap<Seat<Pool>>(isPoolBefore);

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
    const before = this.#takeOut(candidate);
    const pool = before !== undefined && before.node === node ? before : this.#pool(node);
    candidate.pool = pool;
    candidate.streams = streams;
    candidate.isBlocked = problem !== undefined && isBlockedAlone(problem);
    candidate.hasProblem = problem !== undefined;
    candidate.rank = problem === undefined || last === undefined ? rankOfWorking(streams) : last.at;
    candidate.lot = this.#random();
    (candidate.isBlocked ? pool.blocked : pool.open).put(candidate, candidate.rank);
    if (candidate.hasProblem) pool.problems += 1;
    this.#poolChanged(pool);
    if (before !== undefined && before !== pool) this.#poolChanged(before);
    return candidate;
  }

  delete(candidate: Candidate): void {
    const pool = this.#takeOut(candidate);
    if (pool !== undefined) this.#poolChanged(pool);
  }

  /**
   * Of this node's servers: one that streams, otherwise one that never failed, otherwise the one
   * whose failure is oldest. Servers that are refused for a reason of their own come last: if all
   * are, no other server can prove that the node works again.
   */
  *ofNode(node: string): Generator<string, void, undefined> {
    const pool = this.#pools.get(node);
    for (const { server } of pool?.open.inOrder() ?? []) yield server;
    for (const { server } of pool?.blocked.inOrder() ?? []) yield server;
  }

  /**
   * Servers of all nodes: first streaming ones, of nodes without failures. With `evenBlocked`,
   * servers that are refused for a reason of their own are added at the end: until the panel is
   * proved to work, that reason may be the panel's.
   */
  *ofAll(evenBlocked = false): Generator<string, void, undefined> {
    for (const { item: pool } of this.#well.inOrder())
      for (const { server, rank } of pool.open.inOrder()) {
        if (rank !== STREAMS) break;
        yield server;
      }
    for (const { item: pool } of this.#all.inOrder()) {
      // The other nodes have only blocked servers.
      if (pool.open.size === 0) break;
      for (const { server } of pool.open.inOrder()) yield server;
    }
    if (!evenBlocked) return;
    for (const { item: pool } of this.#all.inOrder())
      for (const { server } of pool.blocked.inOrder()) yield server;
  }

  /** All servers of this node, in no particular order. */
  serversOf(node: string): readonly string[] {
    const pool = this.#pools.get(node);
    return pool === undefined ? [] : [...pool.open.items, ...pool.blocked.items].map(({ server }) => server);
  }

  #takeOut(candidate: Candidate): Pool | undefined {
    const { pool, isBlocked, hasProblem } = candidate;
    if (pool === undefined) return undefined;
    candidate.pool = undefined;
    (isBlocked ? pool.blocked : pool.open).delete(candidate);
    if (hasProblem) pool.problems -= 1;
    return pool;
  }

  #pool(node: string | undefined): Pool {
    let pool = this.#pools.get(node);
    if (pool === undefined) this.#pools.set(node, (pool = new Pool(node, this.#random())));
    return pool;
  }

  #poolChanged(pool: Pool): void {
    if (pool.isWell) this.#well.put(pool.well, pool.lot);
    else this.#well.delete(pool.well);
    if (!pool.isEmpty) this.#all.put(pool.all, poolRank(pool));
    else {
      this.#all.delete(pool.all);
      this.#pools.delete(pool.node);
    }
  }
}

function rankOfWorking(streams: boolean): number {
  return streams ? STREAMS : NEVER_FAILED;
}

/** Servers that stream are no better than others here: their node has failures. */
function poolRank({ open }: Pool): number {
  return open.first === undefined ? Number.POSITIVE_INFINITY : Math.max(open.first.rank, NEVER_FAILED);
}
