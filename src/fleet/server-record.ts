import type {
  BackupsReading,
  CollectionStatus,
  Durations,
  LastStop,
  Peaks,
  QueryReading,
  ServerReading,
  SocketState,
  StopCounts,
} from '../domain/reading.ts';
import { SampleNumbers } from '../domain/sample-numbers.ts';
import {
  type BlockedReason,
  finiteLimit,
  isOff,
  memoryLimitOf,
  type Sample,
  type SampleSource,
  type ServerState,
  type ServerTarget,
} from '../domain/server.ts';
import type { DaemonWords } from '../panel/dialect.ts';
import { DurationCounter } from './durations.ts';
import { POLL_CACHE_MS } from './ordering.ts';
import { PowerHistory } from './power-history.ts';
import { ServerSamples } from './server-samples.ts';
import type { DecidedStop } from './stop-reasons.ts';

/** For servers that were never sampled. */
const UNWATCHED = new DurationCounter();

/** Is notified of the stops of servers. */
export interface StopListener {
  /** A reason is due to be decided, by `decideStop`, at this monotonic instant; undefined if none is any more. */
  awaited(record: ServerRecord, dueAt: number | undefined): void;
  decided(record: ServerRecord, stop: DecidedStop): void;
}

/** One server's entry in the store: the newest accepted sample and everything counted so far. */
export class ServerRecord implements ServerReading {
  #target: ServerTarget;
  /** The maximum age of a sample in milliseconds, by source. */
  staleness: Readonly<Record<SampleSource, number>>;
  status: CollectionStatus = { condition: 'waiting' };
  socketState: SocketState = 'none';
  consoleLines = 0;
  #socketHost: string | undefined;
  backups: BackupsReading | undefined;
  #query: QueryReading | undefined;
  /** The run that was queried. */
  #queriedRun: number | undefined;
  /** Undefined before the first sample. */
  #samples: ServerSamples | undefined;
  readonly #power: PowerHistory;
  readonly #stopListener: StopListener | undefined;
  #stopDueAt: number | undefined;

  constructor(
    target: ServerTarget,
    staleness: Readonly<Record<SampleSource, number>>,
    stopListener?: StopListener,
  ) {
    this.#target = target;
    this.staleness = staleness;
    this.#stopListener = stopListener;
    this.#power = new PowerHistory((stop) => stopListener?.decided(this, stop));
  }

  get target(): ServerTarget {
    return this.#target;
  }

  /** Replaced as a whole when the server's description changes; never modified in place. */
  set target(target: ServerTarget) {
    this.#target = target;
    this.#samples?.limit(target.limits);
  }

  get stalenessMs(): number {
    return this.staleness[this.source ?? 'socket'];
  }

  get node(): string | undefined {
    return this.target.node ?? this.#socketHost;
  }

  get sample(): Sample | undefined {
    return this.#samples?.newest.toSample();
  }

  get source(): SampleSource | undefined {
    return this.#samples?.newest.source;
  }

  get sampledAt(): number | undefined {
    const { source, receivedAt } = this.#samples?.newest ?? {};
    return source === undefined ? undefined : receivedAt;
  }

  get startedAt(): number | undefined {
    return this.#samples?.startedAt;
  }

  get state(): ServerState {
    return this.#power.state;
  }

  get starts(): number {
    return this.#power.starts;
  }

  get stops(): StopCounts {
    return this.#power.stops.counts;
  }

  get lastStop(): LastStop | undefined {
    return this.#power.stops.last;
  }

  get lastExitCode(): number | undefined {
    return this.#power.stops.lastExitCode;
  }

  get isRestartAborted(): boolean {
    return this.#power.stops.isRestartAborted;
  }

  /** Identifies the current run of the server, as far as starts are seen; undefined unless it is known to be running. */
  runAt(now: number): number | undefined {
    return this.state === 'running' && this.isFresh(now) ? this.starts : undefined;
  }

  get query(): QueryReading | undefined {
    return this.#queriedRun === this.starts ? this.#query : undefined;
  }

  /** Records the result of a query of this run. */
  queried(run: number, reading: QueryReading): void {
    this.#query = reading;
    this.#queriedRun = run;
  }

  dropQuery(): void {
    this.#query = undefined;
  }

  get durations(): Durations {
    const durations = this.#samples?.durations ?? UNWATCHED;
    return durations.read(!Number.isNaN(this.#cpuLimit), !Number.isNaN(this.#memoryLimit));
  }

  expected(now: number): boolean | undefined {
    const { expect, blocked } = this.target;
    if (expect !== 'auto') return expect === 'running';
    return isRebuilt(blocked) || isRebuilt(this.status.blocked) ? false : this.#power.isExpected(now);
  }

  get awaitsWords(): boolean {
    return this.#power.stops.isAwaited;
  }

  peaks(now: number): Peaks | undefined {
    return this.#samples?.peaks.read(now);
  }

  isFresh(now: number): boolean {
    const samples = this.#samples;
    // Sockets may stay open, and samples recent, for some time after the panel has blocked the server.
    if (samples === undefined || samples.isFrozen || this.status.condition === 'blocked') return false;
    return now - samples.newest.receivedAt <= this.stalenessMs;
  }

  setPolledStaleness(poll: number): void {
    if (this.staleness.poll !== poll) this.staleness = { ...this.staleness, poll };
  }

  setCollection(status: CollectionStatus, socket: SocketState): void {
    this.status = status;
    this.socketState = socket;
  }

  socketBegan(): void {
    this.#interrupt();
  }

  eventsWithheld(): void {
    this.#interrupt();
  }

  /** Records a `status` event: a hint that precedes the sample with the same state. */
  stateHint(state: ServerState, now: number): void {
    this.#power.seenByStatus(state, now);
    const samples = this.#samples;
    if (samples !== undefined && isOff(state)) samples.startedAt = undefined;
    if (this.isFresh(now)) samples?.durations.observed(now, this.#power.state === 'running');
    this.#noteStop();
  }

  daemonWords(words: DaemonWords, now: number): void {
    this.#power.stops.daemonWords(words, now);
    this.#noteStop();
  }

  /** Decides the reasons of the stops for which it is due. */
  decideStop(now: number): void {
    this.#power.stops.decide(now);
    this.#noteStop();
  }

  /** Decides the reasons of all stops with what is known. */
  settleStop(): void {
    this.#power.stops.settle();
    this.#noteStop();
  }

  socketSample(sample: SampleNumbers, now: number): void {
    sample.arrived('socket', now, now);
    this.#accept(sample);
  }

  pollSample(sample: Sample, requestedAt: number, now: number): void {
    const numbers = SampleNumbers.of(sample);
    numbers.arrived('poll', now, requestedAt - POLL_CACHE_MS);
    this.#accept(numbers);
  }

  socketHost(host: string): void {
    this.#socketHost = host;
  }

  consoleLine(): void {
    this.consoleLines += 1;
  }

  get #cpuLimit(): number {
    return finiteLimit(this.target.limits.cpuCores) ?? Number.NaN;
  }

  get #memoryLimit(): number {
    const reported = this.#samples?.newest.memoryLimitBytes;
    return finiteLimit(memoryLimitOf(this.target.limits, reported)) ?? Number.NaN;
  }

  #accept(next: SampleNumbers): void {
    this.#samples ??= new ServerSamples(this.target.limits);
    this.#samples.accept(next, this.#power);
    this.#noteStop();
  }

  #noteStop(): void {
    const { dueAt } = this.#power.stops;
    if (dueAt === this.#stopDueAt) return;
    this.#stopDueAt = dueAt;
    this.#stopListener?.awaited(this, dueAt);
  }

  #interrupt(): void {
    this.#samples?.interrupted();
    this.#power.interrupted();
    this.#noteStop();
  }
}

/** Is the server being installed or transferred, so that it can't run? */
function isRebuilt(reason: BlockedReason | undefined): boolean {
  return reason === 'installing' || reason === 'transferring' || reason === 'restoring';
}
