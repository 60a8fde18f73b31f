import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DurationCounter } from '../../../src/fleet/server-samples.ts';

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
      cpu: undefined,
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

describe('CPU time', () => {
  it('is undefined before the first usage, and counts nothing for a gap of more than a minute', () => {
    const counter = create();
    counter.used(0, Number.NaN);
    expect(counter.read(false, false).cpu).toBeUndefined();
    counter.used(1_000, 2);
    expect(counter.read(false, false).cpu).toBe(2);
    counter.used(61_000, 0.5);
    counter.used(121_001, 8);
    counter.used(122_001, Number.NaN);
    counter.used(123_001, 1);
    expect(counter.read(false, false).cpu).toBe(33);
  });

  it('is that of a constant usage, however the samples are spaced', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 120_000 })), (gaps) => {
        const counter = create();
        let [now, seconds] = [0, 0];
        counter.used(now, 3);
        for (const gap of gaps) {
          now += gap;
          counter.used(now, 3);
          if (gap <= 60_000) seconds += gap / 1_000;
          expect(counter.read(false, false).cpu).toBeCloseTo(3 * seconds, 6);
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
