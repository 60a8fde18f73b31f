import { describe, expect, it } from 'vitest';
import { countCall, type LimitForm, type RateWindow } from '../../../src/simulator/rate-window.ts';

/** Which of the calls at these seconds are allowed, with a limit of three. */
function allowedCalls(form: LimitForm | undefined, seconds: readonly number[]): string {
  let window: RateWindow | undefined;
  return seconds
    .map((second) => {
      const verdict = countCall(window, 3, second * 1_000, form);
      window = verdict.window;
      return verdict.allowed ? 'yes' : 'no';
    })
    .join(' ');
}

const CARRIED: LimitForm = { windowMs: 30_000, carryMs: 2_000 };

describe('a call counted against a limit', () => {
  it.each([
    ['fits into a minute up to the limit', undefined, [0, 1, 2, 3, 59.9], 'yes yes yes no no'],
    ['begins another minute', undefined, [0, 1, 2, 3, 60], 'yes yes yes no yes'],
    ["doesn't fit if it is the limit's last", CARRIED, [0, 1, 2], 'yes yes no'],
    ['begins another window after its end', CARRIED, [0, 1, 30, 31], 'yes yes yes yes'],
    ["makes the count go on in the window's last two seconds", CARRIED, [0, 28, 30], 'yes yes no'],
    ['just before these, does not', CARRIED, [0, 27.9, 30, 31], 'yes yes yes yes'],
    ['counts although it is refused', CARRIED, [0, 1, 2, 28, 31, 58], 'yes yes no no no yes'],
    ['is counted in whole seconds', CARRIED, [0.9, 28, 30.1], 'yes yes no'],
  ])('%s', (_what, form, seconds, expected) => {
    expect(allowedCalls(form, seconds)).toBe(expected);
  });

  it('says how many are left, and for how long', () => {
    const first = countCall(undefined, 3, 500, CARRIED);
    expect([first.remaining, first.resetMs]).toEqual([2, 29_500]);
    expect(countCall(first.window, 3, 1_500, CARRIED)).toMatchObject({ remaining: 1, resetMs: 28_500 });
  });
});
