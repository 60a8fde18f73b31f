// The problem of a server that stays in transition between power states.

import type { ServerState } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import { STARTING_SECONDS, STOPPING_SECONDS } from '../domain/thresholds.ts';

/**
 * The usual maximum duration of a transition in milliseconds; undefined if the state isn't a
 * transition.
 */
function longestMs(state: ServerState): number | undefined {
  if (state === 'starting') return STARTING_SECONDS * 1_000;
  return state === 'stopping' ? STOPPING_SECONDS * 1_000 : undefined;
}

/** Has this transition taken so long that it probably won't end? */
export function isStuck(state: ServerState, forMs: number): boolean {
  return forMs >= (longestMs(state) ?? Number.NaN);
}

/**
 * The problem of a transition that has taken so long that it probably won't end; undefined
 * otherwise. `isAnswering` is set if the game responds to queries, so that players can join.
 */
export function stuckProblem(state: ServerState, forMs: number, isAnswering: boolean): Problem | undefined {
  if (!isStuck(state, forMs)) return undefined;
  const minutes = Math.floor(forMs / 60_000);
  const time = minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
  const players = isAnswering ? '; its game responds to queries, so players can join' : '';
  return {
    cause: state === 'starting' ? 'still_starting' : 'still_stopping',
    detail: `${state} for ${time}${players}`,
  };
}
