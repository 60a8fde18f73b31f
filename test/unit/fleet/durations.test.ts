import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Stopwatch } from '../../../src/fleet/durations.ts';

const create = () => new Stopwatch();

describe('observed and running time', () => {
  it('counts by the state at the beginning of each gap, and skips gaps longer than a minute', () => {
    const watch = create();
    watch.observed(0, true);
    watch.observed(1_000, true);
    watch.observed(11_000, false);
    watch.observed(71_000, true);
    watch.observed(131_001, true);
    watch.observed(132_001, false);
    expect(watch.read(false, false)).toEqual({
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
        const watch = create();
        let now = 0;
        let longest = 0;
        for (const { afterMs, isRunning } of steps) {
          now += afterMs;
          watch.observed(now, isRunning);
          const { observed, running } = watch.read(true, true);
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
    const watch = create();
    watch.limit(limit, limit);
    watch.streamed(0, used, used);
    watch.limit(limit, NONE);
    watch.streamed(1_000, used, NONE);
    watch.limit(NONE, limit);
    watch.streamed(2_000, NONE, used);
    expect(watch.read(true, true)).toMatchObject({ cpuSaturated: seconds, memorySaturated: seconds });
  });

  it('counts gaps of five seconds, but not longer ones', () => {
    const watch = create();
    watch.limit(2, 2);
    watch.streamed(0, 2, 2);
    watch.streamed(5_000, 2, 1);
    watch.streamed(10_001, 2, 2);
    expect(watch.read(true, true)).toMatchObject({ cpuSaturated: 5, memorySaturated: 0 });
  });
});
