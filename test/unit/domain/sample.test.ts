import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SERVER_STATES, type ServerState } from '../../../src/domain/power-states.ts';
import { Sample } from '../../../src/domain/sample.ts';
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
    unknownState: fc.string(),
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

describe('a sample of a daemon without statistics', () => {
  const ZERO: SampleValues = {
    memoryBytes: 0,
    cpuCores: 0,
    uptimeMs: 0,
    networkReceiveBytes: 0,
    diskBytes: 9,
  };

  it.each<[state: ServerState | undefined, values: SampleValues, hasNoUsage: boolean]>([
    ['running', {}, true],
    ['stopping', {}, true],
    // A starting server without a container really uses nothing.
    ['starting', {}, false],
    ['offline', {}, false],
    ['unknown', {}, false],
    [undefined, {}, false],
    ['running', { uptimeMs: 1 }, false],
    ['running', { memoryBytes: 1 }, false],
    ['running', { cpuCores: 0.01 }, false],
    // An old daemon sends no uptime.
    ['running', { uptimeMs: Number.NaN }, false],
    ['running', { memoryBytes: Number.NaN }, false],
  ])('has no usage in state %s with %j: %s', (state, values, hasNoUsage) => {
    expect(sampleOf({ ...ZERO, ...(state && { state }), ...values }).hasNoUsage).toBe(hasNoUsage);
  });

  it('keeps its state and its disk usage', () => {
    const sample = sampleOf({ ...ZERO, state: 'running' });
    sample.forgetUsage();
    expect(valuesOf(sample)).toEqual({ state: 'running', diskBytes: 9 });
  });
});
