import { STOPWATCH_SIZE, Stopwatch } from './durations.ts';
import { PeakWindow, WINDOW_SIZE } from './peaks.ts';
import { CounterMarks, MARKS_SIZE, SampleSlot, SLOT_SIZE } from './sample-slot.ts';

/** The offset of each of an arrival's numbers. */
const AT = {
  receivedAt: 0,
  measuredFrom: 1,
  socketSampleAt: 2,
  uptimeMovedAt: 3,
  receivedBytes: 4,
  transmittedBytes: 5,
} as const;

/** How many numbers an arrival takes. */
const ARRIVAL_SIZE = Object.keys(AT).length;

/** When a server's newest sample arrived, and its network counters as received; instants are monotonic milliseconds. */
export class Arrival {
  readonly #values: Float64Array;
  readonly #start: number;

  /** Uses `ARRIVAL_SIZE` numbers of the array from `start` on; all must be NaN. */
  constructor(values: Float64Array, start: number) {
    this.#values = values;
    this.#start = start;
    this.socketSampleAt = Number.NEGATIVE_INFINITY;
    this.uptimeMovedAt = Number.NEGATIVE_INFINITY;
  }

  get receivedAt(): number {
    return this.#get(AT.receivedAt);
  }

  set receivedAt(instant: number) {
    this.#values[this.#start + AT.receivedAt] = instant;
  }

  /** The earliest instant at which the panel can have measured it. */
  get measuredFrom(): number {
    return this.#get(AT.measuredFrom);
  }

  set measuredFrom(instant: number) {
    this.#values[this.#start + AT.measuredFrom] = instant;
  }

  /** When the last sample arrived over the socket, whether or not it was accepted. */
  get socketSampleAt(): number {
    return this.#get(AT.socketSampleAt);
  }

  set socketSampleAt(instant: number) {
    this.#values[this.#start + AT.socketSampleAt] = instant;
  }

  /** When the uptime last changed. */
  get uptimeMovedAt(): number {
    return this.#get(AT.uptimeMovedAt);
  }

  set uptimeMovedAt(instant: number) {
    this.#values[this.#start + AT.uptimeMovedAt] = instant;
  }

  /** NaN if the sample doesn't contain it; so is `transmittedBytes`. */
  get receivedBytes(): number {
    return this.#get(AT.receivedBytes);
  }

  set receivedBytes(bytes: number) {
    this.#values[this.#start + AT.receivedBytes] = bytes;
  }

  get transmittedBytes(): number {
    return this.#get(AT.transmittedBytes);
  }

  set transmittedBytes(bytes: number) {
    this.#values[this.#start + AT.transmittedBytes] = bytes;
  }

  #get(at: number): number {
    return this.#values[this.#start + at] ?? Number.NaN;
  }
}

/** Everything kept from a server's samples. */
export interface Kept {
  /** The newest sample as exported: counters never decrease without a restart, and the memory limit survives polls. */
  readonly shown: SampleSlot;
  readonly counters: CounterMarks;
  readonly peaks: PeakWindow;
  readonly durations: Stopwatch;
  readonly arrival: Arrival;
}

/** The offset at which each part's numbers begin. */
const STARTS = {
  counters: SLOT_SIZE,
  arrival: SLOT_SIZE + MARKS_SIZE,
  durations: SLOT_SIZE + MARKS_SIZE + ARRIVAL_SIZE,
  peaks: SLOT_SIZE + MARKS_SIZE + ARRIVAL_SIZE + STOPWATCH_SIZE,
  end: SLOT_SIZE + MARKS_SIZE + ARRIVAL_SIZE + STOPWATCH_SIZE + WINDOW_SIZE,
};

/**
 * All numbers lie side by side in one array: every sample touches all of them, and in separate fields each would cost it a cache
 * miss.
 */
export function createKept(): Kept {
  const numbers = new Float64Array(STARTS.end).fill(Number.NaN);
  return {
    shown: new SampleSlot(numbers),
    counters: new CounterMarks(numbers, STARTS.counters),
    arrival: new Arrival(numbers, STARTS.arrival),
    durations: new Stopwatch(numbers, STARTS.durations),
    peaks: new PeakWindow(numbers, STARTS.peaks),
  };
}
