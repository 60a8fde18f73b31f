import type { Cancel, Clock } from '../domain/clock.ts';
import { Listeners } from '../domain/listeners.ts';
import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import {
  type Circuit,
  type CircuitEvent,
  CLOSED,
  DOUBTFUL,
  isDoubted,
  isTrialBy,
  problemOfCircuit,
  stepCircuit,
  TRIAL_GAPS_MS,
} from './circuit.ts';
import { WINDOW_MS } from './rate-limit.ts';

/** What has a circuit: the panel, one of its paths, the consoles of its account, and a node's sockets and polls. */
export type CircuitKey =
  | 'panel'
  | 'consoles'
  | `path ${ApiEndpoint}`
  | `sockets ${string}`
  | `polls ${string}`;

/** The panel's circuit is tried by canaries only. */
export const PANEL: CircuitKey = 'panel';
/** Whether the account is granted any console. */
export const CONSOLES: CircuitKey = 'consoles';
export const pathKey = (endpoint: ApiEndpoint): CircuitKey => `path ${endpoint}`;
export const socketsKey = (node: string): CircuitKey => `sockets ${node}`;
export const pollsKey = (node: string): CircuitKey => `polls ${node}`;

export const isPath = (key: CircuitKey) => key.startsWith('path ');
const isSockets = (key: CircuitKey) => key.startsWith('sockets ');

/** The node of a node's circuit; undefined for the others. */
export function nodeOfKey(key: CircuitKey): string | undefined {
  return /^(?:sockets|polls) (.*)$/s.exec(key)?.[1];
}

/** Only a person grants permissions, and each trial takes from people's own limit. */
export const CONSOLE_TRIAL_INTERVAL_MS = 5 * 60_000;

/** A connect takes nothing from the rate unless it needs another token, and a node is to be noticed within 30 s of its return. */
const SOCKET_TRIAL_GAPS_MS: readonly number[] = [15_000, 25_000];

/** Milliseconds between the starts of a circuit's trials; the last gap repeats. */
function trialGapsOf(key: CircuitKey): readonly number[] {
  if (key === CONSOLES) return [CONSOLE_TRIAL_INTERVAL_MS];
  return isSockets(key) ? SOCKET_TRIAL_GAPS_MS : TRIAL_GAPS_MS;
}

/** The most polls that are queued or in flight: they may hang, and leave the other places to calls that don't. */
const POLL_SEATS = 5;

/** The most of them for one node. */
const SEATS_PER_NODE = 4;

/** The most of them for nodes whose circuit isn't closed. */
const SEATS_IN_DOUBT = 3;

/** A poll that takes longer gives up its seat, and may finish without it. */
const SEATED_MS = 3_000;

/** The share of the rate that trials of all circuits may take together. */
const TRIAL_SHARE = 0.1;

/** What waits to start. */
export interface EntryRequest {
  /** The server, or whatever else a trial is about. */
  readonly subject: string;
  /** All of these must be closed, or admit a trial; the server's node may become known while it waits. */
  readonly circuits: () => readonly CircuitKey[];
  /** The earliest goes first; in monotonic milliseconds. */
  readonly deadline: number;
  /** The node of a poll, which needs a seat. */
  readonly seatOf?: (() => string) | undefined;
  /** It failed alone before, so it counts as a trial, whatever the state of its circuits is. */
  readonly isRetry?: (() => boolean) | undefined;
  /** Its own limit, if it has one, lets it start from this monotonic instant. */
  readonly readyAt?: (() => number) | undefined;
  /** It only connects to the node, so its trial takes nothing from the rate. */
  readonly isConnect?: boolean;
}

/** Something that may start. */
export interface Entry {
  readonly isTrial: boolean;
  /** It ended, or didn't start: gives back its seat, and its trials if it showed nothing; that of a socket goes on with its token. */
  readonly leave: (isWithdrawn: boolean) => void;
  /** Of a poll only. */
  readonly seat?: Seat | undefined;
}

/** What a poll occupies. */
interface Seat {
  /** The poll starts: from now on, it may keep its seat for a while. */
  readonly began: () => void;
  /** Gives it back; a second call does nothing. */
  readonly leave: () => void;
  /** Resolves when the poll has lost it. */
  readonly left: Promise<void>;
}

/** What changed: a circuit, between closed and not closed, or to another problem. */
type CircuitChange = readonly [key: CircuitKey, now: Circuit, before: Circuit];

interface Waiter extends EntryRequest {
  /** All that wait for the same may start at the same time, except for the trial's subject. */
  readonly group: string;
  readonly enter: (entry: Entry) => void;
  isWithdrawn: boolean;
}

/** What waits, by deadline; polls wait apart, because only they wait for seats. */
interface Line {
  waiting: Waiter[];
  /** The first instant at which something in it may start; infinite if it depends on something other than time. */
  nextAt: number;
  cancelTimer: Cancel;
}

const newLine = (): Line => ({
  waiting: [],
  nextAt: Number.POSITIVE_INFINITY,
  cancelTimer: () => undefined,
});

/** Decides what may start: holds a panel's circuits, the seats of its polls, and what waits for them, earliest deadline first. */
export class Gate {
  readonly #clock: Clock;
  readonly #allowedPerMinute: () => number;
  readonly #circuits = new Map<CircuitKey, Circuit>();
  readonly #changes = new Listeners<CircuitChange>();
  readonly #polls = newLine();
  readonly #others = newLine();
  /** Starts of trials within the last minute, oldest first. */
  #trials: readonly number[] = [];
  /** The node of each seated poll. */
  readonly #seats = new Set<{ readonly node: string }>();

  /** `allowedPerMinute` is the rate of all calls. */
  constructor(clock: Clock, allowedPerMinute: () => number) {
    this.#clock = clock;
    this.#allowedPerMinute = allowedPerMinute;
  }

  /** How many wait outside the queue. */
  get waiting(): number {
    const lines = [this.#polls, this.#others];
    return lines.flatMap(({ waiting }) => waiting).filter(({ isWithdrawn }) => !isWithdrawn).length;
  }

  circuit(key: CircuitKey): Circuit {
    return this.#circuits.get(key) ?? initial(key);
  }

  /** The problem of the circuit; undefined while it is closed or only in doubt. */
  problem(key: CircuitKey): Problem | undefined {
    return problemOfCircuit(this.circuit(key));
  }

  /** Steps a circuit. */
  note(key: CircuitKey, event: CircuitEvent): void {
    const before = this.circuit(key);
    const now = stepCircuit(before, event, trialGapsOf(key));
    if (now === before) return;
    this.#circuits.set(key, now);
    // A whole round of canaries failed before: what other calls showed meanwhile may be the panel's fault.
    const isBack = key === PANEL && now.failures < before.failures;
    if (isBack || now.state !== before.state || problemOfCircuit(now) !== problemOfCircuit(before))
      this.#changes.notify(key, now, before);
    // Nothing waits for a closed circuit.
    if (isDoubted(before)) this.#pumpAll();
  }

  /** Forgets what these circuits know. */
  reset(isMeant: (key: CircuitKey, circuit: Circuit) => boolean): void {
    for (const [key, before] of this.#circuits) {
      if (!isMeant(key, before)) continue;
      this.#circuits.delete(key);
      const now = initial(key);
      if (now.state !== before.state) this.#changes.notify(key, now, before);
    }
    this.#pumpAll();
  }

  /** Returns a function that unsubscribes. */
  onChange(listener: (...change: CircuitChange) => void): () => void {
    return this.#changes.add(listener);
  }

  /** Resolves when it may start; rejects with the signal's reason. */
  enter(request: EntryRequest, signal: AbortSignal): Promise<Entry> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const now = this.#clock.now();
      const startsAt = this.#startsAt(request, now);
      // Nothing that waits may start, so this overtakes nothing.
      if (startsAt <= now) {
        resolve(this.#admit(request, now));
        return;
      }
      const withdraw = () => {
        waiting.isWithdrawn = true;
        reject(signal.reason as Error);
      };
      const enter = (entry: Entry) => {
        signal.removeEventListener('abort', withdraw);
        resolve(entry);
      };
      const group = `${request.circuits().join()} ${String(request.isRetry?.())}`;
      const waiting: Waiter = { ...request, group, enter, isWithdrawn: false };
      signal.addEventListener('abort', withdraw, { once: true });
      const line = request.seatOf === undefined ? this.#others : this.#polls;
      insert(line.waiting, waiting);
      if (startsAt < line.nextAt) this.#pumpAt(line, startsAt);
    });
  }

  /** May it still start: does its own limit allow it, and are its circuits closed, or is it the trial of those that aren't? */
  isAdmitted({ subject, circuits, readyAt }: EntryRequest): boolean {
    if (readyAt !== undefined && readyAt() > this.#clock.now()) return false;
    return circuits()
      .map((key) => this.circuit(key))
      .every((circuit) => !isDoubted(circuit) || isTrialBy(circuit, subject));
  }

  stop(): void {
    for (const { cancelTimer } of [this.#polls, this.#others]) cancelTimer();
  }

  #pumpAll(): void {
    this.#pump(this.#others);
    this.#pump(this.#polls);
  }

  /** Lets everything in the line start that may. */
  #pump(line: Line): void {
    const now = this.#clock.now();
    let againAt = Number.POSITIVE_INFINITY;
    const held: Waiter[] = [];
    const admitted: (() => void)[] = [];
    // With thousands waiting for a few nodes, each node is looked at once.
    const heldGroups = new Set<string>();
    for (const [index, waiting] of line.waiting.entries()) {
      if (waiting.isWithdrawn) continue;
      if (heldGroups.has(waiting.group) && !this.#isTrying(waiting)) {
        held.push(waiting);
        continue;
      }
      if (line === this.#polls && this.#seats.size >= POLL_SEATS) {
        held.push(...line.waiting.slice(index));
        break;
      }
      const startsAt = this.#startsAt(waiting, now);
      if (startsAt <= now) {
        const entry = this.#admit(waiting, now);
        admitted.push(() => waiting.enter(entry));
      } else {
        held.push(waiting);
        // Its own limit doesn't hold the others.
        if (waiting.readyAt === undefined || waiting.readyAt() <= now) heldGroups.add(waiting.group);
        againAt = Math.min(againAt, startsAt);
      }
    }
    line.waiting = held;
    this.#pumpAt(line, againAt);
    for (const enter of admitted) enter();
  }

  #pumpAt(line: Line, at: number): void {
    line.cancelTimer();
    line.nextAt = at;
    line.cancelTimer = Number.isFinite(at)
      ? this.#clock.schedule(at - this.#clock.now(), () => this.#pump(line))
      : () => undefined;
  }

  /** The instant from which it may start; infinite if it depends on something other than time. */
  #startsAt(request: EntryRequest, now: number): number {
    const { subject, circuits, seatOf, readyAt } = request;
    let at = Math.max(now, readyAt?.() ?? now);
    for (const key of circuits()) {
      const circuit = this.circuit(key);
      if (!isDoubted(circuit) || isTrialBy(circuit, subject)) continue;
      if (key === PANEL || circuit.trying !== undefined) return Number.POSITIVE_INFINITY;
      at = Math.max(at, circuit.trialAt);
    }
    if (seatOf !== undefined && !this.#hasSeat(seatOf())) return Number.POSITIVE_INFINITY;
    return this.#isBudgeted(request) ? Math.max(at, this.#nextTrialAt(now)) : at;
  }

  /** Is it a trial that probably fails? What was never tried may as well succeed. */
  #isBudgeted(request: EntryRequest): boolean {
    const { circuits, isConnect = false, isRetry = () => false } = request;
    if (isConnect) return false;
    const isFailing = (circuit: Circuit) => isDoubted(circuit) && circuit.failures > 0;
    return isRetry() || circuits().some((key) => isFailing(this.circuit(key)));
  }

  /** Is the trial of one of its circuits its own? */
  #isTrying({ subject, circuits }: EntryRequest): boolean {
    return circuits().some((key) => isTrialBy(this.circuit(key), subject));
  }

  #nextTrialAt(now: number): number {
    this.#trials = this.#trials.filter((at) => at > now - WINDOW_MS);
    const most = Math.max(1, Math.floor(this.#allowedPerMinute() * TRIAL_SHARE));
    const oldest = this.#trials[this.#trials.length - most];
    return oldest === undefined ? Number.NEGATIVE_INFINITY : oldest + WINDOW_MS;
  }

  #hasSeat(node: string): boolean {
    if (this.#seats.size >= POLL_SEATS) return false;
    const isInDoubt = (of: string) => isDoubted(this.circuit(pollsKey(of)));
    const seated = [...this.#seats].map((seat) => seat.node);
    return isInDoubt(node)
      ? seated.filter(isInDoubt).length < SEATS_IN_DOUBT
      : seated.filter((other) => other === node).length < SEATS_PER_NODE;
  }

  #admit(request: EntryRequest, now: number): Entry {
    const { subject, circuits, seatOf, isRetry = () => false } = request;
    if (this.#isBudgeted(request)) this.#trials = [...this.#trials, now];
    let isTrial = isRetry();
    for (const key of circuits()) {
      const circuit = this.circuit(key);
      if (!isDoubted(circuit)) continue;
      isTrial = true;
      this.#circuits.set(key, stepCircuit(circuit, { type: 'tried', subject, now }));
    }
    const seat = seatOf && this.#seat(seatOf());
    const leave = (isWithdrawn: boolean) => {
      for (const key of circuits())
        if (isWithdrawn || !isSockets(key)) this.note(key, { type: 'withdrawn', subject });
      seat?.leave();
    };
    return { isTrial, leave, seat };
  }

  #seat(node: string): Seat {
    const seat = { node };
    this.#seats.add(seat);
    let lose: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      lose = resolve;
    });
    let cancel: Cancel = () => undefined;
    const leave = () => {
      cancel();
      lose();
      if (this.#seats.delete(seat)) this.#pump(this.#polls);
    };
    const began = () => {
      cancel = this.#clock.schedule(SEATED_MS, () => {
        this.note(pollsKey(node), { type: 'late', now: this.#clock.now() });
        leave();
      });
    };
    return { began, leave, left };
  }
}

// Whether a node responds to polls is unknown before the first one, and a hanging poll costs a seat.
function initial(key: CircuitKey): Circuit {
  return key.startsWith('polls ') ? DOUBTFUL : CLOSED;
}

function insert(line: Waiter[], waiting: Waiter): void {
  let low = 0;
  let high = line.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((line[middle]?.deadline ?? 0) <= waiting.deadline) low = middle + 1;
    else high = middle;
  }
  line.splice(low, 0, waiting);
}
