import {
  CHART_SERIES,
  isCrash,
  type LastStop,
  POINTS,
  type RecentHistory,
  STEP_SECONDS,
  type StateChange,
  type WallClock,
} from '../domain/reading.ts';
import { isOff, type Sample, type ServerState } from '../domain/server.ts';
import { STRIP_POINTS, STRIP_STATES, stripText } from '../domain/state-strip.ts';
import { LOOP_SECONDS, SATURATED_WINDOW_SECONDS } from '../domain/troubles.ts';

const SECOND_MS = 1_000;
const STEP_MS = STEP_SECONDS * SECOND_MS;
const STRIP_STEP_MS = 120_000;

/** How long a peak is remembered, at least; at most one step longer. */
const PEAK_WINDOW_MS = 60_000;
const PEAK_STEPS = PEAK_WINDOW_MS / STEP_MS + 1;
const PEAKS = ['cpu', 'memory'] as const;

/** The rings of the two hours: the worst state, the seconds in each known state, and those at the CPU limit. */
const [WORST, SATURATED] = [0, STRIP_STATES.length];
const STRIP_RINGS = SATURATED + 1;

/** Few enough that the histories of removed servers keep little memory from being freed. */
const SERVERS_PER_CHUNK = 16;

/** Rings of so many steps of several servers, in one array. */
class Rings {
  readonly #values: Float32Array | Float64Array | Uint8Array;
  readonly #perServer: number;
  readonly #steps: number;

  constructor(
    create: Float32ArrayConstructor | Float64ArrayConstructor | Uint8ArrayConstructor,
    perServer: number,
    steps: number,
  ) {
    // In an array of bytes, NaN becomes 0.
    this.#values = new create(SERVERS_PER_CHUNK * perServer * steps).fill(Number.NaN);
    this.#perServer = perServer;
    this.#steps = steps;
  }

  read(server: number, ring: number, step: number): number {
    return this.#values[this.#placeOf(server, ring, step)] ?? Number.NaN;
  }

  write(server: number, ring: number, step: number, value: number): void {
    this.#values[this.#placeOf(server, ring, step)] = value;
  }

  /** Writes the steps after the last one, up to another; there is no last one if it is negative. */
  extend(server: number, ring: number, last: number, to: number, valueAt: (step: number) => number): void {
    for (let step = Math.max(last + 1, to - this.#steps + 1); step <= to; step += 1) {
      this.write(server, ring, step, valueAt(step));
    }
  }

  #placeOf(server: number, ring: number, step: number): number {
    return (server * this.#perServer + ring) * this.#steps + (step % this.#steps);
  }
}

/** The rings of several histories: with arrays of its own, each of 10,000 servers would need about 300 more bytes. */
class Chunk {
  /** Of the last five minutes; 32 bits are enough for a chart. */
  readonly points = new Rings(Float32Array, CHART_SERIES.length, POINTS);
  readonly peaks = new Rings(Float64Array, PEAKS.length, PEAK_STEPS);
  /** Of the last two hours. */
  readonly strip = new Rings(Uint8Array, STRIP_RINGS, STRIP_POINTS);
  taken = 0;
}

let newest = new Chunk();

/** Before the first sample. */
const NO_STEP = -1;

/** The network counters of a sample at an instant; NaN if unknown. */
const NO_MARK = { at: Number.NaN, received: Number.NaN, sent: Number.NaN };

/** The number of state changes, and of unwanted stops, kept per server. */
const MAX_KEPT = 20;

/** A stop and the state change that shows it are at most this far apart. */
const SAME_STOP_MS = 2_000;

/** The places of the states in a strip. */
const SHOWN: Readonly<Record<ServerState | 'down', number>> = {
  running: STRIP_STATES.indexOf('running'),
  starting: STRIP_STATES.indexOf('changing'),
  stopping: STRIP_STATES.indexOf('changing'),
  offline: STRIP_STATES.indexOf('off'),
  down: STRIP_STATES.indexOf('down'),
  unknown: 0,
};

/** The server changed to another state at a monotonic instant. */
type Change = Pick<LastStop, 'at'> & Partial<LastStop> & { readonly state: ServerState };

/**
 * The last two hours of one server, written as its samples arrive. Everything that is shown of its past is a view of them: charts,
 * peaks, network rates, the strip of its states with the time in each, and its state changes and unwanted stops. Instants are
 * monotonic milliseconds; NaN stands for unknown.
 */
export class ServerHistory {
  readonly #rings: Chunk;
  /** The server's place in them. */
  readonly #place: number;
  /** Has the game ever responded? */
  #hasPlayers = false;
  /** The newest step of five seconds, and of two minutes; whole numbers, which V8 reads an array by faster. */
  #step = NO_STEP;
  #stripStep = NO_STEP;
  /** The state in the strip, and the second up to which time was counted. */
  #shown = 0;
  #countedTo = Number.NaN;
  /** What is known now counts as known until this instant. */
  #freshUntil = Number.NEGATIVE_INFINITY;
  /** Undefined before the first known state, which isn't a change. */
  #state: ServerState | undefined;
  #changes: readonly Change[] = [];
  #unwanted: readonly LastStop[] = [];
  /** The network counters at the last two points; both unknown after a gap. */
  #older = NO_MARK;
  #newer = NO_MARK;

  constructor() {
    if (newest.taken === SERVERS_PER_CHUNK) newest = new Chunk();
    this.#rings = newest;
    this.#place = newest.taken;
    newest.taken += 1;
  }

  /**
   * Records an accepted sample, the state that it shows, and whether the server is off although it should run; without a newer
   * sample, nothing is known after `freshForMs`. `players` is undefined unless the game is queried and responds; the server was at its
   * CPU limit for `saturatedMs` up to now.
   */
  sampled(
    sample: Sample,
    state: ServerState,
    isDown: boolean,
    freshForMs: number,
    players: number | undefined,
    saturatedMs: number,
  ): void {
    const now = sample.receivedAt;
    if (now > this.#freshUntil) this.#endGap();
    this.seen(state, now, isDown);
    const step = Math.floor(now / STEP_MS);
    if (step !== this.#step) this.#addPoint(sample, step, players);
    this.#freshUntil = now + freshForMs;
    // In whole seconds, which the steps of the strip count.
    const seconds = Math.floor(now / SECOND_MS) - Math.floor((now - saturatedMs) / SECOND_MS);
    if (seconds > 0) this.#count(SATURATED, this.#stripStep, seconds);
    if (sample.source !== 'socket') return;
    this.#raise('cpu', sample.cpuCores);
    this.#raise('memory', sample.memoryBytes);
  }

  /** Records the state that an event shows while samples are fresh. */
  seen(state: ServerState, now: number, isDown: boolean): void {
    this.#seeInStrip(isDown ? SHOWN.down : SHOWN[state], now);
    if (state === this.#state) return;
    const last = this.#changes.at(-1);
    // A stop that was decided at once precedes the state that it led to.
    if (isOff(state) && last?.at === now && isOff(last.state)) {
      this.#changes = [...this.#changes.slice(0, -1), { ...last, state }];
    } else if (this.#state !== undefined) this.#change({ at: now, state });
    this.#state = state;
  }

  /** Records a stop whose reason is decided. */
  stopped({ at, reason, exitCode }: LastStop): void {
    const stop = { at, reason, exitCode };
    if (isCrash(reason)) this.#worsen(Math.floor(at / STRIP_STEP_MS), SHOWN.down);
    if (isCrash(reason) || reason === 'unknown') this.#unwanted = [...this.#unwanted, stop].slice(-MAX_KEPT);
    const place = this.#changes.findLastIndex(
      (change) =>
        isOff(change.state) && change.reason === undefined && Math.abs(change.at - at) <= SAME_STOP_MS,
    );
    const shown = this.#changes[place];
    if (shown !== undefined) {
      this.#changes = this.#changes.with(place, { ...shown, ...stop, at: shown.at });
      return;
    }
    const before = this.#changes.filter((change) => change.at <= at);
    const after = this.#changes.slice(before.length);
    this.#changes = [...before, { ...stop, state: 'offline' as const }, ...after].slice(-MAX_KEPT);
    if (after.length === 0) this.#state = 'offline';
  }

  /** The unwanted and unexplained stops of the last hour, oldest first. */
  unwantedStops(now: number): readonly LastStop[] {
    return this.#unwanted.filter(({ at }) => now - at < LOOP_SECONDS * SECOND_MS);
  }

  /**
   * Bytes per second from the second last point up to this sample; NaN if unknown. A rate over one second would jump, and a polled
   * server's counters don't change between polls.
   */
  rate(of: 'received' | 'sent', bytes: number, sampledAt: number): number {
    const from = Number.isNaN(this.#older.at) ? this.#newer : this.#older;
    return bytes >= this.#newer[of] && sampledAt > from.at && bytes >= from[of]
      ? ((bytes - from[of]) * SECOND_MS) / (sampledAt - from.at)
      : Number.NaN;
  }

  /** The highest one-second value of the last minute; NaN if there was none. */
  peak(of: (typeof PEAKS)[number], now: number): number {
    const ring = PEAKS.indexOf(of);
    let highest = Number.NaN;
    const first = Math.max(0, Math.floor(now / STEP_MS) - PEAK_STEPS + 1);
    for (let step = first; step <= this.#step; step += 1) {
      const value = this.#rings.peaks.read(this.#place, ring, step);
      if (!(highest >= value) && !Number.isNaN(value)) highest = value;
    }
    return highest;
  }

  /** The share of the last ten minutes at the CPU limit. */
  cpuSaturatedShare(now: number): number {
    const end = Math.floor(now / STRIP_STEP_MS);
    const first = end - (SATURATED_WINDOW_SECONDS * SECOND_MS) / STRIP_STEP_MS;
    let seconds = (1 + end - now / STRIP_STEP_MS) * this.#stripAt(SATURATED, first);
    for (let step = first + 1; step <= end; step += 1) seconds += this.#stripAt(SATURATED, step);
    return seconds / SATURATED_WINDOW_SECONDS;
  }

  /** The states of the last two hours, in the form of `stripText`; empty before the first. */
  strip(now: number): string {
    if (this.#stripStep === NO_STEP) return '';
    const end = Math.floor(now / STRIP_STEP_MS);
    const worst: number[] = [];
    const seconds = STRIP_STATES.map(() => 0);
    // A viewer of the page reads all strips every second, so there is one pass without closures.
    for (let step = end - STRIP_POINTS + 1; step <= end; step += 1) {
      worst.push(step > this.#stripStep ? this.#laterState(step) : this.#stripAt(WORST, step));
      for (let state = WORST + 1; state < SATURATED; state += 1) {
        seconds[state] = (seconds[state] ?? 0) + this.#stripAt(state, step);
      }
    }
    return stripText(worst, seconds);
  }

  /** The last minutes as of this instant; `isFresh` tells whether the newest sample is. */
  read(now: number, isFresh: boolean, clock: WallClock): RecentHistory {
    const end = Math.floor(now / STEP_MS);
    const last = isFresh ? end : Math.min(end, this.#step);
    const series = CHART_SERIES.map((name, ring) => {
      const steps = Array.from({ length: POINTS }, (_, index) => end - POINTS + 1 + index);
      return [name, steps.map((step) => (step > last ? null : this.#valueAt(ring, step)))] as const;
    });
    return {
      end_timestamp_seconds: Math.round(clock.toUnixMs(end * STEP_MS) / SECOND_MS),
      series: Object.fromEntries(series.filter(([name]) => name !== 'players' || this.#hasPlayers)),
      state_changes: this.#changesAt(now, isFresh).map((change) => shown(change, clock)),
    };
  }

  #seeInStrip(state: number, now: number): void {
    const step = Math.floor(now / STRIP_STEP_MS);
    const isNewStep = step !== this.#stripStep;
    if (isNewStep) this.#advanceStrip(step);
    this.#countTo(Math.floor(now / SECOND_MS));
    // Nearly every sample shows the same state as the one before.
    if (!isNewStep && state === this.#shown) return;
    this.#shown = state;
    this.#worsen(step, state);
  }

  #advanceStrip(step: number): void {
    for (let ring = 0; ring < STRIP_RINGS; ring += 1) {
      const valueAt = (next: number) => (ring === WORST ? this.#laterState(next) : 0);
      this.#rings.strip.extend(this.#place, ring, this.#stripStep, step, valueAt);
    }
    this.#stripStep = step;
  }

  /** Counts the time since the last call as spent in the state that was seen then, as long as that was fresh. */
  #countTo(second: number): void {
    const end = Math.min(second, Math.floor(this.#freshUntil / SECOND_MS));
    for (let next = this.#countedTo; next < end; next += 1) {
      if (this.#shown > 0) this.#count(this.#shown, Math.floor((next * SECOND_MS) / STRIP_STEP_MS), 1);
    }
    this.#countedTo = second;
  }

  #count(ring: number, step: number, seconds: number): void {
    if (this.#keeps(step))
      this.#rings.strip.write(this.#place, ring, step, this.#stripAt(ring, step) + seconds);
  }

  #worsen(step: number, state: number): void {
    if (!this.#keeps(step)) return;
    this.#rings.strip.write(this.#place, WORST, step, Math.max(this.#stripAt(WORST, step), state));
  }

  #keeps(step: number): boolean {
    return step >= 0 && step <= this.#stripStep && step > this.#stripStep - STRIP_POINTS;
  }

  #stripAt(ring: number, step: number): number {
    return this.#keeps(step) ? this.#rings.strip.read(this.#place, ring, step) : 0;
  }

  /** The state at the start of a step after the last one that was recorded. */
  #laterState(step: number): number {
    return step * STRIP_STEP_MS <= this.#freshUntil ? this.#shown : 0;
  }

  #addPoint(sample: Sample, step: number, players: number | undefined): void {
    const { receivedAt: at, networkReceiveBytes: received, networkTransmitBytes: sent } = sample;
    const { points, peaks } = this.#rings;
    const values = [
      sample.cpuCores,
      sample.memoryBytes,
      this.rate('received', received, at),
      this.rate('sent', sent, at),
      players ?? Number.NaN,
    ];
    for (const [ring, value] of values.entries()) {
      const last = points.read(this.#place, ring, this.#step);
      // The last value is repeated while it was fresh; the steps after that are unknown.
      const valueAt = (next: number) => (next * STEP_MS <= this.#freshUntil ? last : Number.NaN);
      points.extend(this.#place, ring, this.#step, step, valueAt);
      points.write(this.#place, ring, step, value);
    }
    for (const ring of PEAKS.keys()) peaks.extend(this.#place, ring, this.#step, step, () => Number.NaN);
    this.#step = step;
    this.#hasPlayers ||= players !== undefined;
    // Counters that decreased were reset, so the mark before is useless.
    const isReset = received < this.#newer.received || sent < this.#newer.sent;
    this.#older = isReset ? NO_MARK : this.#newer;
    this.#newer = { at, received, sent };
  }

  #raise(of: (typeof PEAKS)[number], value: number): void {
    const [{ peaks }, ring] = [this.#rings, PEAKS.indexOf(of)];
    // The comparison is false for NaN on either side: an unknown peak is replaced by any value, and a missing value replaces
    // nothing.
    if (!(peaks.read(this.#place, ring, this.#step) >= value) && !Number.isNaN(value)) {
      peaks.write(this.#place, ring, this.#step, value);
    }
  }

  /** The value of a chart at a step, up to now: the last point applies until the next one while it is fresh. */
  #valueAt(ring: number, step: number): number | null {
    if (step > this.#step && step * STEP_MS > this.#freshUntil) return null;
    const at = Math.min(step, this.#step);
    const isKept = at >= 0 && at > this.#step - POINTS;
    const value = isKept ? this.#rings.points.read(this.#place, ring, at) : Number.NaN;
    // A 32-bit float holds seven digits, and a chart shows fewer.
    return Number.isNaN(value) ? null : Number(value.toPrecision(6));
  }

  /** A rate can't span a gap. */
  #endGap(): void {
    this.#older = NO_MARK;
    this.#newer = NO_MARK;
    if (this.#state === undefined || this.#state === 'unknown') return;
    this.#change({ at: this.#freshUntil, state: 'unknown' });
    this.#state = 'unknown';
  }

  #changesAt(now: number, isFresh: boolean): readonly Change[] {
    const isLost = !isFresh && this.#state !== undefined && this.#state !== 'unknown';
    if (!isLost) return this.#changes;
    const lost = { at: Math.min(now, this.#freshUntil), state: 'unknown' as const };
    return [...this.#changes, lost].slice(-MAX_KEPT);
  }

  #change(change: Change): void {
    this.#changes = [...this.#changes, change].slice(-MAX_KEPT);
  }
}

function shown({ at, state, reason, exitCode }: Change, clock: WallClock): StateChange {
  return {
    timestamp_seconds: Math.round(clock.toUnixMs(at) / SECOND_MS),
    state,
    reason,
    exit_code: exitCode,
  };
}
