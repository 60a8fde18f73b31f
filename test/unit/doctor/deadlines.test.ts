import { describe, expect, it } from 'vitest';
import { estimateMs, serverDeadlineMs } from '../../../src/doctor/trial.ts';
import { readableDuration } from '../../../src/domain/durations.ts';

describe('the estimate', () => {
  it.each([
    [Array.from({ length: 2_000 }, () => 'auto' as const), 192, '20 min'],
    [Array.from({ length: 2_000 }, () => 'poll' as const), 192, '10 min'],
    [['auto' as const], 192, '2 s'],
    [Array.from({ length: 20 }, () => 'auto' as const), 192, '6 s'],
    [Array.from({ length: 80 }, () => 'auto' as const), 60_000, '20 s'],
    [[], 60, '1 s'],
  ])('for case %# is %s', (modes, perMinute, spoken) => {
    expect(readableDuration(estimateMs(modes, perMinute))).toBe(spoken);
  });

  it.each([
    [1, '1 s'],
    [99_000, '99 s'],
    [100_000, '2 min'],
    [5_940_000, '99 min'],
    [7_200_000, '2 h'],
    [7_500_000, '2 h 5 min'],
  ])('shows %i ms as %s', (durationMs, spoken) => {
    expect(readableDuration(durationMs)).toBe(spoken);
  });

  it('includes all deadlines of a server, and the waiting time before its turn if the rate is low', () => {
    const bounds = {
      requestTimeoutMs: 25_000,
      connectTimeoutMs: 10_000,
      authTimeoutMs: 12_000,
      statsTimeoutMs: 15_000,
    };
    expect(serverDeadlineMs({ ...bounds, perMinute: 960 })).toBe(178_000);
    expect(serverDeadlineMs({ ...bounds, perMinute: 16 })).toBe(237_000);
  });
});
