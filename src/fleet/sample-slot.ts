import type { Sample } from '../domain/server.ts';

/** The fields of a sample that are numbers. */
type NumericField = Exclude<keyof Sample, 'state'>;

/** Where a slot keeps each of them; a field that is missing here or in `SampleSlot.write` doesn't compile. */
export const FIELD_OFFSET = {
  memoryBytes: 0,
  memoryLimitBytes: 1,
  cpuCores: 2,
  diskBytes: 3,
  networkReceiveBytes: 4,
  networkTransmitBytes: 5,
  diskReadBytes: 6,
  diskWrittenBytes: 7,
  uptimeMs: 8,
} as const satisfies Record<NumericField, number>;

type FieldOffset = (typeof FIELD_OFFSET)[NumericField];

const NUMERIC_FIELDS = Object.keys(FIELD_OFFSET) as readonly NumericField[];

/** How many numbers a slot takes. */
export const SLOT_SIZE = NUMERIC_FIELDS.length;

/**
 * Holds one sample's numbers in place. An object kept for each new sample would live just long enough to be moved among the old
 * ones, and at 10,000 a second that garbage outgrew all else (see bench/RESULTS.md). NaN stands for what is absent.
 */
export class SampleSlot {
  readonly #values: Float64Array;
  state: Sample['state'];

  /** Takes the first `SLOT_SIZE` of these numbers for its own, each NaN. */
  constructor(values: Float64Array) {
    this.#values = values;
  }

  /** Takes on a sample; what it doesn't say is absent from now on. */
  write(sample: Sample): void {
    const values = this.#values;
    // The object is there for the type check, which fails if a field is missing; it is optimized away, since nothing reads it. Fields
    // are read by name, because a loop over the names costs a property lookup for each field of each sample.
    void ({
      memoryBytes: put(values, FIELD_OFFSET.memoryBytes, sample.memoryBytes),
      memoryLimitBytes: put(values, FIELD_OFFSET.memoryLimitBytes, sample.memoryLimitBytes),
      cpuCores: put(values, FIELD_OFFSET.cpuCores, sample.cpuCores),
      diskBytes: put(values, FIELD_OFFSET.diskBytes, sample.diskBytes),
      networkReceiveBytes: put(values, FIELD_OFFSET.networkReceiveBytes, sample.networkReceiveBytes),
      networkTransmitBytes: put(values, FIELD_OFFSET.networkTransmitBytes, sample.networkTransmitBytes),
      diskReadBytes: put(values, FIELD_OFFSET.diskReadBytes, sample.diskReadBytes),
      diskWrittenBytes: put(values, FIELD_OFFSET.diskWrittenBytes, sample.diskWrittenBytes),
      uptimeMs: put(values, FIELD_OFFSET.uptimeMs, sample.uptimeMs),
    } satisfies Record<NumericField, void>);
    this.state = sample.state;
  }

  /** NaN where the sample doesn't say. */
  get(offset: FieldOffset): number {
    return this.#values[offset] ?? Number.NaN;
  }

  set(offset: FieldOffset, value: number): void {
    this.#values[offset] = value;
  }

  /** The sample as an object, for those who look now and then. */
  read(): Sample {
    const sample: { -readonly [Key in keyof Sample]: Sample[Key] } = {};
    if (this.state !== undefined) sample.state = this.state;
    for (const field of NUMERIC_FIELDS) {
      const value = this.get(FIELD_OFFSET[field]);
      if (!Number.isNaN(value)) sample[field] = value;
    }
    return sample;
  }
}

function put(values: Float64Array, offset: FieldOffset, value: number | undefined): void {
  values[offset] = value ?? Number.NaN;
}

/** Whether a field only grows while a server runs; a field that is missing here doesn't compile. */
const IS_COUNTER = {
  memoryBytes: false,
  memoryLimitBytes: false,
  cpuCores: false,
  diskBytes: false,
  networkReceiveBytes: true,
  networkTransmitBytes: true,
  diskReadBytes: true,
  diskWrittenBytes: true,
  uptimeMs: false,
} as const satisfies Record<NumericField, boolean>;

const COUNTERS: readonly FieldOffset[] = NUMERIC_FIELDS.filter((field) => IS_COUNTER[field]).map(
  (field) => FIELD_OFFSET[field],
);

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
