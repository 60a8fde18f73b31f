import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import {
  type Health,
  type HealthEvent,
  nextRoundAt,
  stepHealth,
  UNKNOWN_HEALTH,
} from '../../../src/panel/health.ts';

const problem = (cause: Problem['cause']): Problem => ({ cause, detail: cause });
const failed = (cause: Problem['cause'] = 'timeout'): HealthEvent => ({
  type: 'roundFailed',
  problem: problem(cause),
});
const proven: HealthEvent = { type: 'proven', at: 5 };
const started = (at: number): HealthEvent => ({ type: 'roundStarted', at });
const after = (...events: readonly HealthEvent[]): Health => events.reduce(stepHealth, UNKNOWN_HEALTH);

describe('the health of a panel', () => {
  it.each<[string, readonly HealthEvent[], Partial<Health>]>([
    ['is unknown at first', [], { state: 'unknown' }],
    ['is up after the first success', [proven], { state: 'up', provenAt: 5 }],
    ['stays unknown after one failed round', [failed()], { state: 'unknown' }],
    ['stays up after one failed round', [proven, failed()], { state: 'up' }],
    ['is down after two', [proven, failed(), failed()], { state: 'down', problem: problem('timeout') }],
    ['is down after one that the key is refused in', [failed('key_address')], { state: 'down' }],
    ['is up if a call succeeds between two', [failed(), proven, failed()], { state: 'up' }],
    ['is up again after any success', [failed(), failed(), proven], { state: 'up', problem: undefined }],
    [
      'has the problem of the last round',
      [failed(), failed(), failed('dns')],
      { state: 'down', problem: problem('dns') },
    ],
    [
      'calls a missing panel that',
      [failed('not_found'), failed('not_found')],
      { problem: { cause: 'not_a_panel', detail: 'not_found' } },
    ],
    [
      'stays down with its cause when key or address change',
      [failed(), failed(), { type: 'changed' }],
      { state: 'down', problem: problem('timeout') },
    ],
  ])('%s', (_what, events, health) => {
    expect(after(...events)).toMatchObject(health);
  });

  it('is asked again 15 s after the start of a round, and after 15, 30 and then 60 s while it is down', () => {
    const rounds: HealthEvent[] = [];
    const gaps: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      rounds.push(started(round * 1_000), failed());
      gaps.push(nextRoundAt(after(...rounds)) - round * 1_000);
    }
    expect(gaps).toEqual([15_000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000]);
  });

  it('is asked at once when key or address change', () => {
    expect(nextRoundAt(after(started(9_000), failed(), { type: 'changed' }))).toBe(Number.NEGATIVE_INFINITY);
  });
});
