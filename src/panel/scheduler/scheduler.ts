/**
 * Schedules the calls to one panel: each waits until the rules allow it, and the most urgent starts
 * first.
 */
import PQueue, { type Queue } from 'p-queue';
import type { Clock } from '../../domain/clock.ts';
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
  /** Did the panel reject the API key, and therefore not count the call? */
  readonly isRejected: (error: unknown) => boolean;
  /** Runs the start of a call in a turn of the event loop; by default, at once. */
  readonly inTurn?: ((begin: () => void) => unknown) | undefined;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #history = new CallHistory();
  readonly #lines = new CallLines<Job>(
    // Only a pause of the server's own token calls counts here, because a pause of the path holds
    // the whole line.
    (call) => call.isRetry?.() === true && !this.#limit.isPausedAlone(call.path, call.server),
  );
  readonly #calls: CallQueue;
  readonly #queue: PQueue<Queue<Job, JobOptions>, JobOptions>;
  /** The waiting and running calls. */
  readonly #asked = new Set<PendingCall>();
  /** Those that were canaries when they were requested. */
  readonly #canaries = new Set<PendingCall>();
  #limit: RateLimit;
  #nextId = 0;
  /** The number of calls in flight that occupy a place. */
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

  /** The number of calls that haven't started. */
  get waiting(): number {
    return this.#lines.size;
  }

  /**
   * How many trials may make a call now, within their part of the rate. While the window is full,
   * at most one, which has to wait for room.
   */
  get trialRoom(): number {
    const room = trialRoom({ trials: this.#history.trials, limit: this.#limit }, this.#now);
    return this.#limit.opensAt <= this.#now ? room : Math.min(1, room);
  }

  /**
   * Undefined unless more calls are waiting than the rate allows in a minute, with connects among
   * them.
   */
  get backlog(): Backlog | undefined {
    return this.#calls.backlog;
  }

  /**
   * Whether the servers need more calls than the rate allows, so that connects get no preference.
   */
  set isOverbooked(isOverbooked: boolean) {
    this.#calls.isOverbooked = isOverbooked;
  }

  /**
   * Does this server's limit of credential calls have room for another one, both here and on the
   * panel?
   */
  hasTokenRoom(server: string): boolean {
    const oldest = this.#history.tokensAt(server).at(-TOKEN_CALLS);
    const isFull = oldest !== undefined && oldest + WINDOW_MS > this.#now;
    return !isFull && this.#limit.tokensPausedUntil(server) <= this.#now;
  }

  /** Does this server's own limit delay its next credential call? Not while one is in progress. */
  delaysToken(server: string): boolean {
    return !this.hasTokenRoom(server) && !this.#history.isTokenUnderWay(server);
  }

  /**
   * Makes the call once it may start. Rejects with its error, or with the signal's reason as soon
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

  /** Must be called when the server's node, or the purpose of its waiting calls, has changed. */
  moved(server: string): void {
    if (this.#lines.hasCalls(server)) this.#serverChanged(server);
  }

  /**
   * Handles the beginning or end of this subject's outage. `node` is given for a subject of a node.
   */
  holdChanged(subject: Subject, node: string | undefined): void {
    if (node === undefined) this.#lines.opened(`gate ${subject}`);
    else this.#lines.nodeChanged(node);
    this.#calls.changed();
  }

  /** Handles the first call that shows that the panel works. */
  panelKnown(): void {
    this.#lines.opened('gate panel');
    this.#calls.changed();
  }

  /** Handles the end of a poll of the node, with or without a response of the panel. */
  polled(node: string, startedAt: number, hasResponse: boolean): void {
    this.#history.polled(node, startedAt, hasResponse, this.#now);
    this.#lines.nodeChanged(node);
  }

  /**
   * Handles the end of a server's attempt to connect, or of its socket. If `node` is given, it
   * streams.
   */
  connectEnded(server: string, node: string | undefined): void {
    const connected = this.#history.connectEnded(server);
    const isFirst = node !== undefined && !this.#history.hasStreamed(node);
    if (isFirst) this.#history.streamed(node, true);
    if (connected !== undefined) this.#lines.nodeChanged(connected);
    if (isFirst) this.#lines.nodeChanged(node);
    if (connected !== undefined || isFirst) this.#calls.changed();
  }

  /** Limits the node's first connects again, after an outage of its sockets. */
  doubt(node: string): void {
    this.#history.streamed(node, false);
  }

  /** Uses the limit of another API key's account. */
  keyChanged(limit: RateLimit): void {
    this.#limit = limit;
    this.#history.keyChanged();
    this.#lines.allOpened();
    this.#calls.changed();
  }

  /**
   * Handles a change of the number of allowed calls. With a server, its calls that wait for their
   * own limit are examined, too.
   */
  limitChanged(server = NO_SERVER): void {
    this.#lines.gatesOpened();
    this.#serverChanged(server);
  }

  /** Forgets nodes without servers. */
  keepNodes(nodes: ReadonlySet<string | undefined>): void {
    this.#history.keepNodes(nodes);
  }

  /** Rejects all waiting, running and later calls. */
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

  /** Starts the call. Resolves when it no longer occupies a place. */
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

  /** Handles a call that left its place or ended. */
  #placeLeft({ path, node }: Call): void {
    this.#lines.opened(path === 'resources' ? 'gate doubt' : `gate path ${path}`);
    if (path === 'resources') this.#lines.nodeChanged(node());
  }

  #lookAgain(): void {
    // Setting it makes p-queue check again.
    if (!this.#isStopped) this.#queue.concurrency = PLACES + this.#canaries.size;
  }

  #serverChanged(server: string): void {
    this.#lines.serverChanged(server);
    this.#calls.changed();
  }
}
