import type { Queue, QueueAddOptions } from 'p-queue';
import type { Clock } from '../domain/clock.ts';
import {
  began,
  type CallKind,
  DEFAULT_SHARES,
  laneOf,
  NO_TURNS,
  nextKind,
  type Shares,
  served,
} from './fair-share.ts';
import type { NodeTrust } from './node-answers.ts';

/** One call in the queue. */
export interface QueuedCall {
  readonly kind: CallKind;
  readonly server: string | undefined;
  /** Changes if the server is cleared of suspicion while the call waits. */
  trust: NodeTrust;
  /** Calls with a higher value go before others of their kind; 0 for most. */
  readonly precedence: number;
}

type Run = () => Promise<unknown>;

interface WaitingCall {
  readonly call: QueuedCall;
  readonly id: string;
  readonly order: number;
  readonly run: Run;
}

/** The most calls in flight, not counting scouts. */
const CONCURRENCY = 8;

/**
 * Polls that may run beyond the seats while the polls in the seats are late: they distinguish a stalled panel from dead nodes.
 */
const SCOUTS = 2;

/** The most calls that p-queue may have in flight. */
export const MAX_IN_FLIGHT = CONCURRENCY + SCOUTS;

/**
 * A dead node makes a poll hang for 20 s, and a long listing takes time: each kind of slow call has its own seats, and together
 * they leave one to tokens.
 */
const SEATS = { poll: 4, newPoll: 3, suspectPoll: 1, listing: 1, backups: 1 } as const;

/** The share of the rate that polls of suspects may take while they fail, if there are many suspects. */
const SUSPECT_SHARE = 0.02;

/** The calls that wait for a turn, and the choice of the next one, in the form that p-queue needs. */
export class CallQueue {
  readonly #perMinute: () => number;
  readonly #areManySuspects: () => boolean;
  readonly #latePolls: () => number;
  /** In order of arrival, repeated calls first. */
  readonly #waiting = new Map<CallKind, Map<string, WaitingCall>>();
  /** Polls of servers whose nodes failed to answer; they share a seat. */
  readonly #suspects = new Map<string, WaitingCall>();
  readonly #keys = new Set<string>();
  readonly #inFlight = new Map<CallKind, number>();
  #newPolls = 0;
  #suspectPolls = 0;
  #total = 0;
  #suspectDueAt = Number.NEGATIVE_INFINITY;
  #shares: Shares = DEFAULT_SHARES;
  #turns = NO_TURNS;
  #order = 0;

  /** `perMinute` is the rate that all calls share. */
  constructor(perMinute: () => number, areManySuspects: () => boolean, latePolls: () => number) {
    this.#perMinute = perMinute;
    this.#areManySuspects = areManySuspects;
    this.#latePolls = latePolls;
  }

  get size(): number {
    let size = this.#suspects.size;
    for (const line of this.#waiting.values()) size += line.size;
    return size;
  }

  setShares(shares: Shares): void {
    this.#shares = shares;
  }

  /** Is a call of this kind waiting for this server? */
  has(kind: CallKind, server: string): boolean {
    return this.#keys.has(keyOf(kind, server));
  }

  add(id: string, run: Run, call: QueuedCall, now: number): void {
    const line = this.#lineOf(call);
    const lane = laneOf(call.kind);
    if (line.size === 0 && lane !== undefined && !this.#isLaneWaiting(lane)) {
      this.#turns = began(this.#turns, lane, now);
    }
    const entry: WaitingCall = { call, id, run, order: this.#order++ };
    if (call.precedence > 0) putAhead(line, entry);
    else line.set(id, entry);
    if (call.server !== undefined) this.#keys.add(keyOf(call.kind, call.server));
  }

  remove(id: string): void {
    for (const line of [...this.#waiting.values(), this.#suspects]) {
      const entry = line.get(id);
      if (entry === undefined) continue;
      line.delete(id);
      this.#forget(entry.call);
    }
  }

  /** The next call, if one may start now. */
  next(now: number): QueuedCall | undefined {
    return this.#next(now)?.call;
  }

  /** Takes the next call out of the queue; it keeps its seat until `left`. */
  take(now: number): Run | undefined {
    const entry = this.#next(now);
    if (entry === undefined) return undefined;
    const { call, id, run } = entry;
    const { kind, trust } = call;
    this.#lineOf(call).delete(id);
    this.#forget(call);
    const lane = laneOf(kind);
    if (lane !== undefined) {
      const perMinute = Math.max(this.#shares[lane] * this.#perMinute(), Number.MIN_VALUE);
      this.#turns = served(this.#turns, lane, perMinute, now);
    }
    if (kind === 'poll' && trust === 'suspect' && this.#areManySuspects()) {
      this.#suspectDueAt = now + 60_000 / (this.#perMinute() * SUSPECT_SHARE);
    }
    this.#count(call, 1);
    return run;
  }

  /** A call that was taken has ended. */
  left(call: QueuedCall): void {
    this.#count(call, -1);
  }

  /** Moves a waiting poll of the server from the suspects to the others. */
  clearSuspicion(server: string): void {
    for (const [id, entry] of this.#suspects) {
      if (entry.call.server !== server) continue;
      this.#suspects.delete(id);
      entry.call.trust = 'new';
      this.#lineOf(entry.call).set(id, entry);
    }
  }

  /** A node answered, so others may have recovered with it. */
  nodeAnswered(): void {
    this.#suspectDueAt = Number.NEGATIVE_INFINITY;
  }

  /** Is a call waiting for a poll's seat? */
  get needsPollSeat(): boolean {
    if (this.#isFull) return this.size > 0;
    const head = this.#head('poll');
    return head !== undefined && !this.#hasSeat(head.call);
  }

  /** When a call that is held back may start, in monotonic milliseconds; infinite if that depends on the end of another call. */
  heldUntil(): number {
    if (this.#isFull) return Number.POSITIVE_INFINITY;
    const retryAt = this.#head('retry') === undefined ? Number.POSITIVE_INFINITY : this.#turns.retry;
    const isSuspectHeld = this.#suspects.size > 0 && this.#suspectPolls < SEATS.suspectPoll;
    return Math.min(retryAt, isSuspectHeld ? this.#suspectDueAt : Number.POSITIVE_INFINITY);
  }

  get #isFull(): boolean {
    return this.#total >= CONCURRENCY + this.#scouts;
  }

  get #scouts(): number {
    return Math.min(SCOUTS, this.#latePolls());
  }

  #next(now: number): WaitingCall | undefined {
    if (this.#isFull) return undefined;
    const heads = new Map<CallKind, WaitingCall>();
    for (const kind of this.#waiting.keys()) {
      const head = this.#head(kind);
      if (head !== undefined && this.#hasSeat(head.call)) heads.set(kind, head);
    }
    const suspect = this.#nextSuspect(now);
    if (suspect !== undefined) {
      const poll = heads.get('poll');
      if (poll === undefined || suspect.order < poll.order) heads.set('poll', suspect);
    }
    const kind = nextKind(this.#turns, [...heads.keys()], now);
    return kind && heads.get(kind);
  }

  #nextSuspect(now: number): WaitingCall | undefined {
    if (this.#suspectPolls >= SEATS.suspectPoll || this.#suspectDueAt > now) return undefined;
    const [suspect] = this.#suspects.values();
    return suspect;
  }

  /** The first call of a kind, by arrival; for polls, the first that has a seat, if any has. */
  #head(kind: CallKind): WaitingCall | undefined {
    const line = this.#waiting.get(kind);
    if (line === undefined) return undefined;
    const [first] = line.values();
    if (kind !== 'poll' || first === undefined || this.#hasSeat(first.call)) return first;
    if (first.call.trust !== 'new') return first;
    for (const entry of line.values()) if (entry.call.trust === 'proven') return entry;
    return first;
  }

  #hasSeat({ kind, trust }: QueuedCall): boolean {
    switch (kind) {
      case 'poll':
        if (this.#inFlightOf('poll') - this.#suspectPolls >= SEATS.poll + this.#scouts) return false;
        return trust !== 'new' || this.#newPolls < SEATS.newPoll + this.#scouts;
      case 'listing':
      case 'firstListing':
        return this.#inFlightOf('listing') + this.#inFlightOf('firstListing') < SEATS.listing;
      case 'backups':
        return this.#inFlightOf('backups') < SEATS.backups;
      default:
        return true;
    }
  }

  #lineOf({ kind, trust }: QueuedCall): Map<string, WaitingCall> {
    if (kind === 'poll' && trust === 'suspect') return this.#suspects;
    let line = this.#waiting.get(kind);
    if (line === undefined) {
      line = new Map();
      this.#waiting.set(kind, line);
    }
    return line;
  }

  #isLaneWaiting(lane: string): boolean {
    if (lane === 'poll' && this.#suspects.size > 0) return true;
    for (const [kind, line] of this.#waiting) if (line.size > 0 && laneOf(kind) === lane) return true;
    return false;
  }

  #inFlightOf(kind: CallKind): number {
    return this.#inFlight.get(kind) ?? 0;
  }

  #count({ kind, trust }: QueuedCall, change: 1 | -1): void {
    this.#total += change;
    this.#inFlight.set(kind, this.#inFlightOf(kind) + change);
    if (kind !== 'poll') return;
    if (trust === 'new') this.#newPolls += change;
    if (trust === 'suspect') this.#suspectPolls += change;
  }

  #forget({ kind, server }: QueuedCall): void {
    if (server !== undefined) this.#keys.delete(keyOf(kind, server));
  }
}

/** Puts a call ahead of those with lower precedence. */
function putAhead(line: Map<string, WaitingCall>, entry: WaitingCall): void {
  const { precedence } = entry.call;
  const behind = [...line.values()].filter(({ call }) => call.precedence < precedence);
  for (const { id } of behind) line.delete(id);
  line.set(entry.id, entry);
  for (const other of behind) line.set(other.id, other);
}

const keyOf = (kind: CallKind, server: string) => `${kind} ${server}`;

/** What p-queue passes along with a call. */
export interface PacedOptions extends QueueAddOptions {
  readonly queued?: QueuedCall;
}

export type PacedQueue = Queue<Run, PacedOptions>;

/** The queue from which p-queue takes its calls; the budget makes the choice. */
export function queueOver(calls: CallQueue, clock: Clock): new () => PacedQueue {
  return class {
    get size(): number {
      return calls.size;
    }

    enqueue(run: Run, { id, queued }: Partial<PacedOptions> = {}): void {
      if (id !== undefined && queued !== undefined) calls.add(id, run, queued, clock.now());
    }

    dequeue(): Run | undefined {
      return calls.take(clock.now());
    }

    remove(id: string): void {
      calls.remove(id);
    }

    filter(): Run[] {
      return [];
    }

    setPriority(): void {}
  };
}
