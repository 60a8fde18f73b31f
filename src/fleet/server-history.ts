// The last two hours of one server, written as its samples arrive.

import type { KeptStop, KeptStrip } from '../domain/kept.ts';
import {
  CHART_SERIES,
  isCrash,
  type LastStop,
  MAX_CHANGES_KEPT,
  POINTS,
  type RecentHistory,
  STRIP_POINTS,
  STRIP_STATES,
  type StateChange,
  type Strip,
} from '../domain/reading.ts';
import { isOff, type Sample, type ServerState } from '../domain/server.ts';
import { LOOP_SECONDS, SATURATED_WINDOW_SECONDS } from '../domain/thresholds.ts';
import type { Clock } from '../domain/time.ts';
import {
  type Chunk,
  NO_PEAK,
  nextPlace,
  PEAK_STEPS,
  PEAKS,
  SATURATED,
  SECOND_MS,
  STEP_MS,
} from './history-rings.ts';
import { keepStop, restoreStop } from './restart.ts';
import { packSteps, unpackSteps } from './strip-steps.ts';

const STRIP_STEP_MS = 120_000;

/**
 * The rings of the two hours that are kept over a restart: those of the known states, and of the
 * time at the CPU limit.
 */
const KEPT_RINGS = Array.from({ length: SATURATED }, (_, index) => index + 1);

/** The newest step before the first sample. */
const NO_STEP = -1;

export type NetworkCounter = 'networkReceiveBytes' | 'networkTransmitBytes';

/** The network counters of a sample; NaN if unknown. */
type Mark = Pick<Sample, 'receivedAt' | NetworkCounter>;

const noMark = () => ({
  receivedAt: Number.NaN,
  networkReceiveBytes: Number.NaN,
  networkTransmitBytes: Number.NaN,
});

/** The places of the states in a strip. */
const SHOWN: Readonly<Record<ServerState | 'down', number>> = {
  running: STRIP_STATES.indexOf('running'),
  starting: STRIP_STATES.indexOf('changing'),
  stopping: STRIP_STATES.indexOf('changing'),
  offline: STRIP_STATES.indexOf('off'),
  down: STRIP_STATES.indexOf('down'),
  unknown: 0,
};

/** A stop whose reason may not be decided yet. */
type Stopped = Pick<LastStop, 'at'> & Partial<LastStop>;

/** The server changed to another state at a monotonic instant. */
type Change = Stopped & { readonly state: ServerState };

/**
 * The last two hours of one server, written as its samples arrive. Everything that is shown of its
 * past is a view of them: charts, peaks, network rates, the strip of its states with the time in
 * each, and its state changes and unwanted stops. Instants are monotonic milliseconds; NaN stands
 * for unknown.
 */
export class ServerHistory {
  readonly #rings: Chunk;
  /** The server's place in them. */
  readonly #place: number;
  /**
   * The newest steps of the points and of the strip. Samples within a step don't touch the rings,
   * which many servers share.
   */
  #pointStep = NO_STEP;
  #stripStep = NO_STEP;
  /** The highest values in the newest step of the points. */
  #cpuPeak = NO_PEAK;
  #memoryPeak = NO_PEAK;
  /** Has the game ever responded? */
  #hasPlayers = false;
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
  #older = noMark();
  #newer = noMark();

  constructor() {
    const { rings, place } = nextPlace();
    this.#rings = rings;
    this.#place = place;
  }

  /**
   * Records an accepted sample, the state that it shows, and whether the server is off although it
   * should run; without a newer sample, nothing is known after `freshForMs`. `players` is undefined
   * unless the game is queried and responds; the server was at its CPU limit for `saturatedMs` up
   * to now.
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
    if (step !== this.#pointStep) this.#addPoint(sample, step, players);
    this.#freshUntil = now + freshForMs;
    // In whole seconds, which the steps of the strip count.
    const seconds = Math.floor(now / SECOND_MS) - Math.floor((now - saturatedMs) / SECOND_MS);
    if (seconds > 0) this.#add(SATURATED, this.#stripStep, seconds);
    if (sample.source !== 'socket') return;
    // False for NaN: a missing value replaces nothing.
    if (sample.cpuCores > this.#cpuPeak) this.#cpuPeak = sample.cpuCores;
    if (sample.memoryBytes > this.#memoryPeak) this.#memoryPeak = sample.memoryBytes;
  }

  /** Records the state that an event shows while samples are fresh. */
  seen(state: ServerState, now: number, isDown: boolean): void {
    this.#seeInStrip(isDown ? SHOWN.down : SHOWN[state], now);
    if (state === this.#state) return;
    if (this.#state === undefined) this.#state = state;
    else this.#change({ at: now, state });
  }

  /** Records a stop, however brief; again, too, with its reason once that is decided. */
  stopped({ at, reason, exitCode, whileDown }: Stopped): void {
    const isThis = (change: Change) => change.at === at && isOff(change.state);
    if (!this.#changes.some(isThis)) this.#change({ at, state: 'offline' });
    if (reason === undefined) return;
    const stop = { at, reason, exitCode, whileDown };
    this.#changes = this.#changes.map((change) => (isThis(change) ? { ...change, ...stop } : change));
    if (isCrash(reason)) this.#add(SHOWN.down, Math.floor(at / STRIP_STEP_MS), 0);
    if (reason !== 'requested') this.#unwanted = [...this.#unwanted, stop].slice(-MAX_CHANGES_KEPT);
  }

  /** The stops of the last hour that nobody requested, oldest first. */
  unwantedStops(now: number): readonly LastStop[] {
    return this.#unwanted.filter(({ at }) => now - at < LOOP_SECONDS * SECOND_MS);
  }

  /**
   * Bytes per second from the second last point up to this sample; NaN if unknown. A rate over one
   * second would jump, and a polled server's counters don't change between polls.
   */
  rate(of: NetworkCounter, sample: Mark): number {
    const from = Number.isNaN(this.#older.receivedAt) ? this.#newer : this.#older;
    const passedMs = sample.receivedAt - from.receivedAt;
    const isKnown = sample[of] >= this.#newer[of] && passedMs > 0;
    return isKnown ? ((sample[of] - from[of]) * SECOND_MS) / passedMs : Number.NaN;
  }

  /** The highest one-second value of the last minute; undefined if there was none. */
  peak(of: (typeof PEAKS)[number], now: number): number | undefined {
    const { peaks } = this.#rings;
    const end = Math.floor(now / STEP_MS);
    const first = end - PEAK_STEPS + 1;
    let highest = this.#pointStep < first ? NO_PEAK : of === 'cpu' ? this.#cpuPeak : this.#memoryPeak;
    for (let step = first; step < this.#pointStep; step += 1) {
      highest = Math.max(highest, peaks.read(this.#place, PEAKS.indexOf(of), step));
    }
    return Number.isFinite(highest) ? highest : undefined;
  }

  /** The share of the last ten minutes at the CPU limit. */
  cpuSaturatedShare(now: number): number {
    const end = Math.floor(now / STRIP_STEP_MS);
    const first = end - (SATURATED_WINDOW_SECONDS * SECOND_MS) / STRIP_STEP_MS;
    let seconds = 0;
    for (let step = first; step <= Math.min(end, this.#stripStep); step += 1) {
      const share = step === first ? 1 + end - now / STRIP_STEP_MS : 1;
      seconds += share * Math.max(0, this.#rings.strip.read(this.#place, SATURATED, step) - 1);
    }
    return seconds / SATURATED_WINDOW_SECONDS;
  }

  /**
   * The states of the last two hours, and the unwanted stops of the last hour, by their age at this
   * instant.
   */
  keep(
    now: number,
    at: number,
  ): { readonly strip?: KeptStrip; readonly unwantedStops?: readonly KeptStop[] } {
    const stops = this.unwantedStops(now).map((stop) => keepStop(stop, at));
    const unwantedStops = stops.length === 0 ? undefined : stops;
    if (this.#stripStep === NO_STEP) return { unwantedStops };
    this.#countTo(now);
    const { strip } = this.#rings;
    const end = this.#stripStep;
    const steps = packSteps(STRIP_POINTS, KEPT_RINGS, (ring, step) =>
      strip.read(this.#place, ring, end - STRIP_POINTS + 1 + step),
    );
    return { unwantedStops, strip: { ago: Math.round(at - end * STRIP_STEP_MS), steps } };
  }

  /** Restores what was kept at an instant before this one; nothing is known of the time between. */
  restore({ strip, unwantedStops = [] }: ReturnType<ServerHistory['keep']>, at: number, now: number): void {
    this.#unwanted = unwantedStops.map((stop) => restoreStop(stop, at));
    if (strip === undefined) return;
    this.#countTo(now);
    // The steps of the exporter before began at other instants.
    const newest = Math.min(Math.round((at - strip.ago) / STRIP_STEP_MS), this.#stripStep);
    const shift = newest - STRIP_POINTS + 1;
    unpackSteps(strip.steps, STRIP_POINTS, KEPT_RINGS, (ring, step, value) => {
      const to = shift + step;
      if (to > this.#stripStep - STRIP_POINTS)
        this.#rings.strip.write(this.#place, ring, to, Math.min(value, STRIP_STEP_MS / SECOND_MS + 1));
    });
  }

  /** The states of the last two hours; undefined before the first. */
  strip(now: number): Strip | undefined {
    const { strip } = this.#rings;
    if (this.#stripStep === NO_STEP) return undefined;
    this.#countTo(now);
    const end = this.#stripStep;
    const worst: number[] = [];
    const seconds = STRIP_STATES.map(() => 0);
    // A viewer of the page reads all strips every second, so there is one pass without closures.
    for (let step = end - STRIP_POINTS + 1; step <= end; step += 1) {
      let most = 0;
      for (let state = 1; state < STRIP_STATES.length; state += 1) {
        const seen = strip.read(this.#place, state, step);
        if (seen === 0) continue;
        most = state;
        seconds[state] = (seconds[state] ?? 0) + seen - 1;
      }
      worst.push(most);
    }
    return { worst, seconds };
  }

  /** The last minutes as of this instant; `isFresh` tells whether the newest sample is. */
  read(now: number, isFresh: boolean, clock: Pick<Clock, 'toUnixMs'>): RecentHistory {
    const end = Math.floor(now / STEP_MS);
    const newest = this.#pointStep;
    // The last point applies until the next one while it is fresh.
    const last = isFresh ? Math.max(newest, Math.floor(this.#freshUntil / STEP_MS)) : newest;
    const pointAt = (ring: number, step: number) => {
      const value = this.#rings.points.read(this.#place, ring, Math.min(step, newest));
      // A 32-bit float holds seven digits, and a chart shows fewer.
      return step > last || Number.isNaN(value) ? null : Number(value.toPrecision(6));
    };
    const steps = Array.from({ length: POINTS }, (_, index) => end - POINTS + 1 + index);
    const series = CHART_SERIES.map(
      (name, ring) => [name, steps.map((step) => pointAt(ring, step))] as const,
    );
    return {
      end_timestamp_seconds: Math.round(clock.toUnixMs(end * STEP_MS) / SECOND_MS),
      series: Object.fromEntries(series.filter(([name]) => name !== 'players' || this.#hasPlayers)),
      state_changes: this.#changesAt(now, isFresh)
        .slice(-MAX_CHANGES_KEPT)
        .map((change) => shown(change, clock)),
    };
  }

  #seeInStrip(state: number, now: number): void {
    const step = Math.floor(now / STRIP_STEP_MS);
    const isSame = state === this.#shown && now <= this.#freshUntil;
    // Nearly every sample; the time is counted later.
    if (isSame && step === this.#stripStep) return;
    this.#countTo(now);
    if (isSame) return;
    this.#shown = state;
    this.#add(state, step, 0);
  }

  /**
   * Counts the time since the last call as spent in the state that was seen then, as long as that
   * was fresh.
   */
  #countTo(now: number): void {
    const step = Math.floor(now / STRIP_STEP_MS);
    if (step !== this.#stripStep) {
      let seen = this.#stripStep + 1;
      this.#rings.strip.begin(this.#place, this.#stripStep, step);
      this.#stripStep = step;
      for (; seen <= step && seen * STRIP_STEP_MS <= this.#freshUntil; seen += 1)
        this.#add(this.#shown, seen, 0);
    }
    const second = Math.floor(now / SECOND_MS);
    const end = Math.min(second, Math.floor(this.#freshUntil / SECOND_MS));
    for (let next = this.#countedTo; next < end; next += 1) {
      this.#add(this.#shown, Math.floor((next * SECOND_MS) / STRIP_STEP_MS), 1);
    }
    this.#countedTo = second;
  }

  /** Adds seconds to what was seen in a step, if it is still kept. */
  #add(ring: number, step: number, seconds: number): void {
    const { strip } = this.#rings;
    if (step > this.#stripStep || step <= this.#stripStep - STRIP_POINTS) return;
    strip.write(this.#place, ring, step, Math.max(strip.read(this.#place, ring, step), 1) + seconds);
  }

  // Without lists and closures: with 10,000 servers, 2,000 points are added every second.
  #addPoint(sample: Sample, step: number, players: number | undefined): void {
    const { points, peaks } = this.#rings;
    const place = this.#place;
    points.begin(place, this.#pointStep, step, Math.floor(this.#freshUntil / STEP_MS));
    // In the order of the series.
    points.write(place, 0, step, sample.cpuCores);
    points.write(place, 1, step, sample.memoryBytes);
    points.write(place, 2, step, this.rate('networkReceiveBytes', sample));
    points.write(place, 3, step, this.rate('networkTransmitBytes', sample));
    points.write(place, 4, step, players ?? Number.NaN);
    peaks.write(place, PEAKS.indexOf('cpu'), this.#pointStep, this.#cpuPeak);
    peaks.write(place, PEAKS.indexOf('memory'), this.#pointStep, this.#memoryPeak);
    peaks.begin(place, this.#pointStep, step - 1);
    this.#cpuPeak = NO_PEAK;
    this.#memoryPeak = NO_PEAK;
    this.#pointStep = step;
    this.#hasPlayers ||= players !== undefined;
    // Counters that decreased were reset, so the mark before is useless.
    const isReset =
      sample.networkReceiveBytes < this.#newer.networkReceiveBytes ||
      sample.networkTransmitBytes < this.#newer.networkTransmitBytes;
    // The oldest mark is written over: a new one every five seconds would live until the whole heap
    // is collected.
    const mark = this.#older;
    this.#older = isReset ? noMark() : this.#newer;
    this.#newer = mark;
    mark.receivedAt = sample.receivedAt;
    mark.networkReceiveBytes = sample.networkReceiveBytes;
    mark.networkTransmitBytes = sample.networkTransmitBytes;
  }

  /** A rate can't span a gap. */
  #endGap(): void {
    this.#older = noMark();
    this.#newer = noMark();
    if (this.#isKnown) this.#change({ at: this.#freshUntil, state: 'unknown' });
  }

  /** Is the state known as of the newest sample? */
  get #isKnown(): boolean {
    return this.#state !== undefined && this.#state !== 'unknown';
  }

  #changesAt(now: number, isFresh: boolean): readonly Change[] {
    if (isFresh || !this.#isKnown) return this.#changes;
    return [...this.#changes, { at: Math.min(now, this.#freshUntil), state: 'unknown' }];
  }

  #change(change: Change): void {
    this.#changes = [...this.#changes, change].slice(-MAX_CHANGES_KEPT);
    this.#state = change.state;
  }
}

function shown(
  { at, state, reason, exitCode, whileDown }: Change,
  clock: Pick<Clock, 'toUnixMs'>,
): StateChange {
  return {
    timestamp_seconds: Math.round(clock.toUnixMs(at) / SECOND_MS),
    state,
    reason,
    exit_code: exitCode,
    while_exporter_down: whileDown,
  };
}
