import { describe, expect, it, vi } from 'vitest';
import { SocketTrials } from '../../../../src/panel/health/socket-trials.ts';
import { socketsSubject } from '../../../../src/panel/subjects.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const TRIAL = { subject: socketsSubject('n'), isFresh: true };

function trials() {
  const over: string[] = [];
  return { over, trials: new SocketTrials((server) => over.push(server)) };
}

describe('the trial of a server’s socket', () => {
  it('ends once its socket has ended and that is recorded', async () => {
    const world = trials();
    const { server, end } = world.trials.begin('a', TRIAL, new AbortController().signal);
    expect([server, world.trials.find('a')]).toMatchObject(['a', TRIAL]);
    const hasTried = world.trials.take('a');
    expect(world.trials.find('a')).toBeUndefined();
    hasTried();
    await end;
    expect(world.over).toEqual([]);
  });

  it('is over when it is withdrawn before the server has tried', async () => {
    const world = trials();
    const scope = new AbortController();
    const { end } = world.trials.begin('a', TRIAL, scope.signal);
    scope.abort(new Error('the trial is over'));
    await expect(end).rejects.toThrow('the trial is over');
    expect([world.over, world.trials.find('a')]).toEqual([['a'], undefined]);
  });

  it('outlasts the end of an earlier one of the same server', async () => {
    const world = trials();
    const scope = new AbortController();
    const { end } = world.trials.begin('a', TRIAL, scope.signal);
    scope.abort(new Error('the trial is over'));
    world.trials.begin('a', { ...TRIAL, isFresh: false }, new AbortController().signal);
    await expect(end).rejects.toThrow('the trial is over');
    expect([world.over, world.trials.find('a')]).toMatchObject([[], { isFresh: false }]);
  });

  it('is over when the server tries another node', async () => {
    const world = trials();
    const { end } = world.trials.begin('a', TRIAL, new AbortController().signal);
    const ended = vi.fn<() => void>();
    void end.then(ended);
    const other = { ...TRIAL, subject: socketsSubject('m') };
    world.trials.begin('a', other, new AbortController().signal);
    await new ManualClock().advance(0);
    expect(ended).toHaveBeenCalledOnce();
    expect([world.over, world.trials.find('a')]).toMatchObject([[], other]);
  });

  it('that nobody makes ends without anything', () => {
    expect(trials().trials.take('b')()).toBeUndefined();
  });
});
