// The last two hours of one server, updated with each sample.

import type { Clock } from '../domain/clock.ts';
import type { KeptStop, KeptStrip } from '../domain/kept-server.ts';
import { isOff, type ServerState } from '../domain/power-states.ts';
import {
  CHART_SERIES,
  MAX_CHANGES_KEPT,
  POINTS,
  type RecentHistory,
  type StateChange,
} from '../domain/recent-history.ts';
import type { Sample } from '../domain/sample.ts';
import { isCrash, type LastStop } from '../domain/stops.ts';
import type { Strip } from '../domain/strip.ts';
import { LOOP_SECONDS } from '../domain/thresholds.ts';
import { SECOND_MS } from '../domain/units.ts';
import { type Chunk, NO_PEAK, nextPlace, PEAK_STEPS, PEAKS, STEP_MS } from './history-rings.ts';
import { keepStop, restoreStop } from './kept-power.ts';
import { ServerStrip } from './server-strip.ts';

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

/** A stop, perhaps without a decided reason. */
type Stopped = Pick<LastStop, 'at'> & Partial<LastStop>;

/** A change of the state, at a monotonic instant. */
type Change = Stopped & { readonly state: ServerState };

/**
 * The last two hours of one server, updated with each sample. Charts, peaks, rates, the strip,
 * state changes and unwanted stops are derived from it. Instants are monotonic milliseconds; NaN
 * means unknown.
 */
export class ServerHistory {
  readonly #rings: Chunk;
  /** The server's place in the rings. */
  readonly #place: number;
  readonly #strip: ServerStrip;
  /**
   * The newest step of the points. Samples within a step don't change the rings, which many servers
   * share.
   */
  #pointStep = NO_STEP;
  /** The peak in the newest step of the points. */
  #cpuPeak = NO_PEAK;
  #memoryPeak = NO_PEAK;
  /** Whether the game has ever responded. */
  #hasPlayers = false;
  /** The newest known state. The first one isn't a change. */
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
    this.#strip = new ServerStrip(rings.strip, place);
  }

  /**
   * Records an accepted sample, and whether the server is down. After `freshForMs` without another
   * sample, nothing is known. `players` is undefined unless the game responds. `saturatedMs` is the
   * time at the CPU limit since the previous sample.
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
    if (now > this.#strip.knownUntil) this.#endGap();
    this.seen(state, now, isDown);
    const step = Math.floor(now / STEP_MS);
    if (step !== this.#pointStep) this.#addPoint(sample, step, players);
    this.#strip.knownUntil = now + freshForMs;
    this.#strip.saturated(now, saturatedMs);
    if (sample.source !== 'socket') return;
    // A missing value is NaN, for which the comparison is false.
    if (sample.cpuCores > this.#cpuPeak) this.#cpuPeak = sample.cpuCores;
    if (sample.memoryBytes > this.#memoryPeak) this.#memoryPeak = sample.memoryBytes;
  }

  /** Records the state in an event while samples are fresh. */
  seen(state: ServerState, now: number, isDown: boolean): void {
    this.#strip.seen(isDown ? 'down' : state, now);
    if (state === this.#state) return;
    if (this.#state === undefined) this.#state = state;
    else this.#change({ at: now, state });
  }

  /** Records a stop, however brief. It is called again with the reason once that is decided. */
  stopped({ at, reason, exitCode, whileDown }: Stopped): void {
    const isThis = (change: Change) => change.at === at && isOff(change.state);
    if (!this.#changes.some(isThis)) this.#change({ at, state: 'offline' });
    if (reason === undefined) return;
    const stop = { at, reason, exitCode, whileDown };
    this.#changes = this.#changes.map((change) => (isThis(change) ? { ...change, ...stop } : change));
    if (isCrash(reason)) this.#strip.crashed(at);
    if (reason !== 'requested') this.#unwanted = [...this.#unwanted, stop].slice(-MAX_CHANGES_KEPT);
  }

  /** The stops of the last hour that nobody requested, oldest first. */
  unwantedStops(now: number): readonly LastStop[] {
    return this.#unwanted.filter(({ at }) => now - at < LOOP_SECONDS * SECOND_MS);
  }

  /**
   * Bytes per second from the second last point to this sample; NaN if unknown. A rate over one
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

  /**
   * The states of the last two hours and the unwanted stops of the last hour, with their age at
   * this instant.
   */
  keep(
    now: number,
    at: number,
  ): { readonly strip?: KeptStrip; readonly unwantedStops?: readonly KeptStop[] } {
    const stops = this.unwantedStops(now).map((stop) => keepStop(stop, at));
    const unwantedStops = stops.length === 0 ? undefined : stops;
    return { unwantedStops, strip: this.#strip.keep(now, at) };
  }

  /**
   * Restores a history that was kept at an earlier instant. Nothing is known of the time between.
   */
  restore({ strip, unwantedStops = [] }: ReturnType<ServerHistory['keep']>, at: number, now: number): void {
    this.#unwanted = unwantedStops.map((stop) => restoreStop(stop, at));
    if (strip !== undefined) this.#strip.restore(strip, at, now);
  }

  /** The states of the last two hours; undefined before the first. */
  strip(now: number): Strip | undefined {
    return this.#strip.read(now);
  }

  /** The share of the last ten minutes at the CPU limit. */
  cpuSaturatedShare(now: number): number {
    return this.#strip.saturatedShare(now);
  }

  /** The last minutes as of this instant. `isFresh` is whether the newest sample is fresh. */
  read(now: number, isFresh: boolean, clock: Pick<Clock, 'toUnixMs'>): RecentHistory {
    const end = Math.floor(now / STEP_MS);
    const newest = this.#pointStep;
    // While the last point is fresh, it applies until the next one.
    const last = isFresh ? Math.max(newest, Math.floor(this.#strip.knownUntil / STEP_MS)) : newest;
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

  // Without arrays and closures, because 10,000 servers add 2,000 points per second.
  #addPoint(sample: Sample, step: number, players: number | undefined): void {
    const { points, peaks } = this.#rings;
    const place = this.#place;
    points.begin(place, this.#pointStep, step, Math.floor(this.#strip.knownUntil / STEP_MS));
    // In the order of the chart's series.
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
    // A counter that decreased was reset, so the previous mark is useless.
    const isReset =
      sample.networkReceiveBytes < this.#newer.networkReceiveBytes ||
      sample.networkTransmitBytes < this.#newer.networkTransmitBytes;
    // The oldest mark's object is reused. A new object every five seconds would live until a
    // collection of the whole heap.
    const mark = this.#older;
    this.#older = isReset ? noMark() : this.#newer;
    this.#newer = mark;
    mark.receivedAt = sample.receivedAt;
    mark.networkReceiveBytes = sample.networkReceiveBytes;
    mark.networkTransmitBytes = sample.networkTransmitBytes;
  }

  /** Ends the rate, which can't span a gap. */
  #endGap(): void {
    this.#older = noMark();
    this.#newer = noMark();
    if (this.#isKnown) this.#change({ at: this.#strip.knownUntil, state: 'unknown' });
  }

  /** Is the state known at the newest sample? */
  get #isKnown(): boolean {
    return this.#state !== undefined && this.#state !== 'unknown';
  }

  #changesAt(now: number, isFresh: boolean): readonly Change[] {
    if (isFresh || !this.#isKnown) return this.#changes;
    return [...this.#changes, { at: Math.min(now, this.#strip.knownUntil), state: 'unknown' }];
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
