import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { INTERNAL_ERRORS } from '../../../src/domain/internal-errors.ts';
import {
  bounded,
  formatDuration,
  inScope,
  parseDuration,
  repeat,
  SystemClock,
  sleep,
  untilAborted,
} from '../../../src/domain/time.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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

const REASON = new Error('no longer needed');

const never = () => new Promise<never>(() => undefined);

/** Work that ends only when its signal aborts, as the panel's calls do. */
const untilSignal = (signal: AbortSignal) => untilAborted(never(), signal);

describe.each<[string, (signal: AbortSignal, work: () => Promise<string>) => Promise<string>]>([
  ['untilAborted', (signal, work) => untilAborted(work(), signal)],
  ['inScope', (signal, work) => inScope(signal, (scope) => untilAborted(work(), scope.signal))],
  [
    'bounded',
    (signal, work) =>
      bounded(
        { clock: new ManualClock(), signal },
        1_000,
        () => new Error('late'),
        (inner) => untilAborted(work(), inner),
      ),
  ],
])('%s', (_name, run) => {
  it('gives the result of the work, and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await run(signal, async () => 'done')).toBe('done');
    await expect(run(signal, () => Promise.reject(REASON))).rejects.toBe(REASON);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason when the signal aborts, and leaves no listener', async () => {
    const controller = new AbortController();
    const running = run(controller.signal, never);
    controller.abort(REASON);
    await expect(running).rejects.toBe(REASON);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('rejects with the reason of a signal that has already aborted', async () => {
    await expect(run(AbortSignal.abort(REASON), never)).rejects.toBe(REASON);
  });
});

describe('work that is bounded', () => {
  it('is aborted with the given error when the time is up, and not before', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    let inner: AbortSignal | undefined;
    const running = bounded(
      { clock, signal },
      1_000,
      () => REASON,
      (given) => untilSignal((inner = given)),
    );
    await clock.advance(999);
    expect(inner?.aborted).toBe(false);
    await Promise.all([expect(running).rejects.toBe(REASON), clock.advance(1)]);
    expect(signal.aborted).toBe(false);
  });

  it('leaves no timer when it ends in time', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    await bounded(
      { clock, signal },
      1_000,
      () => REASON,
      async () => 'done',
    );
    expect(clock.pending).toBe(0);
  });
});

describe('what is repeated', () => {
  let clock: ManualClock;
  /** When runs began. */
  let runs: number[];
  let start: number;

  beforeEach(() => {
    clock = new ManualClock();
    start = clock.now();
    runs = [];
  });

  const begun = () => runs.push(clock.now() - start);

  const run = () => {
    begun();
    return Promise.resolve(1_000);
  };

  it('runs at once, and again after the delay that each run returns', async () => {
    repeat(clock, run);
    await clock.advance(2_500);
    expect(runs).toEqual([0, 1_000, 2_000]);
  });

  it('can be hastened if it is due later', async () => {
    const repeated = repeat(clock, run);
    await clock.advance(0);
    repeated.hasten(2_000);
    repeated.hasten(300);
    await clock.advance(1_500);
    expect(runs).toEqual([0, 300, 1_300]);
  });

  it('runs nothing twice at the same time, however often it is hastened', async () => {
    const end = deferred<number>();
    const repeated = repeat(clock, () => {
      begun();
      return end.promise;
    });
    repeated.hasten(0);
    await clock.advance(10_000);
    expect(runs).toEqual([0]);
    end.resolve(500);
    await clock.advance(500);
    expect(runs).toEqual([0, 10_500]);
  });

  it('begins again ten seconds after a run that rejects, which is reported', async () => {
    const reported: unknown[] = [];
    onTestFinished(INTERNAL_ERRORS.listen((error) => reported.push(error)));
    const repeated = repeat(clock, () => {
      begun();
      return runs.length < 3 ? Promise.reject(new Error(`run ${runs.length}`)) : Promise.resolve(1_000);
    });
    await clock.advance(21_000);
    expect(runs).toEqual([0, 10_000, 20_000, 21_000]);
    expect(reported).toEqual([new Error('run 1'), new Error('run 2')]);
    repeated.stop();
  });

  it('reports nothing when a run rejects because it is stopped', async () => {
    const repeated = repeat(clock, (signal) => sleep(clock, 1_000, signal).then(() => 0));
    repeated.stop();
    await clock.advance(20_000);
    expect(clock.pending).toBe(0);
  });

  it('is aborted when it is stopped, and does not run again', async () => {
    const end = deferred<number>();
    let given: AbortSignal | undefined;
    const repeated = repeat(clock, (signal) => {
      given = signal;
      begun();
      return end.promise;
    });
    repeated.stop();
    expect(given?.aborted).toBe(true);
    end.resolve(0);
    await clock.advance(10_000);
    expect(runs).toEqual([0]);
  });

  it('does not run again if it is stopped between two runs', async () => {
    const repeated = repeat(clock, run);
    await clock.advance(500);
    repeated.stop();
    await clock.advance(10_000);
    expect(runs).toEqual([0]);
  });
});

describe('durations', () => {
  it.each([
    ['15s', 15_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1m500ms', 60_500],
    ['1d', 86_400_000],
    ['', undefined],
    ['15', undefined],
    ['1.5s', undefined],
    ['30m1h', undefined],
    ['1s1s', undefined],
    ['-5s', undefined],
    [' 5s', undefined],
  ])('%j is %s ms', (text, durationMs) => {
    expect(parseDuration(text)).toBe(durationMs);
  });

  it('are parsed back after formatting', () => {
    fc.assert(
      fc.property(fc.nat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});
