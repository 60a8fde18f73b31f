import fc from 'fast-check';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { INTERNAL_ERRORS } from '../../../src/domain/internal-errors.ts';
import { eventually } from '../../support/eventually.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('SystemClock', () => {
  it('converts an instant to Unix time', () => {
    const clock = new SystemClock();
    const before = Date.now();
    const converted = clock.toUnixMs(clock.now());
    expect(converted).toBeGreaterThan(before - 1_000);
    expect(converted).toBeLessThan(Date.now() + 1_000);
  });

  it('keeps the shown time while the wall clock is slewed, and follows when it is stepped', () => {
    const realNow = Date.now;
    const clock = new SystemClock();
    const instant = clock.now();
    const shown = clock.toUnixMs(instant);
    const wall = vi.spyOn(Date, 'now');
    wall.mockImplementation(() => realNow() + 400);
    expect(clock.toUnixMs(instant)).toBe(shown);
    wall.mockImplementation(() => realNow() + 3_600_000);
    expect(clock.toUnixMs(instant) - shown).toBeGreaterThan(3_590_000);
  });

  it('keeps its monotonic time when the wall clock is stepped back', () => {
    const clock = new SystemClock();
    const before = clock.now();
    vi.spyOn(Date, 'now').mockReturnValue(0);
    expect(clock.now()).toBeGreaterThanOrEqual(before);
  });

  it('calls once after the delay, and never after it is cancelled', async () => {
    const clock = new SystemClock();
    const run = vi.fn<() => void>();
    const cancelled = vi.fn<() => void>();
    const cancel = clock.schedule(1, cancelled);
    cancel();
    cancel();
    clock.schedule(-5, run);
    await eventually(() => expect(run).toHaveBeenCalledOnce());
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(cancelled).not.toHaveBeenCalled();
  });

  it('does not fire immediately if the delay exceeds the maximum of a timer', async () => {
    const clock = new SystemClock();
    const run = vi.fn<() => void>();
    const cancels = [2 ** 31, Number.POSITIVE_INFINITY].map((delay) => clock.schedule(delay, run));
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const cancel of cancels) cancel();
    expect(run).not.toHaveBeenCalled();
  });

  it('calls at most a quarter of a second late, and never early', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const delays = fc.array(fc.tuple(fc.integer({ min: 10, max: 300_000 }), fc.boolean()));
    fc.assert(
      fc.property(delays, fc.nat(700), (tenths, startMs) => {
        const planned = tenths.map(([tenth, isCanceled]) => [tenth / 10, isCanceled] as const);
        const clock = new SystemClock();
        vi.advanceTimersByTime(startMs);
        const from = clock.now();
        const calledAt = planned.map(() => Number.NaN);
        const cancels = planned.map(([delayMs], index) =>
          clock.schedule(delayMs, () => (calledAt[index] = clock.now() - from)),
        );
        for (const [index, [, isCanceled]] of planned.entries()) if (isCanceled) cancels[index]?.();
        vi.advanceTimersByTime(31_000);
        for (const [index, [delayMs, isCanceled]] of planned.entries()) {
          const lateMs = (calledAt[index] ?? 0) - delayMs;
          if (isCanceled) expect(lateMs).toBeNaN();
          else if (delayMs < 10_000) expect(Math.abs(lateMs)).toBeLessThan(1);
          else expect(lateMs >= 0 && lateMs < 252).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['a timer of its own', 5],
    ['a shared one', 15_000],
  ])('makes each call although another throws, which is reported: %s', (_what, delayMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const reported: unknown[] = [];
    onTestFinished(INTERNAL_ERRORS.listen((error) => reported.push(error)));
    const clock = new SystemClock();
    const calls: number[] = [];
    for (let call = 0; call < 4; call += 1) {
      clock.schedule(delayMs, () => {
        calls.push(call);
        if (call % 2 === 0) throw new Error(`call ${call}`);
      });
    }
    vi.advanceTimersByTime(20_000);
    expect(calls).toEqual([0, 1, 2, 3]);
    expect(reported).toEqual([new Error('call 0'), new Error('call 2')]);
  });

  it.each([
    ['timers of their own', 5],
    ['a shared one', 15_000],
  ])(
    'makes calls that take long in several turns, unless they are canceled meanwhile: %s',
    (_what, delayMs) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let now = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => now);
      const turns: (() => void)[] = [];
      const clock = new SystemClock((run) => turns.push(run));
      const calls: number[] = [];
      const cancels = [0, 1, 2].map((call) =>
        clock.schedule(delayMs, () => {
          calls.push(call);
          now += 100;
        }),
      );
      vi.advanceTimersByTime(20_000);
      expect(calls).toEqual([0]);
      cancels[1]?.();
      turns.pop()?.();
      expect(calls).toEqual([0, 2]);
    },
  );

  it('leaves no timer behind when all that shared it are cancelled', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const clock = new SystemClock();
    const cancels = Array.from({ length: 1_000 }, () => clock.schedule(15_000, () => {}));
    expect(vi.getTimerCount()).toBe(1);
    for (const cancel of cancels) cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});
