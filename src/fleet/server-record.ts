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
import { Stopwatch } from './durations.ts';
import { type Arrival, createKept, type Kept } from './kept.ts';
import { compareObservations, type Observation, POLL_CACHE_MS, START_JITTER_MS } from './ordering.ts';
import { gapBetween, rate } from './peaks.ts';
import { PowerHistory } from './power-history.ts';
import { FIELD_OFFSET } from './sample-slot.ts';
import type { DecidedStop } from './stop-reasons.ts';

/** Two signs of a start (state and uptime) within this time count as one start. */
const SAME_START_MS = 5_000;

/**
 * An uptime that stays the same for longer is frozen: a session requests stats after 15 s of silence, so this is the second
 * answer.
 */
const FROZEN_AFTER_MS = 20_000;

/**
 * A sample after such a silence was requested: nodes whose statistics died still answer, but no longer send samples on their own.
 */
const ASKED_AFTER_MS = 10_000;

/** For servers that were never sampled. */
const UNWATCHED = new Stopwatch();

/** Is notified of the stops of servers. */
export interface StopListener {
  /**
   * The reason is due to be decided, by `decideStop`, at this monotonic instant. May be called again for an earlier or later one.
   */
  awaited(record: ServerRecord, dueAt: number): void;
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
  startedAt: number | undefined;
  #query: QueryReading | undefined;
  /** The run that was queried. */
  #queriedRun: number | undefined;
  /** The source of the newest sample. */
  #source: SampleSource | undefined;
  /** Undefined before the first sample, because starting thousands of servers is work enough. */
  #kept: Kept | undefined;
  #lastStartAt = Number.NEGATIVE_INFINITY;
  /** The node repeats the newest sample although the server continues to run. */
  #isFrozen = false;
  /** Events may have been missed since the newest sample. */
  #isInterrupted = false;
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
    if (this.#kept !== undefined) this.#noteLimits(this.#kept);
  }

  get stalenessMs(): number {
    return this.staleness[this.source ?? 'socket'];
  }

  get node(): string | undefined {
    return this.target.node ?? this.#socketHost;
  }

  get sample(): Sample | undefined {
    return this.#kept?.shown.read();
  }

  get source(): SampleSource | undefined {
    return this.#source;
  }

  get sampledAt(): number | undefined {
    return this.#source === undefined ? undefined : this.#kept?.arrival.receivedAt;
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
    const stopwatch = this.#kept?.durations ?? UNWATCHED;
    return stopwatch.read(!Number.isNaN(this.#cpuLimit), !Number.isNaN(this.#memoryLimit));
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
    return this.#kept?.peaks.read(now);
  }

  isFresh(now: number): boolean {
    const receivedAt = this.#kept?.arrival.receivedAt ?? Number.NaN;
    return this.#source !== undefined && !this.#isFrozen && now - receivedAt <= this.stalenessMs;
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
    const starts = this.#power.starts;
    this.#power.seenByStatus(state, now);
    if (this.#power.starts > starts) this.#lastStartAt = now;
    if (isOff(state)) this.startedAt = undefined;
    if (this.isFresh(now)) this.#kept?.durations.observed(now, this.#power.state === 'running');
    this.#noteStop();
  }

  daemonWords(words: DaemonWords, now: number): void {
    this.#power.stops.daemonWords(words, now);
    this.#noteStop();
  }

  /** Decides the reason of the latest stop if it is due. */
  decideStop(now: number): void {
    this.#power.stops.decide(now);
  }

  /** Decides the reason of the latest stop with what is known. */
  settleStop(): void {
    this.#power.stops.settle();
  }

  socketSample(sample: Sample, now: number): void {
    this.#accept(sample, 'socket', now, now);
  }

  pollSample(sample: Sample, requestedAt: number, now: number): void {
    this.#accept(sample, 'poll', now, requestedAt - POLL_CACHE_MS);
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
    const reported = this.#kept?.shown.get(FIELD_OFFSET.memoryLimitBytes);
    return finiteLimit(memoryLimitOf(this.target.limits, reported)) ?? Number.NaN;
  }

  #keep(): Kept {
    const kept = createKept();
    this.#kept = kept;
    this.#noteLimits(kept);
    return kept;
  }

  #noteLimits({ durations }: Kept): void {
    durations.limit(this.#cpuLimit, this.#memoryLimit);
  }

  #noteStop(): void {
    const { dueAt } = this.#power.stops;
    if (dueAt !== undefined && dueAt !== this.#stopDueAt) this.#stopListener?.awaited(this, dueAt);
    this.#stopDueAt = dueAt;
  }

  #interrupt(): void {
    this.#isInterrupted = true;
    this.#power.interrupted();
  }

  #accept(sample: Sample, source: SampleSource, receivedAt: number, measuredFrom: number): void {
    const { state, uptimeMs } = sample;
    const next: Observation = { state, uptimeMs, source, receivedAt, measuredFrom };
    const kept = this.#kept ?? this.#keep();
    const previous = this.#newest(kept);
    const verdict = compareObservations(previous, next, {
      offAt: this.#power.offAt,
      isUninterrupted: !this.#isInterrupted && source === 'socket' && previous?.source === 'socket',
    });
    if (verdict.older) return;
    // A poll can come so late that another run has begun since the status; for a socket, the frame of the next second shows the
    // same.
    const showsNewRun = source === 'poll' && verdict.restarted && uptimeMs !== 0;
    if (state !== undefined && !showsNewRun && this.#power.isOutdated(state, measuredFrom)) return;
    this.#followPower(next, verdict.restarted);
    this.#noteStop();
    const { arrival } = kept;
    if (uptimeMs !== previous?.uptimeMs) arrival.uptimeMovedAt = receivedAt;
    this.#isFrozen = this.#isStandingStill(arrival, next);
    if (source === 'socket') arrival.socketSampleAt = receivedAt;
    if (this.#isFrozen) return;
    this.#isInterrupted &&= source === 'poll';
    const mayReset = this.#power.takeStartSeen() || verdict.restarted;
    if (source === 'socket') this.#notePeaks(kept, sample, mayReset ? undefined : previous, next);
    // A resources answer doesn't contain the limit, so the value from the socket is kept.
    const memoryLimit = kept.shown.get(FIELD_OFFSET.memoryLimitBytes);
    arrival.receivedBytes = sample.networkReceiveBytes ?? Number.NaN;
    arrival.transmittedBytes = sample.networkTransmitBytes ?? Number.NaN;
    kept.shown.write(sample);
    if (sample.memoryLimitBytes === undefined) kept.shown.set(FIELD_OFFSET.memoryLimitBytes, memoryLimit);
    else if (sample.memoryLimitBytes !== memoryLimit) this.#noteLimits(kept);
    kept.counters.apply(kept.shown, mayReset, receivedAt);
    kept.durations.observed(receivedAt, this.#power.state === 'running');
    if (source === 'socket') {
      kept.durations.streamed(receivedAt, sample.cpuCores ?? Number.NaN, sample.memoryBytes ?? Number.NaN);
    }
    this.#source = source;
    arrival.receivedAt = receivedAt;
    arrival.measuredFrom = measuredFrom;
    // An unchanged uptime says nothing about the start.
    if (uptimeMs === undefined || uptimeMs !== previous?.uptimeMs) this.#noteStart(next, verdict.restarted);
  }

  #newest({ shown, arrival }: Kept): Observation | undefined {
    if (this.#source === undefined) return undefined;
    const uptimeMs = shown.get(FIELD_OFFSET.uptimeMs);
    return {
      state: shown.state,
      uptimeMs: Number.isNaN(uptimeMs) ? undefined : uptimeMs,
      source: this.#source,
      receivedAt: arrival.receivedAt,
      measuredFrom: arrival.measuredFrom,
    };
  }

  /** Does a socket repeat the uptime of a running server, as nodes with dead statistics do? Old daemons send no uptime. */
  #isStandingStill(arrival: Arrival, { source, uptimeMs, receivedAt }: Observation): boolean {
    const isUp = uptimeMs !== undefined && uptimeMs > 0 && !isOff(this.#power.state);
    const wasAskedFor = source === 'socket' && receivedAt - arrival.socketSampleAt > ASKED_AFTER_MS;
    return isUp && wasAskedFor && receivedAt - arrival.uptimeMovedAt > FROZEN_AFTER_MS;
  }

  #followPower(next: Observation, restarted: boolean): void {
    const { state, receivedAt, measuredFrom } = next;
    const { starts } = this.#power;
    if (state !== undefined) {
      if (next.source === 'socket') this.#power.seenOnSocket(state, receivedAt);
      else this.#power.seenByPoll(state, receivedAt, measuredFrom);
      if (this.#power.starts === starts && !isOff(state)) this.#countUnseenStart(next, restarted);
    }
    if (this.#power.starts > starts) this.#lastStartAt = receivedAt;
  }

  /** Counts a start that no transition showed: the server was off and is on, or its uptime is that of another run. */
  #countUnseenStart({ uptimeMs, receivedAt, measuredFrom }: Observation, restarted: boolean): void {
    const { owesStart, lastSeenOffAt } = this.#power;
    // Without an uptime, only the states can show a start.
    if (uptimeMs === undefined) {
      if (owesStart) this.#power.startedUnseen(receivedAt);
      return;
    }
    if (uptimeMs === 0) return;
    const startedAt = receivedAt - uptimeMs;
    const isNew = startedAt > this.#lastStartAt + SAME_START_MS;
    const beganWhileOff = startedAt + START_JITTER_MS + (receivedAt - measuredFrom) >= lastSeenOffAt;
    if (isNew && (restarted || (owesStart && beganWhileOff))) this.#power.startedUnseen(receivedAt);
    else if (owesStart) this.#power.neverStopped();
  }

  #noteStart(next: Observation, restarted: boolean): void {
    const { uptimeMs } = next;
    if (isOff(this.#power.state) || uptimeMs === undefined || uptimeMs === 0) {
      this.startedAt = undefined;
      return;
    }
    const startedAt = next.receivedAt - uptimeMs;
    const jitter = START_JITTER_MS + (next.receivedAt - next.measuredFrom);
    if (!restarted && this.startedAt !== undefined && Math.abs(startedAt - this.startedAt) <= jitter) return;
    this.startedAt = startedAt;
  }

  /** `previous` is undefined if no rate can be computed from it. */
  #notePeaks(kept: Kept, sample: Sample, previous: Observation | undefined, next: Observation): void {
    const gapMs = previous?.source === 'socket' ? gapBetween(previous, next) : undefined;
    const { peaks, arrival } = kept;
    peaks.add(
      next.receivedAt,
      sample.cpuCores ?? Number.NaN,
      sample.memoryBytes ?? Number.NaN,
      rate(arrival.receivedBytes, sample.networkReceiveBytes, gapMs),
      rate(arrival.transmittedBytes, sample.networkTransmitBytes, gapMs),
    );
  }
}

/** Is the server being installed or transferred, so that it can't run? */
function isRebuilt(reason: BlockedReason | undefined): boolean {
  return reason === 'installing' || reason === 'transferring' || reason === 'restoring';
}
