import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { INTERNAL_ERRORS } from '../../../src/domain/internal-errors.ts';
import { repeat } from '../../../src/domain/repeated-work.ts';
import { sleep } from '../../../src/domain/waits.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('what is repeated', () => {
  let clock: ManualClock;
  /** The start times of all runs. */
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
