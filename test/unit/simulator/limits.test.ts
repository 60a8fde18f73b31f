import { describe, expect, it } from 'vitest';
import { admitFrame, newFrameBudget } from '../../../src/simulator/frame-limits.ts';
import { countCall, type RateWindow } from '../../../src/simulator/rate-window.ts';

const LIMITS = { framesPerSecond: 2, frameBurst: 4 };

/** Sends frames of one event at the given instants. */
function admit(instants: readonly number[], event: (index: number) => string = () => 'send stats') {
  let budget = newFrameBudget(LIMITS.frameBurst, 0);
  return instants.map((at, index) => {
    const verdict = admitFrame(budget, event(index), at, LIMITS);
    budget = verdict.budget;
    return verdict;
  });
}

describe('frame limits', () => {
  it('take two frames a second for ever', () => {
    const verdicts = admit(Array.from({ length: 60 }, (_, index) => index * 500));
    expect(verdicts.every(({ accepted }) => accepted)).toBe(true);
  });

  it('drop what exceeds the burst, and tell of it once per episode and event', () => {
    const verdicts = admit([0, 0, 0, 0, 0, 0, 600, 600], () => 'auth');
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
    expect(verdicts.map(({ tell }) => tell)).toEqual([false, false, false, false, true, false, false, true]);
    const mixed = admit([0, 0, 0, 0, 0, 0], (index) => (index === 5 ? 'auth' : 'send logs'));
    expect(mixed.map(({ tell }) => tell)).toEqual([false, false, false, false, true, true]);
  });

  it('see the burst that crashes real daemons once', () => {
    const crashes = (count: number, gapMs: number) =>
      admit(Array.from({ length: count }, (_, index) => index * gapMs)).filter(({ crashing }) => crashing)
        .length;
    expect(crashes(10, 1)).toBe(0);
    expect(crashes(11, 1)).toBe(1);
    expect(crashes(15, 1)).toBe(1);
    expect(crashes(40, 101)).toBe(0);
  });
});

describe('rate window', () => {
  it('allows its limit, refuses the rest and opens again after a minute', () => {
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
