import type { Sample } from '../domain/sample.ts';
import type { ServerState } from '../domain/state.ts';

/** The numbers of a sample, in the order in which a slot keeps them. */
const QUANTITIES = [
  'memoryBytes',
  'memoryLimitBytes',
  'cpuCores',
  'diskBytes',
  'networkReceiveBytes',
  'networkTransmitBytes',
  'diskReadBytes',
  'diskWrittenBytes',
  'uptimeMs',
] as const satisfies readonly Exclude<keyof Sample, 'state'>[];

export type Quantity = (typeof QUANTITIES)[number];

const INDEX = Object.fromEntries(QUANTITIES.map((quantity, index) => [quantity, index])) as Readonly<
  Record<Quantity, number>
>;

/** How many numbers a slot takes. */
export const SLOT_SIZE = QUANTITIES.length;

/**
 * Holds one sample's numbers in place. An object kept for each new sample would live just long enough to be moved among the old
 * ones, and at 10,000 a second that garbage outgrew all else (see bench/RESULTS.md). NaN stands for what is absent.
 */
export class SampleSlot {
  readonly #values: Float64Array;
  state: ServerState | undefined;

  /** Takes `SLOT_SIZE` numbers for its own, each NaN. */
  constructor(values: Float64Array) {
    this.#values = values;
  }

  /** Takes on a sample; what it doesn't say is absent from now on. */
  write(sample: Sample): void {
    const values = this.#values;
    values[INDEX.memoryBytes] = sample.memoryBytes ?? Number.NaN;
    values[INDEX.memoryLimitBytes] = sample.memoryLimitBytes ?? Number.NaN;
    values[INDEX.cpuCores] = sample.cpuCores ?? Number.NaN;
    values[INDEX.diskBytes] = sample.diskBytes ?? Number.NaN;
    values[INDEX.networkReceiveBytes] = sample.networkReceiveBytes ?? Number.NaN;
    values[INDEX.networkTransmitBytes] = sample.networkTransmitBytes ?? Number.NaN;
    values[INDEX.diskReadBytes] = sample.diskReadBytes ?? Number.NaN;
    values[INDEX.diskWrittenBytes] = sample.diskWrittenBytes ?? Number.NaN;
    values[INDEX.uptimeMs] = sample.uptimeMs ?? Number.NaN;
    this.state = sample.state;
  }

  /** NaN where the sample doesn't say. */
  get(quantity: Quantity): number {
    return this.#values[INDEX[quantity]] ?? Number.NaN;
  }

  set(quantity: Quantity, value: number): void {
    this.#values[INDEX[quantity]] = value;
  }

  /** The sample as an object, for those who look now and then. */
  read(): Sample {
    const sample: { -readonly [Key in keyof Sample]: Sample[Key] } = {};
    if (this.state !== undefined) sample.state = this.state;
    for (const quantity of QUANTITIES) {
      const value = this.get(quantity);
      if (!Number.isNaN(value)) sample[quantity] = value;
    }
    return sample;
  }
}
