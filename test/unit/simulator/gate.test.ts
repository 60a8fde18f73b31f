import { describe, expect, it } from 'vitest';
import { countCall, type RateWindow } from '../../../src/simulator/gate.ts';

describe('rate window', () => {
  it('allows calls up to its limit, rejects the rest, and resets after a minute', () => {
    let window: RateWindow | undefined;
    const call = (at: number) => {
      const verdict = countCall(window, 3, at);
      window = verdict.window;
      return [verdict.allowed, verdict.remaining, verdict.resetMs];
    };
    expect(call(1_000)).toEqual([true, 2, 60_000]);
    expect(call(2_000)).toEqual([true, 1, 59_000]);
    expect(call(3_000)).toEqual([true, 0, 58_000]);
    expect(call(60_999)).toEqual([false, 0, 1]);
    expect(call(61_000)).toEqual([true, 2, 60_000]);
  });
});
