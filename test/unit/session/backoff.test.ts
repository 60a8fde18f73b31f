import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, refusedRetryMs, SLOW_RETRY_MS, slowRetryMs } from '../../../src/session/backoff.ts';

const ALMOST_ONE = 1 - Number.EPSILON;
const uniform = fc.double({ min: 0, max: ALMOST_ONE, noNaN: true });

describe('backoffMs', () => {
  it.each([
    [1, 5_000],
    [2, 10_000],
    [3, 20_000],
    [4, 40_000],
    [5, 45_000],
    [6, 45_000],
    [10_000, 45_000],
  ])('has full jitter after %i failures in a row, up to %i ms', (failures, ceiling) => {
    expect(backoffMs(failures, ALMOST_ONE)).toBeCloseTo(ceiling, 3);
    expect(backoffMs(failures, 0.5)).toBe(ceiling / 2);
  });

  it('is never a busy loop, and leaves room for an attempt that hangs 10 s within a minute', () => {
    expect(backoffMs(1, 0)).toBe(500);
    fc.assert(
      fc.property(fc.integer({ min: 1 }), uniform, (failures, random) => {
        const wait = backoffMs(failures, random);
        expect(wait).toBeGreaterThanOrEqual(500);
        expect(wait + 10_000).toBeLessThan(60_000);
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
