import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { backupIntervalMs, readingOf, untilNextMs } from '../../../src/fleet/backups.ts';

const HOUR = 60 * 60_000;

it('asks each server at a place of its own, half to one and a half intervals from now', () => {
  const now = fc.double({ min: 0, max: 1e12, noNaN: true });
  const phase = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(now, phase, (at, place) => {
      const wait = untilNextMs(at, 'answered', { phase: place, intervalMs: HOUR });
      expect(wait).toBeGreaterThanOrEqual(HOUR / 2 - 1);
      expect(wait).toBeLessThanOrEqual(1.5 * HOUR + 1);
      const next = untilNextMs(at + wait, 'answered', { phase: place, intervalMs: HOUR });
      expect(next).toBeCloseTo(HOUR, -2);
    }),
  );
});

it('asks again in a day where it was refused, and as usual where it failed', () => {
  expect(untilNextMs(0, 'refused', { phase: 0.5, intervalMs: HOUR })).toBe(24 * HOUR);
  expect(untilNextMs(0, 'failed', { phase: 0.5, intervalMs: HOUR })).toBe(HOUR / 2);
});

it('asks less often if the servers are too many for the calls that are planned', () => {
  expect(backupIntervalMs(HOUR, 1_200, 20)).toBe(HOUR);
  expect(backupIntervalMs(HOUR, 6_000, 20)).toBe(5 * HOUR);
});

it('reads the newest of the successful ones', () => {
  const backups = [{ completedAtMs: 2, bytes: 20 }, { completedAtMs: 3 }, { completedAtMs: 1, bytes: 10 }];
  expect(readingOf(backups, 1_000, HOUR)).toEqual({
    count: 3,
    lastSuccessUnixMs: 3,
    staleAt: 1_000 + 2.5 * HOUR,
  });
  expect(readingOf(backups.slice(0, 1), 0, HOUR)).toMatchObject({ lastSuccessUnixMs: 2, lastSizeBytes: 20 });
  expect(readingOf([], 0, HOUR)).toEqual({ count: 0, staleAt: 2.5 * HOUR });
});
