/** The calls to one panel: each waits until the rules let it start, the most urgent first. */
import PQueue, { type Queue } from 'p-queue';
import type { Clock } from '../../domain/time.ts';
import { NO_SERVER, type Subject } from '../subjects.ts';
import { AskedCall, type PendingCall } from './asked-call.ts';
import { type Call, isCanary } from './call.ts';
import { CallHistory } from './call-history.ts';
import { CallLines } from './call-lines.ts';
import { CallQueue, type Job, type JobOptions } from './call-queue.ts';
import type { RateLimit } from './rate-limit.ts';
import type { Backlog } from './shortage.ts';
import { WINDOW_MS } from './sliding-window.ts';
import { isTrial, PLACES, SEATED_MS, TOKEN_CALLS, type Traffic, trialRoom } from './start-rules.ts';

export interface SchedulerOptions extends Pick<Traffic, 'holds' | 'isBlamed'> {
  readonly clock: Clock;
  /** The panel's name, for errors. */
  readonly panel: string;
  readonly limit: RateLimit;
  /** Did the panel reject the API key, and so not count the call? */
  readonly isRejected: (error: unknown) => boolean;
  /** Begins a call that has started in its turn of the event loop; at once if absent. */
  readonly inTurn?: ((begin: () => void) => unknown) | undefined;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #history = new CallHistory();
  readonly #lines = new CallLines<Job>(
    // Only a pause of the server's own tokens counts: a pause of the path holds the whole line.
    (call) => call.isRetry?.() === true && !this.#limit.isPausedAlone(call.path, call.server),
  );
  readonly #calls: CallQueue;
  readonly #queue: PQueue<Queue<Job, JobOptions>, JobOptions>;
  /** The calls that wait or run. */
  readonly #asked = new Set<PendingCall>();
  /** The calls among them that were canaries when they were requested. */
  readonly #canaries = new Set<PendingCall>();
  #limit: RateLimit;
  #nextId = 0;
  /** Calls in flight that hold a place. */
  #placed = 0;
  #isStopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#limit = options.limit;
    this.#calls = new CallQueue({
      clock: options.clock,
      lines: this.#lines,
      limit: () => this.#limit,
      traffic: (isShort) => this.#traffic(isShort),
      hasPlace: (call) => this.#placed < PLACES || isCanary(call),
      lookAgain: () => this.#lookAgain(),
    });
    this.#queue = new PQueue({ queueClass: this.#calls.queueClass, concurrency: PLACES });
  }

  /** Calls that haven't started. */
  get waiting(): number {
    return this.#lines.size;
  }

  /**
   * How many trials may make a call now: the rest of their part of the rate; at most one while the
   * window is full, because that one has to wait for room.
   */
  get trialRoom(): number {
    const room = trialRoom({ trials: this.#history.trials, limit: this.#limit }, this.#now);
    return this.#limit.opensAt <= this.#now ? room : Math.min(1, room);
  }

  /** Undefined unless more calls, connects among them, wait than the rate allows in a minute. */
  get backlog(): Backlog | undefined {
    return this.#calls.backlog;
  }

  /** The servers need more calls than the rate carries, so that deadlines alone are fair. */
  set isOverbooked(isOverbooked: boolean) {
    this.#calls.isOverbooked = isOverbooked;
  }

  /**
   * Does this server's own limit of credential calls, here and on the panel, have room for another
   * one?
   */
  hasTokenRoom(server: string): boolean {
    const oldest = this.#history.tokensAt(server).at(-TOKEN_CALLS);
    const isFull = oldest !== undefined && oldest + WINDOW_MS > this.#now;
    return !isFull && this.#limit.tokensPausedUntil(server) <= this.#now;
  }

  /** Does this server's own limit delay its next credential call? Not while one is under way. */
  delaysToken(server: string): boolean {
    return !this.hasTokenRoom(server) && !this.#history.isTokenUnderWay(server);
  }

  /**
   * Makes the call when it may start. Rejects with its error, or with the signal's reason as soon
   * as it aborts.
   */
  run<T>(call: Call, signal: AbortSignal, make: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isStopped) return Promise.reject(this.#stopError());
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    this.#nextId += 1;
    const id = String(this.#nextId);
    const asked = new AskedCall<T>({ call, id, signal, make, withdrawn: this.#withdrawn });
    this.#asked.add(asked);
    if (isCanary(call)) {
      this.#canaries.add(asked);
      this.#lookAgain();
    }
    void this.#queue.add(() => this.#start(asked), { call, id });
    return asked.result;
  }

  /** Call this when the server's node, or the purpose of its waiting calls, has changed. */
  moved(server: string): void {
    if (this.#lines.hasCalls(server)) this.#serverChanged(server);
  }

  /** An outage of this subject, of this node if it is a node's, began or ended. */
  holdChanged(subject: Subject, node: string | undefined): void {
    if (node === undefined) this.#lines.opened(`gate ${subject}`);
    else this.#lines.nodeChanged(node);
    this.#calls.changed();
  }

  /** A call has proved that the panel works. */
  panelKnown(): void {
    this.#lines.opened('gate panel');
    this.#calls.changed();
  }

  /** A poll of the node ended, with a response of the panel or without. */
  polled(node: string, startedAt: number, hasResponse: boolean): void {
    this.#history.polled(node, startedAt, hasResponse, this.#now);
    this.#lines.nodeChanged(node);
  }

  /** A server's attempt to connect ended, or its socket; `node` streams if it is given. */
  connectEnded(server: string, node: string | undefined): void {
    const connected = this.#history.connectEnded(server);
    const isFirst = node !== undefined && !this.#history.hasStreamed(node);
    if (isFirst) this.#history.streamed(node, true);
    if (connected !== undefined) this.#lines.nodeChanged(connected);
    if (isFirst) this.#lines.nodeChanged(node);
    if (connected !== undefined || isFirst) this.#calls.changed();
  }

  /** The node's sockets have an outage, so the number of its first connects is limited again. */
  doubt(node: string): void {
    this.#history.streamed(node, false);
  }

  /** Another API key is used, with the limit of its account. */
  keyChanged(limit: RateLimit): void {
    this.#limit = limit;
    this.#history.keyChanged();
    this.#lines.allOpened();
    this.#calls.changed();
  }

  /**
   * More or fewer calls may start. With a server, its calls that wait for a limit of their own are
   * examined, too.
   */
  limitChanged(server = NO_SERVER): void {
    this.#lines.gatesOpened();
    this.#serverChanged(server);
  }

  /** Forgets nodes without servers. */
  keepNodes(nodes: ReadonlySet<string | undefined>): void {
    this.#history.keepNodes(nodes);
  }

  /** Rejects all calls, whether waiting, running or made later. */
  stop(): void {
    this.#isStopped = true;
    for (const asked of this.#asked) asked.withdraw(this.#stopError());
    this.#calls.stop();
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  #traffic(isShort: boolean): Traffic {
    const { running, trials, lists, others, respondedAt, tokensAt, connecting, hasStreamed } = this.#history;
    const { holds, isBlamed } = this.#options;
    const counts = { running, trials, lists, others, respondedAt, tokensAt, connecting, hasStreamed };
    return { limit: this.#limit, holds, isBlamed, isShort, ...counts };
  }

  #stopError(): Error {
    return new Error(`panel ${this.#options.panel}: no more calls, because the exporter is stopping`);
  }

  readonly #withdrawn = (asked: PendingCall): void => {
    this.#over(asked);
    this.#calls.withdrawn(asked.id);
  };

  #over(asked: PendingCall): void {
    this.#asked.delete(asked);
    this.#canaries.delete(asked);
  }

  /** Starts the call; resolves when it no longer holds a place. */
  #start(asked: PendingCall): Promise<void> {
    const { call } = asked;
    const running = this.#history.started(call, this.#isTrial(call), this.#now);
    this.#limit.take(call.path, call.server);
    const places = isCanary(call) ? 0 : 1;
    this.#placed += places;
    return new Promise((leave) => {
      let isPlaced = true;
      const leavePlace = () => {
        if (isPlaced) this.#placed -= places;
        isPlaced = false;
        leave();
        this.#placeLeft(call);
        this.#calls.changed();
      };
      const cancel = this.#options.clock.schedule(SEATED_MS, leavePlace);
      const ended = (error?: unknown) => {
        cancel();
        this.#over(asked);
        this.#history.ended(running, this.#options.isRejected(error), this.#now);
        leavePlace();
      };
      const { inTurn = (run) => run() } = this.#options;
      inTurn(() => void asked.begin(ended));
    });
  }

  #isTrial(call: Call): boolean {
    return isTrial(call, { isBlamed: this.#options.isBlamed, limit: this.#limit });
  }

  /** A call left its place, or ended. */
  #placeLeft({ path, node }: Call): void {
    this.#lines.opened(path === 'resources' ? 'gate doubt' : `gate path ${path}`);
    if (path === 'resources') this.#lines.nodeChanged(node());
  }

  #lookAgain(): void {
    // Setting it makes p-queue look again.
    if (!this.#isStopped) this.#queue.concurrency = PLACES + this.#canaries.size;
  }

  #serverChanged(server: string): void {
    this.#lines.serverChanged(server);
    this.#calls.changed();
  }
}
