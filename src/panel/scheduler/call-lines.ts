/**
 * Waiting calls, in lines of calls with the same rules, so that a change examines only the first
 * calls of few lines.
 */
import { PriorityQueue, type Rank } from '../priority-queue.ts';
import { type Call, isCanary, isConnect } from './call.ts';
import { Gates, OPEN } from './gates.ts';
import type { Gate, Start } from './start-rules.ts';

/** A waiting call. */
export interface WaitingCall<Job> {
  readonly call: Call;
  readonly id: string;
  readonly job: Job;
  /** Among calls with the same deadline, the one that has waited longer goes first. */
  readonly order: number;
  /** The urgency when the call joined its line. */
  urgency: number;
}

/** A waiting call and its line. */
interface PlacedCall<Job> extends WaitingCall<Job> {
  /** Undefined while a rule about its own server holds it. */
  line: CallLine<Job> | undefined;
}

/**
 * The maximum number of lines that are examined at once. When a gate opens, thousands of nodes may
 * have a line there that another rule holds.
 */
const LOOKS = 256;

/** A line: calls of one path, node and kind, by deadline. */
interface CallLine<Job> {
  readonly key: string;
  readonly node: string | undefined;
  readonly isOfConnects: boolean;
  readonly calls: PriorityQueue<PlacedCall<Job>>;
  /**
   * The name of its gate. `open` means that no rule is known to hold it, `node` that only rules
   * about its node do.
   */
  place: string;
  /** When a line that its node holds may start. */
  heldUntil: number;
}

/**
 * Decides which waiting call starts next. If the first call of a line may not start, the line moves
 * to the gate of the rule that holds it, and stays there until the gate opens.
 */
export class CallLines<Job> {
  readonly #waiting = new Map<string, PlacedCall<Job>>();
  readonly #lines = new Map<string, CallLine<Job>>();
  readonly #byNode = new Map<string, Set<CallLine<Job>>>();
  /** The waiting calls by server. Each has few, and a set for each would cost memory. */
  readonly #byServer = new Map<string, readonly PlacedCall<Job>[]>();
  readonly #gates = new Gates<CallLine<Job>>();
  readonly #heldAtNode = new PriorityQueue<CallLine<Job>>();
  /** Calls that a rule about their own server holds, by the time at which they may start. */
  readonly #asleep = new PriorityQueue<PlacedCall<Job>>();
  readonly #isRetry: (call: Call) => boolean;
  #order = 0;
  /** The current time if some lines still have to be examined, otherwise infinite. */
  #goesOnAt = Number.POSITIVE_INFINITY;

  /** `isRetry` separates calls that will probably fail again from others of their path and node. */
  constructor(isRetry: (call: Call) => boolean = (call) => call.isRetry?.() === true) {
    this.#isRetry = isRetry;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** The number of waiting calls that only the rate limit holds. */
  get backlog(): number {
    return this.#gates.backlog;
  }

  /** The number of connects in the backlog. */
  get connects(): number {
    return this.#gates.connects;
  }

  add(id: string, call: Call, job: Job): void {
    this.#order += 1;
    const waiting = { call, id, job, order: this.#order, urgency: judgeUrgency(call), line: undefined };
    this.#waiting.set(id, waiting);
    this.#byServer.set(call.server, [...this.#of(call.server), waiting]);
    this.#join(waiting);
  }

  /** Removes a waiting call. */
  delete(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#leave(waiting);
    this.#waiting.delete(id);
    const { server } = waiting.call;
    const others = this.#of(server).filter((other) => other !== waiting);
    if (others.length > 0) this.#byServer.set(server, others);
    else this.#byServer.delete(server);
  }

  /** Does this server have waiting calls? */
  hasCalls(server: string): boolean {
    return this.#byServer.has(server);
  }

  /**
   * Moves the server's calls to their current lines after its node, their purpose or a rule about
   * it has changed.
   */
  serverChanged(server: string): void {
    for (const waiting of this.#of(server)) this.#move(waiting);
  }

  /** Opens this gate after the reason for closing it has changed. */
  opened(name: Gate): void {
    this.#gates.open(name);
  }

  /** Opens all gates after any reason for closing them may have changed. */
  gatesOpened(): void {
    this.#gates.openAll();
  }

  /** Opens all gates, and wakes all calls that a rule about their own server holds. */
  allOpened(): void {
    this.gatesOpened();
    for (const waiting of this.#asleep.takeUpTo(Number.POSITIVE_INFINITY)) this.#join(waiting);
  }

  /** Opens the lines of this node after the reason for holding them has changed. */
  nodeChanged(node: string | undefined): void {
    for (const line of this.#byNode.get(node ?? '') ?? []) if (line.place !== OPEN) this.#moveTo(line, OPEN);
  }

  /**
   * The first call that may start according to `decideStart`. Undefined if there is none, or if
   * `nextAt` is now.
   */
  next(
    now: number,
    mayStart: (call: Call) => boolean,
    decideStart: (call: Call) => Start,
  ): WaitingCall<Job> | undefined {
    this.#passTime(now);
    this.#goesOnAt = Number.POSITIVE_INFINITY;
    let looks = 0;
    for (let line = this.#gates.first; line !== undefined; line = this.#gates.first) {
      if (looks === LOOKS) {
        this.#goesOnAt = now;
        return undefined;
      }
      looks += 1;
      const first = line.calls.first;
      if (first === undefined) throw new Error('a line has a first call');
      // Canaries go first: if this call isn't one, none is waiting.
      if (!mayStart(first.call)) return undefined;
      // The call's node became known while it waited, so it belongs in a line of that node.
      if (nodeOfLine(first.call) !== line.node) {
        this.#move(first);
        continue;
      }
      const start = decideStart(first.call);
      if (start.at <= now) return first;
      this.#hold(first, line, start);
    }
    return undefined;
  }

  /**
   * The next time at which a call may start: now if not all lines were examined, infinite if only a
   * change helps.
   */
  get nextAt(): number {
    return Math.min(this.#goesOnAt, this.#gates.opensAt, this.#heldAtNode.lowest, this.#asleep.lowest);
  }

  #passTime(now: number): void {
    this.#gates.openDue(now);
    for (const line of this.#heldAtNode.takeUpTo(now)) this.#moveTo(line, OPEN);
    for (const waiting of this.#asleep.takeUpTo(now)) this.#join(waiting);
  }

  #hold(waiting: PlacedCall<Job>, line: CallLine<Job>, { at, gate }: Start): void {
    if (gate === 'server') {
      this.#leave(waiting);
      if (Number.isFinite(at)) this.#asleep.put(waiting, at);
      return;
    }
    if (gate === 'node') {
      line.heldUntil = at;
      this.#moveTo(line, 'node');
      return;
    }
    this.#moveTo(line, gate);
    this.#gates.close(gate, at);
  }

  #of(server: string): readonly PlacedCall<Job>[] {
    return this.#byServer.get(server) ?? [];
  }

  #move(waiting: PlacedCall<Job>): void {
    this.#leave(waiting);
    this.#join(waiting);
  }

  #join(waiting: PlacedCall<Job>): void {
    waiting.urgency = judgeUrgency(waiting.call);
    const line = this.#findLine(waiting.call);
    waiting.line = line;
    line.calls.put(waiting, ...makeRank(waiting));
    this.#firstChanged(line);
    this.#count(line, 1);
  }

  /** Removes the call from its line, or from the sleeping calls. */
  #leave(waiting: PlacedCall<Job>): void {
    const { line } = waiting;
    this.#asleep.delete(waiting);
    if (line === undefined) return;
    waiting.line = undefined;
    line.calls.delete(waiting);
    this.#count(line, -1);
    if (line.calls.size > 0) this.#firstChanged(line);
    else this.#end(line);
  }

  #findLine(call: Call): CallLine<Job> {
    const node = nodeOfLine(call);
    const isRetry = this.#isRetry(call);
    const key = lineKey(call, node, isRetry);
    let line = this.#lines.get(key);
    if (line !== undefined) return line;
    const calls = new PriorityQueue<PlacedCall<Job>>();
    const isOfConnects = isConnect(call) && !isRetry && call.tries() === undefined;
    line = { key, node, isOfConnects, calls, place: OPEN, heldUntil: 0 };
    this.#lines.set(key, line);
    const ofNode = this.#byNode.get(node ?? '') ?? new Set();
    this.#byNode.set(node ?? '', ofNode.add(line));
    return line;
  }

  #end(line: CallLine<Job>): void {
    this.#takeFrom(line);
    this.#lines.delete(line.key);
    const ofNode = this.#byNode.get(line.node ?? '');
    ofNode?.delete(line);
    if (ofNode?.size === 0) this.#byNode.delete(line.node ?? '');
  }

  /** Updates a line whose first call has changed. */
  #firstChanged(line: CallLine<Job>): void {
    if (line.place !== 'node') this.#gates.put(line, line.place);
  }

  #moveTo(line: CallLine<Job>, place: string): void {
    if (line.place !== place) {
      this.#count(line, -line.calls.size);
      this.#takeFrom(line);
      line.place = place;
      if (place !== 'node') this.#gates.put(line, place);
      this.#count(line, line.calls.size);
    }
    if (place !== 'node') return;
    if (Number.isFinite(line.heldUntil)) this.#heldAtNode.put(line, line.heldUntil);
    else this.#heldAtNode.delete(line);
  }

  #takeFrom(line: CallLine<Job>): void {
    this.#heldAtNode.delete(line);
    this.#gates.delete(line, line.place);
  }

  /** Counts calls that joined the line, or that left it if negative. */
  #count({ place, isOfConnects }: CallLine<Job>, calls: number): void {
    this.#gates.count(place, calls, isOfConnects ? calls : 0);
  }
}

/** The node of a call, if calls on its path are held by node. */
function nodeOfLine({ path, node }: Call): string | undefined {
  return path === 'websocket' || path === 'resources' ? node() : undefined;
}

function lineKey({ path, tries, isRenewal }: Call, node: string | undefined, isRetry: boolean): string {
  const subject = tries();
  const kind =
    subject !== undefined ? `tries ${subject}` : `${isRenewal ? 'renews' : ''} ${isRetry ? 'again' : ''}`;
  return JSON.stringify([path, kind, node]);
}

/** Canaries go before trials, and trials before all deadlines. */
function judgeUrgency(call: Call): number {
  if (isCanary(call)) return 0;
  return call.tries() === undefined ? 2 : 1;
}

/** The most urgent first, then by deadline, then by waiting time. */
function makeRank({ urgency, call, order }: WaitingCall<unknown>): Rank {
  return [urgency, call.deadline, order];
}
