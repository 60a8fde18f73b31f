import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DurationCounter } from '../../../src/fleet/durations.ts';

const create = () => new DurationCounter();

describe('observed and running time', () => {
  it('counts by the state at the beginning of each gap, and skips gaps longer than a minute', () => {
    const counter = create();
    counter.observed(0, true);
    counter.observed(1_000, true);
    counter.observed(11_000, false);
    counter.observed(71_000, true);
    counter.observed(131_001, true);
    counter.observed(132_001, false);
    expect(counter.read(false, false)).toEqual({
      observed: 72,
      running: 12,
      cpuSaturated: undefined,
      memorySaturated: undefined,
    });
  });

  it('never counts more running than observed time', () => {
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 120_000 }), isRunning: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const counter = create();
        let now = 0;
        let longest = 0;
        for (const { afterMs, isRunning } of steps) {
          now += afterMs;
          counter.observed(now, isRunning);
          const { observed, running } = counter.read(true, true);
          expect(running).toBeLessThanOrEqual(observed);
          expect(observed).toBeGreaterThanOrEqual(longest);
          expect(observed).toBeLessThanOrEqual(now / 1_000);
          longest = observed;
        }
      }),
    );
  });
});

describe('saturated time', () => {
  const NONE = Number.NaN;

  it.each([
    ['counts at 95 % of the limit', 1.9, 2, 1],
    ['does not count below 95 %', 1.89, 2, 0],
    ['counts above the limit', 9, 2, 1],
    ['does not count without a limit', 9, NONE, 0],
    ['does not count without a value', NONE, 2, 0],
  ])('%s', (_title, used, limit, seconds) => {
    const counter = create();
    counter.limit(limit, limit);
    counter.streamed(0, used, used);
    counter.limit(limit, NONE);
    counter.streamed(1_000, used, NONE);
    counter.limit(NONE, limit);
    counter.streamed(2_000, NONE, used);
    expect(counter.read(true, true)).toMatchObject({ cpuSaturated: seconds, memorySaturated: seconds });
  });

  it('counts gaps of five seconds, but not longer ones', () => {
    const counter = create();
    counter.limit(2, 2);
    counter.streamed(0, 2, 2);
    counter.streamed(5_000, 2, 1);
    counter.streamed(10_001, 2, 2);
    expect(counter.read(true, true)).toMatchObject({ cpuSaturated: 5, memorySaturated: 0 });
  });
});
