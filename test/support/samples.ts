// Samples with the values of a test.
import { Sample } from '../../src/domain/sample.ts';

/** The values in a sample. */
export type SampleValues = Readonly<
  Partial<
    Omit<
      Sample,
      'source' | 'receivedAt' | 'measuredFrom' | 'arrived' | 'copy' | 'clear' | 'hasNoUsage' | 'forgetUsage'
    >
  >
>;

export function sampleOf(values: SampleValues): Sample {
  return Object.assign(new Sample(), values);
}

/** The values that a sample contains. */
export function valuesOf(sample: Sample): SampleValues {
  const isPresent = ([name, value]: [string, unknown]) =>
    !ARRIVAL.has(name) && value !== undefined && !Number.isNaN(value);
  return Object.fromEntries(Object.entries(sample).filter(isPresent));
}

const ARRIVAL: ReadonlySet<string> = new Set([
  'source',
  'receivedAt',
  'measuredFrom',
] satisfies (keyof Sample)[]);
