import type { Quantity, SampleSlot } from './sample-slot.ts';

/** The quantities that only grow while a server runs. */
const COUNTERS = [
  'networkReceiveBytes',
  'networkTransmitBytes',
  'diskReadBytes',
  'diskWrittenBytes',
] as const satisfies readonly Quantity[];

/** A counter that stays below its mark for this long was reset, whatever the rest says. */
const HELD_AT_MOST_MS = 60_000;

/**
 * Holds a server's counters in order: one goes down only when the server was restarted. A single value that came late would
 * otherwise read as a reset, and so as a terabyte of traffic.
 */
export class CounterMarks {
  /** The highest value of each; NaN before the first. */
  readonly #marks = new Float64Array(COUNTERS.length).fill(Number.NaN);
  /** Since when each is held at its mark; NaN while it isn't. */
  readonly #heldSince = new Float64Array(COUNTERS.length).fill(Number.NaN);

  /** Puts the values to show in place of a sample's; `mayReset` where the server was restarted since the last. */
  apply(slot: SampleSlot, mayReset: boolean, now: number): void {
    for (let index = 0; index < COUNTERS.length; index += 1) {
      const counter = COUNTERS[index];
      if (counter === undefined) continue;
      const value = slot.get(counter);
      if (!Number.isNaN(value)) slot.set(counter, this.#apply(index, value, mayReset, now));
    }
  }

  #apply(index: number, value: number, mayReset: boolean, now: number): number {
    const mark = this.#marks[index] ?? Number.NaN;
    const heldSince = this.#heldSince[index] ?? Number.NaN;
    const isHeld = value < mark && !mayReset && !(now - heldSince >= HELD_AT_MOST_MS);
    if (isHeld) {
      if (Number.isNaN(heldSince)) this.#heldSince[index] = now;
      return mark;
    }
    this.#marks[index] = value;
    this.#heldSince[index] = Number.NaN;
    return value;
  }
}
