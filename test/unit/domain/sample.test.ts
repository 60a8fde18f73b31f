import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Sample, SERVER_STATES } from '../../../src/domain/server.ts';
import { type SampleValues, sampleOf, valuesOf } from '../../support/samples.ts';

const quantity = fc.double({ min: 0, noNaN: true });
const samples: fc.Arbitrary<SampleValues> = fc.record(
  {
    state: fc.constantFrom(...SERVER_STATES),
    memoryBytes: quantity,
    memoryLimitBytes: quantity,
    cpuCores: quantity,
    diskBytes: quantity,
    networkReceiveBytes: quantity,
    networkTransmitBytes: quantity,
    diskReadBytes: quantity,
    diskWrittenBytes: quantity,
    uptimeMs: quantity,
  } satisfies Record<keyof SampleValues, unknown>,
  { requiredKeys: [] },
);

it('a copy has all fields of the other sample, and none of the previous one', () => {
  const numbers = new Sample();
  fc.assert(
    fc.property(samples, fc.constantFrom('socket', 'poll'), quantity, (sample, source, now) => {
      const other = sampleOf(sample);
      other.arrived(source, now, now - 1);
      numbers.copy(other);
      expect(numbers).toEqual(other);
      expect(valuesOf(numbers)).toEqual(sample);
    }),
  );
});

it('a cleared sample is like a new one', () => {
  fc.assert(
    fc.property(samples, (sample) => {
      const numbers = sampleOf(sample);
      numbers.arrived('poll', 1, 2);
      numbers.clear();
      expect(numbers).toEqual(new Sample());
      expect(valuesOf(numbers)).toEqual({});
    }),
  );
});
