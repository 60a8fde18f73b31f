import { beforeEach, describe, expect, it } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { LimitLearner } from '../../../src/fleet/limit-learner.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import type { Resources } from '../../../src/panel/dialect.ts';
import { RESOURCES } from '../../support/fleet-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const MINUTE = 60_000;

let clock: ManualClock;
let asked: (readonly [minute: number, server: string])[];
let answer: (signal: AbortSignal) => Promise<Resources>;

beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  answer = () => Promise.resolve(RESOURCES);
});

const recordOf = (changes: Partial<ServerTarget>) =>
  new ServerRecord(target(changes), { socket: MINUTE, poll: MINUTE });

function learnerOf(
  servers: readonly string[],
  records: readonly ServerRecord[] = servers.map((id) => recordOf({ id })),
): LimitLearner {
  const startedAt = clock.now();
  return new LimitLearner({
    clock,
    records: () => records,
    learn: (server, signal) => {
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
    answer = () => (asked.length < 3 ? Promise.reject(new Error('no')) : Promise.resolve(RESOURCES));
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
          release = () => resolve(RESOURCES);
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

  it('asks blocked servers only if there is no other, and never those that are blocked in the listing', async () => {
    const listed = recordOf({ id: 'listed', blocked: 'suspended' });
    const refused = recordOf({ id: 'refused' });
    refused.status = { condition: 'blocked', blocked: 'forbidden' };
    learnerOf([], [listed, refused, recordOf({ id: 'open' })]).start();
    learnerOf([], [listed, refused]).start();
    await clock.advance(60 * MINUTE);
    expect(asked.map(([, server]) => server)).toEqual(['open', 'refused', 'open', 'refused']);
  });

  it.each([
    ['auto', 'poll'],
    ['socket', undefined],
  ] as const)('records what the answer shows of a server with mode %s', async (mode, source) => {
    const record = recordOf({ id: 'a', mode });
    learnerOf([], [record]).start();
    await clock.advance(1_000);
    expect([record.source, record.sampledAt !== undefined]).toEqual([source, source !== undefined]);
  });

  it('can be stopped before it was started', () => {
    expect(() => learnerOf(['a']).stop()).not.toThrow();
  });
});
