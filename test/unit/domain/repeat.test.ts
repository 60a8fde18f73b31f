import { beforeEach, describe, expect, it } from 'vitest';
import { Repeat } from '../../../src/domain/repeat.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('Repeat', () => {
  let clock: ManualClock;
  let repeat: Repeat;
  /** When runs began. */
  let runs: number[];
  let start: number;

  beforeEach(() => {
    clock = new ManualClock();
    start = clock.now();
    repeat = new Repeat(clock);
    runs = [];
  });

  const run = () => {
    runs.push(clock.now() - start);
    return Promise.resolve(1_000);
  };

  it('runs at once, and again after the delay that each run returns', async () => {
    repeat.start(run);
    await clock.advance(2_500);
    expect(runs).toEqual([0, 1_000, 2_000]);
  });

  it('can begin later, and a run that is due later can be hastened', async () => {
    repeat.start(run, 5_000);
    repeat.hasten(6_000);
    repeat.hasten(300);
    await clock.advance(1_500);
    expect(runs).toEqual([300, 1_300]);
  });

  it('runs nothing twice at the same time, however often it is hastened', async () => {
    const end = deferred<number>();
    repeat.start(() => {
      runs.push(clock.now() - start);
      return end.promise;
    });
    repeat.hasten(0);
    await clock.advance(10_000);
    expect(runs).toEqual([0]);
    end.resolve(500);
    await clock.advance(500);
    expect(runs).toEqual([0, 10_500]);
  });

  it.each(['stop', 'start'] as const)('%s ends the run under way, and no other follows it', async (how) => {
    const end = deferred<number>();
    const signals: AbortSignal[] = [];
    repeat.start((signal) => {
      signals.push(signal);
      return end.promise;
    });
    if (how === 'stop') repeat.stop();
    else repeat.start(run, 60_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    end.resolve(0);
    await clock.advance(50_000);
    expect(signals).toHaveLength(1);
    expect(runs).toEqual([]);
    expect(repeat.isRunning).toBe(how === 'start');
  });
});
