import type { Sample } from '../domain/sample.ts';

/** The fields of a sample that only grow while a server runs. */
export const COUNTERS = [
  'networkReceiveBytes',
  'networkTransmitBytes',
  'diskReadBytes',
  'diskWrittenBytes',
] as const satisfies readonly (keyof Sample)[];

type Counter = (typeof COUNTERS)[number];

/** A counter that stays below its mark for this long was reset, whatever the rest says. */
const HELD_AT_MOST_MS = 60_000;

/**
 * Holds a server's counters in order: one goes down only when the server was restarted. A single value that came late would
 * otherwise read as a reset, and so as a terabyte of traffic.
 */
export class CounterMarks {
  readonly #marks = new Map<Counter, { value: number; heldSince: number | undefined }>();

  /** The values to show for a sample; `mayReset` where the server was restarted since the last. */
  apply(sample: Sample, mayReset: boolean, now: number): Partial<Record<Counter, number>> {
    const shown: Partial<Record<Counter, number>> = {};
    for (const counter of COUNTERS) {
      const value = sample[counter];
      if (value !== undefined) shown[counter] = this.#apply(counter, value, mayReset, now);
    }
    return shown;
  }

  #apply(counter: Counter, value: number, mayReset: boolean, now: number): number {
    const mark = this.#marks.get(counter);
    if (mark === undefined) {
      this.#marks.set(counter, { value, heldSince: undefined });
      return value;
    }
    const heldTooLong = mark.heldSince !== undefined && now - mark.heldSince >= HELD_AT_MOST_MS;
    if (value >= mark.value || mayReset || heldTooLong) {
      mark.value = value;
      mark.heldSince = undefined;
    } else {
      mark.heldSince ??= now;
    }
    return mark.value;
  }
}
