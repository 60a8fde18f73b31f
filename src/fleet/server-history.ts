import {
  isCrash,
  type LastStop,
  POINTS,
  type RecentHistory,
  STEP_SECONDS,
  type StateChange,
  type WallClock,
} from '../domain/reading.ts';
import { isOff, type ServerState } from '../domain/server.ts';
import { STRIP_POINTS, StateStrip, type StripState } from '../domain/state-strip.ts';
import { LOOP_SECONDS } from '../domain/troubles.ts';
import { NumberPool } from './number-pool.ts';

/**
 * Network rates of one server over its last two chart steps: the counters at two marks are kept, and a rate spans the time from
 * the older mark to now. A rate over one second would jump, and a polled server's counters don't change between polls. NaN stands
 * for unknown.
 */
export class Traffic {
  #olderAt = Number.NaN;
  #olderReceived = Number.NaN;
  #olderSent = Number.NaN;
  #newerAt = Number.NaN;
  #newerReceived = Number.NaN;
  #newerSent = Number.NaN;

  /** Keeps a sample's counters as a mark. */
  mark(received: number, sent: number, sampledAt: number): void {
    // Counters that decreased were reset, so earlier marks are useless.
    const isReset = received < this.#newerReceived || sent < this.#newerSent;
    this.#olderAt = isReset ? Number.NaN : this.#newerAt;
    this.#olderReceived = this.#newerReceived;
    this.#olderSent = this.#newerSent;
    this.#newerAt = sampledAt;
    this.#newerReceived = received;
    this.#newerSent = sent;
  }

  /** Forgets everything, because a rate can't span a gap. */
  clear(): void {
    this.#olderAt = Number.NaN;
    this.#newerAt = Number.NaN;
  }

  /** Bytes received per second, up to this sample. */
  receiveRate(received: number, sampledAt: number): number {
    return this.#rate(received, sampledAt, this.#olderReceived, this.#newerReceived);
  }

  /** Bytes sent per second, up to this sample. */
  transmitRate(sent: number, sampledAt: number): number {
    return this.#rate(sent, sampledAt, this.#olderSent, this.#newerSent);
  }

  #rate(bytes: number, at: number, older: number, newer: number): number {
    const since = Number.isNaN(this.#olderAt) ? this.#newerAt : this.#olderAt;
    const from = Number.isNaN(this.#olderAt) ? newer : older;
    return bytes >= newer && at > since && bytes >= from
      ? ((bytes - from) * 1_000) / (at - since)
      : Number.NaN;
  }
}

const STEP_MS = STEP_SECONDS * 1_000;

/** The series kept of every server, in the order of their numbers. */
const SERIES = [
  'cpu_usage_cores',
  'memory_usage_bytes',
  'network_receive_bytes_per_second',
  'network_transmit_bytes_per_second',
] as const;

const STRIPS = new NumberPool((length) => new Uint8Array(length), STRIP_POINTS);

const RINGS = new NumberPool((length) => new Float32Array(length), SERIES.length * POINTS);

/** The number of state changes, and of unwanted stops, kept per server. */
const MAX_CHANGES = 20;
const MAX_STOPS = 20;

/** A stop and the state change that shows it are at most this far apart. */
const SAME_STOP_MS = 2_000;

const LOOP_MS = LOOP_SECONDS * 1_000;

const STRIP_STATE: Readonly<Record<ServerState, StripState>> = {
  running: 'running',
  starting: 'changing',
  stopping: 'changing',
  offline: 'off',
  unknown: 'unknown',
};

/** The server changed to another state at a monotonic instant. */
type Change = Pick<LastStop, 'at'> & Partial<LastStop> & { readonly state: ServerState };

/** A point of the charts; NaN for a value that the sample doesn't have. */
export interface Point {
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Undefined unless the game is queried and responds. */
  readonly players: number | undefined;
}

/**
 * The last minutes of one server, written as its samples arrive: a chart point every five seconds, its state changes, its
 * unwanted stops, and a strip of its states. Instants are monotonic milliseconds; NaN stands for unknown.
 */
export class HistoryRings {
  /** A ring for each series; undefined before the first point. */
  #points: Float32Array | undefined;
  /** Undefined until the game has responded. */
  #players: Float32Array | undefined;
  #lastStep = Number.NaN;
  /** What is known now counts as known until this instant. */
  #freshUntil = Number.NEGATIVE_INFINITY;
  /** Undefined before the first state. */
  #strip: StateStrip | undefined;
  /** Undefined before the first known state, which isn't a change. */
  #state: ServerState | undefined;
  #changes: readonly Change[] = [];
  readonly #traffic = new Traffic();
  lastCrash: LastStop | undefined;
  #unwanted: readonly LastStop[] = [];

  /**
   * Records the state that a sample shows, and whether the server is off although it should run; without a newer sample the state
   * is unknown after `freshUntil`.
   */
  sampled(state: ServerState, now: number, freshUntil: number, isDown: boolean): void {
    if (now > this.#freshUntil) this.#endGap();
    this.#freshUntil = freshUntil;
    this.seen(state, now, isDown);
  }

  /** Records the state that an event shows. */
  seen(state: ServerState, now: number, isDown: boolean): void {
    this.#strip ??= new StateStrip(STRIPS.take());
    this.#strip.see(isDown ? 'down' : STRIP_STATE[state], now, this.#freshUntil);
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
    if (isCrash(reason)) {
      this.lastCrash = stop;
      this.#strip?.wentDown(at);
    }
    this.#unwanted = [...this.unwantedStops(at), ...(isUnwanted(stop) ? [stop] : [])].slice(-MAX_STOPS);
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
    this.#changes = [...before, { ...stop, state: 'offline' as const }, ...after].slice(-MAX_CHANGES);
    if (after.length === 0) this.#state = 'offline';
  }

  /** The unwanted and unexplained stops of the last hour, oldest first. */
  unwantedStops(now: number): readonly LastStop[] {
    if (this.#unwanted.length === 0) return this.#unwanted;
    const isRecent = ({ at }: LastStop) => now - at < LOOP_MS;
    return this.#unwanted.every(isRecent) ? this.#unwanted : this.#unwanted.filter(isRecent);
  }

  /** Whether the step of this instant has no point yet. */
  isDue(now: number): boolean {
    return Math.floor(now / STEP_MS) !== this.#lastStep;
  }

  /** Adds the point of the current step; called after `sampled`. */
  add(point: Point, now: number, previousFreshUntil: number): void {
    const step = Math.floor(now / STEP_MS);
    this.#points ??= RINGS.take();
    const points = this.#points;
    if (point.players !== undefined) this.#players ??= new Float32Array(POINTS).fill(Number.NaN);
    this.#fill(step, previousFreshUntil);
    const at = step % POINTS;
    const { receivedBytes, sentBytes } = point;
    points[at] = point.cpuCores;
    points[at + POINTS] = point.memoryBytes;
    points[at + 2 * POINTS] = this.#traffic.receiveRate(receivedBytes, now);
    points[at + 3 * POINTS] = this.#traffic.transmitRate(sentBytes, now);
    if (this.#players !== undefined) this.#players[at] = point.players ?? Number.NaN;
    this.#traffic.mark(receivedBytes, sentBytes, now);
    this.#lastStep = step;
  }

  get freshUntil(): number {
    return this.#freshUntil;
  }

  receiveRate(receivedBytes: number, sampledAt: number): number {
    return this.#traffic.receiveRate(receivedBytes, sampledAt);
  }

  transmitRate(sentBytes: number, sampledAt: number): number {
    return this.#traffic.transmitRate(sentBytes, sampledAt);
  }

  /** The states of the last two hours, in the form of `StateStrip.read`; empty before the first. */
  readStrip(now: number): string {
    return this.#strip?.read(now) ?? '';
  }

  /** The last minutes as of this instant; `isFresh` tells whether the newest sample is. */
  read(now: number, isFresh: boolean, clock: WallClock): RecentHistory {
    const end = Math.floor(now / STEP_MS);
    const points = this.#points ?? new Float32Array(0);
    const last = isFresh ? end : Math.min(end, this.#lastStep);
    const values = (ring: Float32Array, series: number) =>
      Array.from({ length: POINTS }, (_, index) => {
        const step = end - POINTS + 1 + index;
        return step > last ? null : rounded(this.#at(ring, series, step));
      });
    return {
      end_timestamp_seconds: Math.round(clock.toUnixMs(end * STEP_MS) / 1_000),
      series: {
        ...Object.fromEntries(SERIES.map((name, series) => [name, values(points, series)])),
        ...(this.#players && { players: values(this.#players, 0) }),
      },
      state_changes: this.#changesAt(now, isFresh).map((change) => shown(change, clock)),
    };
  }

  /** The value at a step, up to now: the last point applies until the next one while it is fresh. */
  #at(ring: Float32Array, series: number, step: number): number {
    const isAfter = step > this.#lastStep;
    if (isAfter && step * STEP_MS > this.#freshUntil) return Number.NaN;
    const at = Math.min(step, this.#lastStep);
    if (at < 0 || at <= this.#lastStep - POINTS) return Number.NaN;
    return ring[series * POINTS + (at % POINTS)] ?? Number.NaN;
  }

  /** Repeats the last point until this step while it was fresh; the steps after that are unknown. */
  #fill(step: number, freshUntil: number): void {
    const last = this.#lastStep;
    for (let next = Math.max(last + 1, step - POINTS + 1); next < step; next += 1) {
      const isKnown = next * STEP_MS <= freshUntil;
      for (const ring of [this.#points, this.#players]) {
        if (ring === undefined) continue;
        for (let start = 0; start < ring.length; start += POINTS) {
          const value = isKnown ? ring[start + (last % POINTS)] : undefined;
          ring[start + (next % POINTS)] = value ?? Number.NaN;
        }
      }
    }
  }

  /** A rate can't span a gap. */
  #endGap(): void {
    this.#traffic.clear();
    if (this.#state === undefined || this.#state === 'unknown') return;
    this.#change({ at: this.#freshUntil, state: 'unknown' });
    this.#state = 'unknown';
  }

  #changesAt(now: number, isFresh: boolean): readonly Change[] {
    const isLost = !isFresh && this.#state !== undefined && this.#state !== 'unknown';
    if (!isLost) return this.#changes;
    const lost = { at: Math.min(now, this.#freshUntil), state: 'unknown' as const };
    return [...this.#changes, lost].slice(-MAX_CHANGES);
  }

  #change(change: Change): void {
    this.#changes = [...this.#changes, change].slice(-MAX_CHANGES);
  }
}

function isUnwanted({ reason }: LastStop): boolean {
  return isCrash(reason) || reason === 'unknown';
}

function shown({ at, state, reason, exitCode }: Change, clock: WallClock): StateChange {
  return {
    timestamp_seconds: Math.round(clock.toUnixMs(at) / 1_000),
    state,
    reason,
    exit_code: exitCode,
  };
}

// A 32-bit float holds seven digits, and a chart shows fewer.
function rounded(value: number): number | null {
  return Number.isNaN(value) ? null : Number(value.toPrecision(6));
}
