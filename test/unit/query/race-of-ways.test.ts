import { describe, expect, it } from 'vitest';
import { DEADLINE_MS, QueryError, type Way } from '../../../src/query/query-model.ts';
import { answerTo } from '../../../src/query/race-of-ways.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const HEAD_START_MS = 800;

const wayAt = (port: number): Way => ({
  protocol: 'valve',
  ip: '192.0.2.1',
  hostname: '192.0.2.1',
  port,
  queryPort: port,
});

/**
 * The end of a query over one transport: after this time, with this number of players or this
 * error, or never.
 */
type End = readonly [afterMs: number, result: number | QueryError] | 'never';

/** Queries a server over transports with these ends. Their ports are 0, 1, … in this order. */
function race(ends: readonly End[]) {
  const clock = new ManualClock();
  const startedAt = clock.now();
  const scope = new AbortController();
  const started: number[] = [];
  const aborted: number[] = [];
  let answeredAt: number | undefined;
  const queryWay = ({ port }: Way, signal: AbortSignal) =>
    new Promise<{ players: number }>((resolve, reject) => {
      started.push(clock.now() - startedAt);
      signal.addEventListener('abort', () => {
        aborted.push(port);
        reject(new QueryError(`port ${port}: no response`, 'query_no_answer'));
      });
      const end = ends[port];
      if (end === undefined || end === 'never') return;
      const [afterMs, result] = end;
      clock.schedule(afterMs, () => {
        if (result instanceof QueryError) reject(result);
        else resolve({ players: result });
      });
    });
  const question = { ways: ends.map((_, port) => wayAt(port)), headStartMs: HEAD_START_MS };
  const answer = answerTo(question, clock, queryWay, scope.signal).then((result) => {
    answeredAt = clock.now() - startedAt;
    return result;
  });
  return { clock, scope, started, aborted, answer, answeredAt: () => answeredAt };
}

const REFUSED = new QueryError('nothing listens on the port', 'query_refused');
const WRONG = new QueryError('responded wrongly', 'query_wrong_protocol');

describe('the first response counts', () => {
  it.each<[string, readonly End[], players: number, at: number, started: readonly number[]]>([
    ['of the only way', [[100, 1]], 1, 100, [0]],
    [
      'of the first way, which has a head start',
      [
        [700, 1],
        [0, 2],
      ],
      1,
      700,
      [0],
    ],
    [
      'of the second way after the head start',
      [
        [2_000, 1],
        [100, 2],
      ],
      2,
      900,
      [0, 800],
    ],
    [
      'of the first way, even after its head start',
      [
        [1_000, 1],
        [500, 2],
      ],
      1,
      1_000,
      [0, 800],
    ],
    [
      'of the second way at once if the first fails',
      [
        [100, REFUSED],
        [100, 2],
      ],
      2,
      200,
      [0, 100],
    ],
    ['of the last way, one head start after another', ['never', 'never', [10, 3]], 3, 1_610, [0, 800, 1_600]],
  ])('%s', async (_what, ends, players, at, started) => {
    const one = race(ends);
    await one.clock.advance(DEADLINE_MS);
    expect(await one.answer).toEqual({ players });
    expect([one.answeredAt(), one.started]).toEqual([at, started]);
  });

  it('and ends all other ways', async () => {
    const one = race(['never', [100, 2], 'never']);
    await one.clock.advance(HEAD_START_MS + 100);
    await one.answer;
    expect(new Set(one.aborted)).toEqual(new Set([0, 1]));
    expect(one.clock.pending).toBe(0);
  });
});

describe('without a response', () => {
  it.each<[string, readonly End[], cause: string, detail: string]>([
    [
      'every failure is told once, the most informative first',
      [
        [0, REFUSED],
        [0, WRONG],
        [0, REFUSED],
      ],
      'query_wrong_protocol',
      'responded wrongly; nothing listens on the port',
    ],
    [
      'the time ends all ways',
      ['never', 'never'],
      'query_no_answer',
      'port 0: no response; port 1: no response',
    ],
    ['there may be no way at all', [], 'query_no_answer', ''],
  ])('%s', async (_what, ends, cause, detail) => {
    const one = race(ends);
    await one.clock.advance(DEADLINE_MS);
    expect(await one.answer).toEqual({ query_problem: { cause, detail } });
    expect(one.answeredAt()).toBeLessThanOrEqual(DEADLINE_MS);
    expect(one.clock.pending).toBe(0);
  });

  it('the query ends with its signal, and starts no other way', async () => {
    const one = race(['never', [0, 1]]);
    one.scope.abort();
    expect(await one.answer).toMatchObject({ query_problem: { cause: 'query_no_answer' } });
    expect(one.started).toEqual([0]);
  });
});
