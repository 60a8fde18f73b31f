import { Sample } from '../../src/domain/sample.ts';

/** The values that a test gives a sample. */
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

/** The values that are present. */
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
