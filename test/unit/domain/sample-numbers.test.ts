import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { SampleNumbers } from '../../../src/domain/sample-numbers.ts';
import { type Sample, SERVER_STATES } from '../../../src/domain/server.ts';

const quantity = fc.double({ min: 0, noNaN: true });
const samples: fc.Arbitrary<Sample> = fc.record(
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
  } satisfies Record<keyof Sample, unknown>,
  { requiredKeys: [] },
);

it('a copy has all fields of the other sample, and none of the previous one', () => {
  const numbers = new SampleNumbers();
  fc.assert(
    fc.property(samples, fc.constantFrom('socket', 'poll'), quantity, (sample, source, now) => {
      const other = SampleNumbers.of(sample);
      other.arrived(source, now, now - 1);
      numbers.copy(other);
      expect(numbers).toEqual(other);
      expect(numbers.toSample()).toEqual(sample);
    }),
  );
});

it('a cleared sample is like a new one', () => {
  fc.assert(
    fc.property(samples, (sample) => {
      const numbers = SampleNumbers.of(sample);
      numbers.arrived('poll', 1, 2);
      numbers.clear();
      expect(numbers).toEqual(new SampleNumbers());
      expect(numbers.toSample()).toEqual({});
    }),
  );
});
