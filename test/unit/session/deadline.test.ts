import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callDeadline } from '../../../src/session/deadline.ts';

const MINUTE = 60_000;

describe('a deadline', () => {
  const now = 7 * MINUTE;

  it('of a call is when it is due plus its period: ten minutes for a connect, the interval for a poll', () => {
    expect(callDeadline(now, false)).toBe(now + 10 * MINUTE);
    expect(callDeadline(now, false, 30_000)).toBe(now + 30_000);
  });

  it("of a server's first attempt precedes all that are due later", () => {
    const later = fc.nat(9 * MINUTE);
    const interval = fc.integer({ min: 5_000, max: 60 * MINUTE });
    fc.assert(
      fc.property(later, interval, (waitMs, intervalMs) => {
        const others = [callDeadline(now - waitMs, false), callDeadline(now - waitMs, false, intervalMs)];
        expect(callDeadline(now, true)).toBeLessThan(Math.min(...others));
        expect(callDeadline(now, true, intervalMs)).toBeLessThan(Math.min(...others));
      }),
    );
  });
});
