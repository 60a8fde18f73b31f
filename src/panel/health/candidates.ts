/** Which server tries a path or a node next, kept in order as outcomes arrive. */
import { isBlockedAlone } from '../../diagnosis/outcome.ts';
import { Ranking } from '../ranking.ts';
import type { Outcome } from './outcome.ts';

/** Ranks of servers that haven't failed; others rank by when they did, least recently first. */
const STREAMS = -2;
const NEVER_FAILED = -1;

/** A server that may be chosen; equals are in random order. */
interface Candidate {
  readonly server: string;
  pool: Pool;
  readonly streams: boolean;
  isBlocked: boolean;
  hasProblem: boolean;
  rank: number;
  readonly lot: number;
}

/** The candidates of one node, or of servers without a known node. */
class Pool {
  open = new Ranking<Candidate>();
  /** Refused for a reason of their own: tried only while it isn't known whether the panel works. */
  blocked = new Ranking<Candidate>();
  readonly node: string | undefined;
  readonly lot: number;
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

  empty(): void {
    this.open = new Ranking();
    this.blocked = new Ranking();
    this.problems = 0;
  }
}

/** The servers of one channel, in the order in which they are to try it. */
export class Candidates {
  readonly #random: () => number;
  readonly #servers = new Map<string, Candidate>();
  readonly #pools = new Map<string | undefined, Pool>();
  /** Pools none of whose servers failed and one of which streams. */
  readonly #well = new Ranking<Pool>();
  readonly #all = new Ranking<Pool>();

  /** `random` is uniform in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** The server's node, its last outcome on the channel, and whether its socket streams. */
  set(server: string, node: string | undefined, last: Outcome | undefined, streams: boolean): void {
    const problem = last?.problem;
    const isBlocked = problem !== undefined && isBlockedAlone(problem);
    const rank = problem === undefined || last === undefined ? rankOfWorking(streams) : last.at;
    const before = this.#takeOut(server);
    const pool = this.#pool(node);
    const candidate = {
      server,
      pool,
      streams,
      isBlocked,
      hasProblem: problem !== undefined,
      rank,
      lot: this.#random(),
    };
    this.#servers.set(server, candidate);
    (isBlocked ? pool.blocked : pool.open).put(candidate, rank, candidate.lot);
    if (candidate.hasProblem) pool.problems += 1;
    this.#poolChanged(pool);
    if (before !== undefined && before !== pool) this.#poolChanged(before);
  }

  delete(server: string): void {
    const pool = this.#takeOut(server);
    if (pool !== undefined) this.#poolChanged(pool);
  }

  /** Nobody has failed. */
  forget(): void {
    for (const pool of this.#pools.values()) pool.empty();
    for (const candidate of this.#servers.values()) {
      candidate.isBlocked = false;
      candidate.hasProblem = false;
      candidate.rank = rankOfWorking(candidate.streams);
      candidate.pool.open.put(candidate, candidate.rank, candidate.lot);
    }
    for (const pool of this.#pools.values()) this.#poolChanged(pool);
  }

  get size(): number {
    return this.#servers.size;
  }

  /**
   * Of this node's servers: one that streams, otherwise one that never failed, otherwise the one
   * whose failure is oldest.
   */
  *ofNode(node: string): Generator<string, void, undefined> {
    for (const { server } of this.#pools.get(node)?.open.inOrder() ?? []) yield server;
  }

  /**
   * Of all nodes: first streaming servers, of nodes without failures. With `evenBlocked`, servers
   * that are refused for a reason of their own are added at the end: until the panel is proved to
   * work, that reason may be the panel's.
   */
  *ofAll(evenBlocked = false): Generator<string, void, undefined> {
    for (const { open } of this.#well.inOrder())
      for (const { server, rank } of open.inOrder()) {
        if (rank !== STREAMS) break;
        yield server;
      }
    for (const { open } of this.#all.inOrder()) {
      // The other nodes have only blocked servers.
      if (open.size === 0) break;
      for (const { server } of open.inOrder()) yield server;
    }
    if (evenBlocked)
      for (const { blocked } of this.#all.inOrder()) for (const { server } of blocked.inOrder()) yield server;
  }

  /** All of this node, in no particular order. */
  serversOf(node: string): readonly string[] {
    const pool = this.#pools.get(node);
    return pool === undefined ? [] : [...pool.open.items, ...pool.blocked.items].map(({ server }) => server);
  }

  #takeOut(server: string): Pool | undefined {
    const candidate = this.#servers.get(server);
    if (candidate === undefined) return undefined;
    const { pool, isBlocked, hasProblem } = candidate;
    this.#servers.delete(server);
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
    if (pool.isWell) this.#well.put(pool, pool.lot);
    else this.#well.delete(pool);
    if (!pool.isEmpty) this.#all.put(pool, rankOf(pool), pool.lot);
    else {
      this.#all.delete(pool);
      this.#pools.delete(pool.node);
    }
  }
}

function rankOfWorking(streams: boolean): number {
  return streams ? STREAMS : NEVER_FAILED;
}

/** Servers that stream are no better than others here: their node has failures. */
function rankOf({ open }: Pool): number {
  return open.first === undefined ? Number.POSITIVE_INFINITY : Math.max(open.first.rank, NEVER_FAILED);
}
