import type { Sample } from '../domain/sample.ts';
import type { ServerState } from '../domain/state.ts';

/** Where a slot keeps each number of a sample. */
export const PLACE = {
  memoryBytes: 0,
  memoryLimitBytes: 1,
  cpuCores: 2,
  diskBytes: 3,
  networkReceiveBytes: 4,
  networkTransmitBytes: 5,
  diskReadBytes: 6,
  diskWrittenBytes: 7,
  uptimeMs: 8,
} as const satisfies Record<Exclude<keyof Sample, 'state'>, number>;

export type Place = (typeof PLACE)[Quantity];
type Quantity = keyof typeof PLACE;

const QUANTITIES = Object.keys(PLACE) as readonly Quantity[];

/** How many numbers a slot takes. */
export const SLOT_SIZE = QUANTITIES.length;

/**
 * Holds one sample's numbers in place. An object kept for each new sample would live just long enough to be moved among the old
 * ones, and at 10,000 a second that garbage outgrew all else (see bench/RESULTS.md). NaN stands for what is absent.
 */
export class SampleSlot {
  readonly #values: Float64Array;
  state: ServerState | undefined;

  /** Takes the first `SLOT_SIZE` of these numbers for its own, each NaN. */
  constructor(values: Float64Array) {
    this.#values = values;
  }

  /** Takes on a sample; what it doesn't say is absent from now on. */
  write(sample: Sample): void {
    const values = this.#values;
    values[PLACE.memoryBytes] = sample.memoryBytes ?? Number.NaN;
    values[PLACE.memoryLimitBytes] = sample.memoryLimitBytes ?? Number.NaN;
    values[PLACE.cpuCores] = sample.cpuCores ?? Number.NaN;
    values[PLACE.diskBytes] = sample.diskBytes ?? Number.NaN;
    values[PLACE.networkReceiveBytes] = sample.networkReceiveBytes ?? Number.NaN;
    values[PLACE.networkTransmitBytes] = sample.networkTransmitBytes ?? Number.NaN;
    values[PLACE.diskReadBytes] = sample.diskReadBytes ?? Number.NaN;
    values[PLACE.diskWrittenBytes] = sample.diskWrittenBytes ?? Number.NaN;
    values[PLACE.uptimeMs] = sample.uptimeMs ?? Number.NaN;
    this.state = sample.state;
  }

  /** NaN where the sample doesn't say. */
  get(place: Place): number {
    return this.#values[place] ?? Number.NaN;
  }

  set(place: Place, value: number): void {
    this.#values[place] = value;
  }

  /** The sample as an object, for those who look now and then. */
  read(): Sample {
    const sample: { -readonly [Key in keyof Sample]: Sample[Key] } = {};
    if (this.state !== undefined) sample.state = this.state;
    for (const quantity of QUANTITIES) {
      const value = this.get(PLACE[quantity]);
      if (!Number.isNaN(value)) sample[quantity] = value;
    }
    return sample;
  }
}
