import type { CollectionStatus } from '../domain/collection.ts';
import type { BackupsReading, Peaks, ServerReading, SocketState } from '../domain/reading.ts';
import type { Sample, SampleSource } from '../domain/sample.ts';
import type { ServerTarget } from '../domain/server.ts';
import { isOff, type ServerState } from '../domain/state.ts';
import { CounterMarks, MARKS_SIZE } from './counters.ts';
import { compareObservations, type Observation, POLL_CACHE_MS } from './ordering.ts';
import { PeakWindow, WINDOW_SIZE } from './peaks.ts';
import { PowerHistory } from './power-history.ts';
import { PLACE, SampleSlot, SLOT_SIZE } from './sample-slot.ts';

/** Two samples of one run may disagree on its start by their transit alone; more means another run. */
const START_JITTER_MS = 5_000;

/** Rates over other gaps are no one-second values. */
const MIN_RATE_GAP_MS = 500;
const MAX_RATE_GAP_MS = 5_000;

/** A start seen twice (by its state and by its uptime) is told apart from two starts by this. */
const SAME_START_MS = 5_000;

/** What is kept of a server's samples. */
interface Kept {
  /** The newest sample as it is shown: counters in order, the memory limit kept over polls. */
  readonly shown: SampleSlot;
  readonly counters: CounterMarks;
  readonly peaks: PeakWindow;
}

function createKept(): Kept {
  // Side by side in one array, since each has its overhead, and every sample touches all of them.
  const numbers = new Float64Array(SLOT_SIZE + MARKS_SIZE + WINDOW_SIZE).fill(Number.NaN);
  return {
    shown: new SampleSlot(numbers),
    counters: new CounterMarks(numbers, SLOT_SIZE),
    peaks: new PeakWindow(numbers, SLOT_SIZE + MARKS_SIZE),
  };
}

/** One server's entry in the store: the newest accepted sample and what was counted on the way to it. */
export class ServerRecord implements ServerReading {
  /** Replaced as a whole where the server is described anew; never changed in place. */
  target: ServerTarget;
  /** How old a sample may become, by the way it came. */
  staleness: Readonly<Record<SampleSource, number>>;
  status: CollectionStatus = { condition: 'waiting' };
  socketState: SocketState = 'none';
  consoleLines = 0;
  backups: BackupsReading | undefined;
  startedAt: number | undefined;
  /** When and how the newest sample came. Numbers in place, not an object for each: see SampleSlot. */
  #source: SampleSource | undefined;
  #receivedAt = Number.NaN;
  #measuredFrom = Number.NaN;
  /** Undefined before the first sample: a start of thousands has enough to do. */
  #kept: Kept | undefined;
  /** Its network counters as they came; NaN where they didn't. */
  #receivedBytes = Number.NaN;
  #transmittedBytes = Number.NaN;
  #lastStartAt = Number.NEGATIVE_INFINITY;
  readonly #power = new PowerHistory();

  constructor(target: ServerTarget, staleness: Readonly<Record<SampleSource, number>>) {
    this.target = target;
    this.staleness = staleness;
  }

  get stalenessMs(): number {
    return this.staleness[this.source ?? 'socket'];
  }

  get sample(): Sample | undefined {
    return this.#kept?.shown.read();
  }

  get source(): SampleSource | undefined {
    return this.#source;
  }

  get sampledAt(): number | undefined {
    return this.#source === undefined ? undefined : this.#receivedAt;
  }

  get state(): ServerState {
    return this.#power.state;
  }

  get starts(): number {
    return this.#power.starts;
  }

  unexpectedStops(now: number): number {
    return this.#power.unexpectedStops(now);
  }

  peaks(now: number): Peaks | undefined {
    return this.#kept?.peaks.read(now);
  }

  isFresh(now: number): boolean {
    return this.#source !== undefined && now - this.#receivedAt <= this.stalenessMs;
  }

  setCollection(status: CollectionStatus, socket: SocketState): void {
    this.status = status;
    this.socketState = socket;
  }

  socketBegan(): void {
    this.#power.socketBegan();
  }

  /** A `status` event: a hint that comes before the sample which will say the same. */
  stateHint(state: ServerState, now: number): void {
    const starts = this.#power.starts;
    this.#power.seenOnSocket(state, now);
    if (this.#power.starts > starts) this.#lastStartAt = now;
    if (isOff(state)) this.startedAt = undefined;
  }

  socketSample(sample: Sample, now: number): void {
    this.#accept(sample, 'socket', now, now);
  }

  pollSample(sample: Sample, requestedAt: number, now: number): void {
    this.#accept(sample, 'poll', now, requestedAt - POLL_CACHE_MS);
  }

  consoleLine(): void {
    this.consoleLines += 1;
  }

  #accept(sample: Sample, source: SampleSource, receivedAt: number, measuredFrom: number): void {
    const { state, uptimeMs } = sample;
    const next: Observation = { state, uptimeMs, source, receivedAt, measuredFrom };
    const kept = (this.#kept ??= createKept());
    const previous = this.#newest(kept.shown);
    const verdict = compareObservations(previous, next, this.#power.offAt);
    if (verdict.older) return;
    this.#followPower(previous, next, verdict.restarted);
    const mayReset = this.#power.takeStartSeen() || verdict.restarted;
    if (source === 'socket') this.#notePeaks(kept.peaks, sample, mayReset ? undefined : previous, next);
    // The limit is not part of a resources answer: what the socket said of it holds on.
    const memoryLimit = kept.shown.get(PLACE.memoryLimitBytes);
    this.#receivedBytes = sample.networkReceiveBytes ?? Number.NaN;
    this.#transmittedBytes = sample.networkTransmitBytes ?? Number.NaN;
    kept.shown.write(sample);
    if (sample.memoryLimitBytes === undefined) kept.shown.set(PLACE.memoryLimitBytes, memoryLimit);
    kept.counters.apply(kept.shown, mayReset, receivedAt);
    this.#source = source;
    this.#receivedAt = receivedAt;
    this.#measuredFrom = measuredFrom;
    this.#noteStart(next, verdict.restarted);
  }

  #newest(shown: SampleSlot): Observation | undefined {
    if (this.#source === undefined) return undefined;
    const uptimeMs = shown.get(PLACE.uptimeMs);
    return {
      state: shown.state,
      uptimeMs: Number.isNaN(uptimeMs) ? undefined : uptimeMs,
      source: this.#source,
      receivedAt: this.#receivedAt,
      measuredFrom: this.#measuredFrom,
    };
  }

  #followPower(previous: Observation | undefined, next: Observation, restarted: boolean): void {
    const now = next.receivedAt;
    const { state, uptimeMs } = next;
    const before = { state: this.#power.state, starts: this.#power.starts };
    if (state !== undefined) {
      if (next.source === 'socket') this.#power.seenOnSocket(state, now);
      else this.#power.seenByPoll(state, now);
    }
    const counted = this.#power.starts > before.starts;
    if (
      !counted &&
      previous !== undefined &&
      state !== undefined &&
      !isOff(state) &&
      uptimeMs !== undefined
    ) {
      const startedAt = now - uptimeMs;
      const isNew = startedAt > this.#lastStartAt + SAME_START_MS;
      const cameOn = isOff(before.state) && !this.#power.runCounted && uptimeMs > 0;
      if (isNew && (restarted || cameOn)) this.#power.startedUnseen();
    }
    if (this.#power.starts > before.starts) this.#lastStartAt = now;
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

  /** `previous` is undefined where no rate follows from it. */
  #notePeaks(peaks: PeakWindow, sample: Sample, previous: Observation | undefined, next: Observation): void {
    const gapMs = previous?.source === 'socket' ? gapBetween(previous, next) : undefined;
    peaks.add(
      next.receivedAt,
      sample.cpuCores ?? Number.NaN,
      sample.memoryBytes ?? Number.NaN,
      rate(this.#receivedBytes, sample.networkReceiveBytes, gapMs),
      rate(this.#transmittedBytes, sample.networkTransmitBytes, gapMs),
    );
  }
}

/** Bytes a second between two values of a counter; NaN where none follows. */
function rate(from: number, to: number | undefined, gapMs: number | undefined): number {
  if (gapMs === undefined || to === undefined || !(to >= from)) return Number.NaN;
  return ((to - from) * 1_000) / gapMs;
}

/** Milliseconds between two frames, by the server's own clock where it tells; undefined where no rate follows. */
function gapBetween(previous: Observation, next: Observation): number | undefined {
  const before = previous.uptimeMs;
  const after = next.uptimeMs;
  const gap =
    before !== undefined && after !== undefined && after > before
      ? after - before
      : next.receivedAt - previous.receivedAt;
  return gap >= MIN_RATE_GAP_MS && gap <= MAX_RATE_GAP_MS ? gap : undefined;
}
