import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { sleep } from '../../../src/domain/until-aborted.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('SystemClock', () => {
  it('converts an instant to Unix time', () => {
    const clock = new SystemClock();
    expect(Math.abs(clock.toUnixMs(clock.now()) - Date.now())).toBeLessThan(1_000);
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

  it('leaves no timer behind when all that shared it are cancelled', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const clock = new SystemClock();
    const cancels = Array.from({ length: 1_000 }, () => clock.schedule(15_000, () => {}));
    expect(vi.getTimerCount()).toBe(1);
    for (const cancel of cancels) cancel();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('sleep', () => {
  it('resolves after its time and removes its listener', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    let slept = false;
    const sleeping = sleep(clock, 1_000, signal).then(() => (slept = true));
    await clock.advance(999);
    expect(slept).toBe(false);
    await clock.advance(1);
    expect(await sleeping).toBe(true);
    expect(removed).toHaveBeenCalledOnce();
  });

  it('rejects with the reason as soon as its signal aborts, and clears its timer', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const slept = sleep(clock, 1_000, controller.signal);
    controller.abort(new Error('no longer needed'));
    await expect(slept).rejects.toThrow('no longer needed');
    expect(clock.pending).toBe(0);
  });

  it('rejects immediately if its signal is already aborted', async () => {
    const clock = new ManualClock();
    await expect(sleep(clock, 1_000, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(clock.pending).toBe(0);
  });
});
