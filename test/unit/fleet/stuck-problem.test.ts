import { describe, expect, it } from 'vitest';
import { SERVER_STATES, type ServerState } from '../../../src/domain/power-states.ts';
import { isStuck, stuckProblem } from '../../../src/fleet/stuck-problem.ts';

const MINUTE = 60_000;

describe('a server in a transition', () => {
  it.each<[state: ServerState, minutes: number, detail: string | undefined]>([
    ['starting', 14.9, undefined],
    ['starting', 15, 'starting for 15 min'],
    ['starting', 119.9, 'starting for 119 min'],
    ['starting', 120, 'starting for 2 h'],
    ['starting', 5_000, 'starting for 83 h'],
    ['stopping', 4.9, undefined],
    ['stopping', 5, 'stopping for 5 min'],
  ])('%s for %d minutes has the detail %j', (state, minutes, detail) => {
    expect(stuckProblem(state, minutes * MINUTE, false)?.detail).toBe(detail);
    expect(isStuck(state, minutes * MINUTE)).toBe(detail !== undefined);
    const cause = state === 'starting' ? 'still_starting' : 'still_stopping';
    expect(stuckProblem(state, minutes * MINUTE, false)?.cause).toBe(detail && cause);
  });

  it('whose game responds to queries says so', () => {
    expect(stuckProblem('starting', 120 * MINUTE, true)?.detail).toBe(
      'starting for 2 h; its game responds to queries, so players can join',
    );
  });
});

it.each(SERVER_STATES.filter((state) => state !== 'starting' && state !== 'stopping'))(
  'a server may be %s for ever',
  (state) => {
    expect(stuckProblem(state, Number.POSITIVE_INFINITY, false)).toBeUndefined();
  },
);
