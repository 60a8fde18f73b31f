import type { Sample } from '../domain/server.ts';

/** The numeric fields of a sample. */
type NumericField = Exclude<keyof Sample, 'state'>;

/** The offset of each field in a slot; a field missing here or in `SampleSlot.write` doesn't compile. */
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
 * Holds one sample's numbers in place. An object kept for each new sample would live just long enough to be promoted to the old
 * generation, and at 10,000 a second that garbage outgrew everything else (see bench/RESULTS.md). NaN stands for a missing value.
 */
export class SampleSlot {
  readonly #values: Float64Array;
  state: Sample['state'];

  /** Uses the first `SLOT_SIZE` numbers of the array; all must be NaN. */
  constructor(values: Float64Array) {
    this.#values = values;
  }

  /** Replaces the contents with a sample; fields that it doesn't have become absent. */
  write(sample: Sample): void {
    const values = this.#values;
    // The object exists for the type check, which fails if a field is missing; it is optimized away, since nothing reads it.
    // Fields are read by name, because a loop over the names costs a property lookup for each field of each sample.
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

  /** NaN if the sample doesn't have the field. */
  get(offset: FieldOffset): number {
    return this.#values[offset] ?? Number.NaN;
  }

  set(offset: FieldOffset, value: number): void {
    this.#values[offset] = value;
  }

  /** The sample as an object, for occasional readers. */
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

/** Whether a field only grows while a server runs; a field missing here doesn't compile. */
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

/** A counter that stays below its mark for this long was reset, whatever else is known. */
const MAX_HELD_MS = 60_000;

/**
 * Keeps a server's counters monotonic: a counter decreases only if the server was restarted. Otherwise a single late value would
 * look like a reset, and so like a terabyte of traffic.
 */
export class CounterMarks {
  /** The highest value of each counter, NaN before the first; then since when each is held at its mark, NaN if it isn't. */
  readonly #marks: Float64Array;
  readonly #start: number;

  /** Uses `MARKS_SIZE` numbers of the array from `start` on; all must be NaN. */
  constructor(marks: Float64Array, start = 0) {
    this.#marks = marks;
    this.#start = start;
  }

  /** Replaces a sample's counters with the values to export; `mayReset` if the server was restarted since the last sample. */
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
    const isHeld = value < mark && !mayReset && !(now - heldSince >= MAX_HELD_MS);
    if (isHeld) {
      if (Number.isNaN(heldSince)) this.#marks[at + COUNTERS.length] = now;
      return mark;
    }
    this.#marks[at] = value;
    this.#marks[at + COUNTERS.length] = Number.NaN;
    return value;
  }
}
