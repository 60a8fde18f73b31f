import { describe, expect, it } from 'vitest';
import { missed } from '../../../bench/fairness/benchmark.ts';
import { SCENARIOS } from '../../../bench/fairness/scenarios.ts';
import { simulate } from '../../../bench/fairness/simulation.ts';

/** Larger fleets take longer: the benchmark and the tests of faults have them. */
const MOST_SERVERS = 500;

const small = SCENARIOS.filter(
  ({ groups }) => groups.reduce((sum, { count }) => sum + count, 0) <= MOST_SERVERS,
);

describe('a fleet within its budget', () => {
  it.each(small)(
    'meets every limit: $name',
    async (scenario) => {
      const outcome = await simulate({ ...scenario, minutes: 10 });
      expect(missed(scenario, outcome), JSON.stringify(outcome)).toEqual([]);
      expect(outcome.allSampledAfterS).toBeLessThanOrEqual(75);
      expect(outcome.listingIntervals).toBeLessThanOrEqual(2.5);
    },
    100_000,
  );
});
