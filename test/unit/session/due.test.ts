import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, refusedRetryMs, SLOW_RETRY_MS, slowRetryMs } from '../../../src/session/machine-model.ts';
import { polledStalenessMs } from '../../../src/session/plan.ts';
import { neededBy } from '../../../src/session/streamer.ts';

const MINUTE = 60_000;

describe('a deadline', () => {
  const now = 7 * MINUTE;

  it('of a call is when it is due plus its period: ten minutes for a connect, the interval for a poll', () => {
    expect(neededBy(now, false)).toBe(now + 10 * MINUTE);
    expect(neededBy(now, false, 30_000)).toBe(now + 30_000);
  });

  it("of a server's first attempt precedes all that are due later", () => {
    const later = fc.nat(9 * MINUTE);
    const interval = fc.integer({ min: 5_000, max: 60 * MINUTE });
    fc.assert(
      fc.property(later, interval, (waitMs, intervalMs) => {
        const others = [neededBy(now - waitMs, false), neededBy(now - waitMs, false, intervalMs)];
        expect(neededBy(now, true)).toBeLessThan(Math.min(...others));
        expect(neededBy(now, true, intervalMs)).toBeLessThan(Math.min(...others));
      }),
    );
  });
});

describe('the staleness of a polled sample', () => {
  it.each([
    ['is as configured if two polls fit into it', 60_000, 30_000, 0, 60_000],
    ['is two and a half intervals if they are longer', 60_000, 40_000, 0, 100_000],
    ["doesn't grow by the moments that each call takes", 60_000, 30_000, 15_000, 60_000],
    ['grows while polls wait long for their calls', 60_000, 30_000, 20_000, 125_000],
    ["doesn't grow by a wait that the configured staleness allows for", 300_000, 30_000, 60_000, 300_000],
  ])('%s', (_, stalenessMs, intervalMs, lateMs, expected) => {
    expect(polledStalenessMs({ stalenessMs, pollIntervalMs: intervalMs }, lateMs)).toBe(expected);
  });

  it('is never shorter than configured, or than the time from one poll to the next', () => {
    const ms = fc.integer({ min: 5_000, max: 60 * MINUTE });
    fc.assert(
      fc.property(ms, ms, fc.nat(10 * MINUTE), (stalenessMs, intervalMs, lateMs) => {
        const actual = polledStalenessMs({ stalenessMs, pollIntervalMs: intervalMs }, lateMs);
        expect(actual).toBeGreaterThanOrEqual(stalenessMs);
        expect(actual).toBeGreaterThan(intervalMs);
      }),
    );
  });
});

const ALMOST_ONE = 1 - Number.EPSILON;
const uniform = fc.double({ min: 0, max: ALMOST_ONE, noNaN: true });

describe('backoffMs', () => {
  it.each([
    [1, 5_000],
    [2, 10_000],
    [3, 20_000],
    [4, 40_000],
    [5, 60_000],
    [6, 60_000],
    [10_000, 60_000],
  ])('has full jitter after %i failures in a row, up to %i ms', (failures, ceiling) => {
    expect(backoffMs(failures, ALMOST_ONE)).toBeCloseTo(ceiling, 3);
    expect(backoffMs(failures, 0.5)).toBe(ceiling / 2);
  });

  it('is never a busy loop and never exceeds a minute', () => {
    expect(backoffMs(1, 0)).toBe(500);
    fc.assert(
      fc.property(fc.integer({ min: 1 }), uniform, (failures, random) => {
        const wait = backoffMs(failures, random);
        expect(wait).toBeGreaterThanOrEqual(500);
        expect(wait).toBeLessThanOrEqual(60_000);
      }),
    );
  });
});

it('slowRetryMs is a minute after the first refusal, and then five plus up to a tenth', () => {
  expect(slowRetryMs(1, 0)).toBe(60_000);
  expect(slowRetryMs(2, 0)).toBe(SLOW_RETRY_MS);
  expect(slowRetryMs(3, 0.5)).toBeCloseTo(315_000, 6);
  expect(slowRetryMs(9, ALMOST_ONE)).toBeLessThanOrEqual(330_000);
});

it('refusedRetryMs is a minute minus up to a tenth', () => {
  expect(refusedRetryMs(0)).toBe(60_000);
  expect(refusedRetryMs(ALMOST_ONE)).toBeGreaterThanOrEqual(54_000);
});
