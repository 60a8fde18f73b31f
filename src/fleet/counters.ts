import { PLACE, type Place, type SampleSlot } from './sample-slot.ts';

/** The quantities that only grow while a server runs. */
const COUNTERS: readonly Place[] = [
  PLACE.networkReceiveBytes,
  PLACE.networkTransmitBytes,
  PLACE.diskReadBytes,
  PLACE.diskWrittenBytes,
];

/** How many numbers the marks take. */
export const MARKS_SIZE = 2 * COUNTERS.length;

/** A counter that stays below its mark for this long was reset, whatever the rest says. */
const HELD_AT_MOST_MS = 60_000;

/**
 * Holds a server's counters in order: one goes down only when the server was restarted. A single value that came late would
 * otherwise read as a reset, and so as a terabyte of traffic.
 */
export class CounterMarks {
  /** The highest value of each, NaN before the first; then since when each is held at its mark, NaN while it isn't. */
  readonly #marks: Float64Array;
  readonly #start: number;

  /** Takes `MARKS_SIZE` of these numbers for its own, from `start` on, each NaN. */
  constructor(marks: Float64Array, start = 0) {
    this.#marks = marks;
    this.#start = start;
  }

  /** Puts the values to show in place of a sample's; `mayReset` where the server was restarted since the last. */
  apply(slot: SampleSlot, mayReset: boolean, now: number): void {
    for (let index = 0; index < COUNTERS.length; index += 1) {
      const counter = COUNTERS[index];
      if (counter === undefined) continue;
      const value = slot.get(counter);
      if (!Number.isNaN(value)) slot.set(counter, this.#apply(this.#start + index, value, mayReset, now));
    }
  }

  #apply(at: number, value: number, mayReset: boolean, now: number): number {
    const mark = this.#marks[at] ?? Number.NaN;
    const heldSince = this.#marks[at + COUNTERS.length] ?? Number.NaN;
    const isHeld = value < mark && !mayReset && !(now - heldSince >= HELD_AT_MOST_MS);
    if (isHeld) {
      if (Number.isNaN(heldSince)) this.#marks[at + COUNTERS.length] = now;
      return mark;
    }
    this.#marks[at] = value;
    this.#marks[at + COUNTERS.length] = Number.NaN;
    return value;
  }
}
