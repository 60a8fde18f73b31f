import type { Sample, SampleSource, ServerState } from './server.ts';

type NumericField = Exclude<keyof Sample, 'state'>;

/**
 * A sample as it is decoded and kept: NaN stands for a value that the panel didn't send. Decoders fill the same object again and
 * again, because a new one for each of 10,000 frames a second would be too much garbage (see bench/RESULTS.md).
 */
export class SampleNumbers implements Record<NumericField, number> {
  state: ServerState | undefined;
  memoryBytes = Number.NaN;
  memoryLimitBytes = Number.NaN;
  cpuCores = Number.NaN;
  diskBytes = Number.NaN;
  networkReceiveBytes = Number.NaN;
  networkTransmitBytes = Number.NaN;
  diskReadBytes = Number.NaN;
  diskWrittenBytes = Number.NaN;
  uptimeMs = Number.NaN;
  /** How it arrived; undefined until then. */
  source: SampleSource | undefined;
  /** In monotonic milliseconds. */
  receivedAt = Number.NaN;
  /** The earliest instant at which the panel can have measured it. */
  measuredFrom = Number.NaN;

  static of(sample: Sample): SampleNumbers {
    return Object.assign(new SampleNumbers(), sample);
  }

  arrived(source: SampleSource, receivedAt: number, measuredFrom: number): void {
    this.source = source;
    this.receivedAt = receivedAt;
    this.measuredFrom = measuredFrom;
  }

  /** Takes over everything from another one; by name, because a loop over the names costs a lookup for each field. */
  copy(other: SampleNumbers): void {
    this.state = other.state;
    this.memoryBytes = other.memoryBytes;
    this.memoryLimitBytes = other.memoryLimitBytes;
    this.cpuCores = other.cpuCores;
    this.diskBytes = other.diskBytes;
    this.networkReceiveBytes = other.networkReceiveBytes;
    this.networkTransmitBytes = other.networkTransmitBytes;
    this.diskReadBytes = other.diskReadBytes;
    this.diskWrittenBytes = other.diskWrittenBytes;
    this.uptimeMs = other.uptimeMs;
    this.source = other.source;
    this.receivedAt = other.receivedAt;
    this.measuredFrom = other.measuredFrom;
  }

  clear(): void {
    this.copy(EMPTY);
  }

  /** The values that are present, for occasional readers. */
  toSample(): Sample {
    const sample: { -readonly [Key in keyof Sample]: Sample[Key] } = {};
    if (this.state !== undefined) sample.state = this.state;
    for (const field of NUMERIC_FIELDS) {
      const value = this[field];
      if (!Number.isNaN(value)) sample[field] = value;
    }
    return sample;
  }
}

const EMPTY = new SampleNumbers();

/** The numeric fields of a sample; a field missing here doesn't compile. */
const NUMERIC_FIELDS = Object.keys({
  memoryBytes: true,
  memoryLimitBytes: true,
  cpuCores: true,
  diskBytes: true,
  networkReceiveBytes: true,
  networkTransmitBytes: true,
  diskReadBytes: true,
  diskWrittenBytes: true,
  uptimeMs: true,
} satisfies Record<NumericField, true>) as readonly NumericField[];
