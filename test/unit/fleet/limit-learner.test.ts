import { beforeEach, describe, expect, it } from 'vitest';
import { LimitLearner } from '../../../src/fleet/limit-learner.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MINUTE = 60_000;

let clock: ManualClock;
let asked: (readonly [minute: number, server: string])[];
let answer: (signal: AbortSignal) => Promise<void>;

beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  answer = () => Promise.resolve();
});

function learnerOf(servers: readonly string[]): LimitLearner {
  const startedAt = clock.now();
  return new LimitLearner({
    clock,
    servers: () => servers,
    ask: (server, signal) => {
      asked.push([(clock.now() - startedAt) / MINUTE, server]);
      return answer(signal);
    },
  });
}

describe('LimitLearner', () => {
  it('asks at the start, before any other call', () => {
    learnerOf(['a', 'b']).start();
    expect(asked).toEqual([[0, 'a']]);
  });

  it('asks once an hour, a different server each time', async () => {
    learnerOf(['a', 'b']).start();
    await clock.advance(180 * MINUTE);
    expect(asked).toEqual([
      [0, 'a'],
      [60, 'b'],
      [120, 'a'],
      [180, 'b'],
    ]);
  });

  it('asks the next server one minute after a failure', async () => {
    answer = () => (asked.length < 3 ? Promise.reject(new Error('no')) : Promise.resolve());
    learnerOf(['a', 'b']).start();
    await clock.advance(62 * MINUTE);
    expect(asked).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'a'],
      [62, 'b'],
    ]);
  });

  it('asks only if no other call was answered for an hour', async () => {
    const learner = learnerOf(['a']);
    learner.start();
    await clock.advance(50 * MINUTE);
    learner.answered();
    await clock.advance(59 * MINUTE);
    expect(asked).toHaveLength(1);
    await clock.advance(MINUTE);
    expect(asked).toEqual([
      [0, 'a'],
      [110, 'a'],
    ]);
  });

  it('does not repeat a failed attempt if a poll was answered meanwhile', async () => {
    answer = () => Promise.reject(new Error('no'));
    const learner = learnerOf(['a']);
    learner.start();
    await clock.advance(30_000);
    learner.answered();
    await clock.advance(60 * MINUTE);
    expect(asked.map(([minute]) => minute)).toEqual([0, 60.5]);
  });

  it('does not ask without servers', async () => {
    learnerOf([]).start();
    await clock.advance(120 * MINUTE);
    expect(asked).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('leaves no timer when stopped while waiting', async () => {
    const learner = learnerOf(['a']);
    learner.start();
    await clock.advance(MINUTE);
    learner.stop();
    expect(clock.pending).toBe(0);
  });

  it.each([true, false])(
    'aborts its current call when stopped (call honors its signal: %s)',
    async (honorsSignal) => {
      let release: () => void = () => {};
      let aborted: AbortSignal | undefined;
      answer = (signal) =>
        new Promise((resolve, reject) => {
          aborted = signal;
          release = resolve;
          if (honorsSignal) signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      const learner = learnerOf(['a']);
      learner.start();
      await clock.advance(1_000);
      learner.stop();
      expect(aborted?.aborted).toBe(true);
      release();
      await clock.advance(120 * MINUTE);
      expect(clock.pending).toBe(0);
      expect(asked).toHaveLength(1);
    },
  );

  it('can be stopped before it was started', () => {
    expect(() => learnerOf(['a']).stop()).not.toThrow();
  });
});
