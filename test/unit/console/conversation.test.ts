import { describe, expect, it } from 'vitest';
import { Watch } from '../../../src/console/conversation.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('a watch', () => {
  it('resolves if the condition is met already or after an event', async () => {
    const watch = new Watch(new ManualClock(), new AbortController().signal);
    await expect(watch.until(() => true)).resolves.toBe(true);
    let holds = false;
    const waiting = watch.until(() => holds);
    watch.poke();
    holds = true;
    watch.poke();
    await expect(waiting).resolves.toBe(true);
  });

  it('gives up at the deadline', async () => {
    const clock = new ManualClock();
    const watch = new Watch(clock, new AbortController().signal);
    const waiting = watch.until(() => false, 1_000);
    await clock.advance(1_000);
    await expect(waiting).resolves.toBe(false);
    expect(clock.pending).toBe(0);
  });

  it('rejects with the reason of its signal, before or during the wait, and leaves no timer', async () => {
    const clock = new ManualClock();
    const ending = new AbortController();
    const watch = new Watch(clock, ending.signal);
    const waiting = watch.until(() => false, 1_000);
    const reason = new Error('over');
    ending.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(watch.until(() => true, 1_000)).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });
});
