import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bounded, inScope, sleep, untilAborted } from '../../../src/domain/waits.ts';
import { ManualClock } from '../../support/manual-clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
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

/** Work that ends only when its signal aborts, like the panel's calls. */
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
