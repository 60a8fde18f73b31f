// The state of a server's polls, from their results; poll-plan.ts decides when one is due.

import type { Problem } from '../domain/problems.ts';
import { VALID_INTERVALS } from '../domain/snapshot.ts';
import { AT_ONCE, NEVER } from '../domain/time.ts';
import type { Resources } from '../panel/responses.ts';
import { NO_DATA } from '../panel/responses.ts';
import { FAILURES_TO_RETRY, retryGapMs, slowRetryMs } from './backoff.ts';
import { lastingRefusal } from './lasting-refusal.ts';

/** How often a server is polled, and when a sample is stale, in milliseconds. */
export interface PollIntervals {
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
}

/**
 * Milliseconds after which a polled sample is stale: as configured, or longer if polls come too
 * rarely for that; `lateMs` is how long the last one waited for its call.
 */
export function polledStalenessMs(
  { stalenessMs, pollIntervalMs: intervalMs }: PollIntervals,
  lateMs = 0,
): number {
  // The short wait that every call has doesn't make polls rare.
  const actualMs = lateMs * 2 > intervalMs ? intervalMs + lateMs : intervalMs;
  return actualMs * 2 > stalenessMs ? actualMs * VALID_INTERVALS : stalenessMs;
}

/** How a poll ended; after a `refused` one, the next waits for the slow retry. */
export type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed' | 'refused'; readonly problem: Problem };

/** The polls of one server; instants are monotonic milliseconds. */
export interface PollState {
  /** The result of the last poll since polling began; `none` before the first. */
  readonly result: { readonly type: 'none' } | EndedPoll;
  /** How many polls in a row had a result of this type. */
  readonly inARow: number;
  /** When the last poll started and ended. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** No polls before this instant, because of a refusal or failure. */
  readonly notBefore: number;
  /** The part of the interval until the next poll; undefined before the first response. */
  readonly part: number | undefined;
}

export const NEVER_POLLED: PollState = {
  result: { type: 'none' },
  inARow: 0,
  startedAt: NEVER,
  endedAt: NEVER,
  notBefore: AT_ONCE,
  part: undefined,
};

/** The result of a poll that got this response, or failed. */
export function pollResult(answer: Resources | Problem): EndedPoll {
  const problem = problemIn(answer);
  if (problem === undefined) return { type: 'answered' };
  // A node that refuses the panel blocks none of its servers: its trials decide when to try again.
  return { type: lastingRefusal(problem)?.reason === undefined ? 'failed' : 'refused', problem };
}

function problemIn(answer: Resources | Problem): Problem | undefined {
  if ('cause' in answer) return answer;
  if (answer.suspended) return { cause: 'suspended', detail: 'suspended according to the panel' };
  return answer.sample === undefined ? NO_DATA : undefined;
}

/** The state after a poll; pure. `random` is uniform in [0, 1). */
export function afterPoll(
  before: PollState,
  result: EndedPoll,
  { now, random, intervalMs }: Readonly<Record<'now' | 'random' | 'intervalMs', number>>,
): PollState {
  const inARow = before.result.type === result.type ? before.inARow + 1 : 1;
  const state = { ...before, result, inARow, endedAt: now };
  switch (result.type) {
    case 'answered':
      // Servers that were polled in one burst at the start are spread from then on.
      return { ...state, notBefore: AT_ONCE, part: before.part === undefined ? 1 + 0.5 * random : 1 };
    case 'failed': {
      // A server whose polls fail isn't polled more often than others.
      const gapMs = Math.max(retryGapMs(inARow), inARow < FAILURES_TO_RETRY ? 0 : intervalMs);
      return { ...state, notBefore: now + gapMs };
    }
    case 'refused':
      return { ...state, notBefore: before.startedAt + slowRetryMs(inARow, random) };
  }
}

/** Were the last polls refused, or did they fail several times in a row? */
export function isPollRetry({ result, inARow }: PollState): boolean {
  return result.type === 'refused' || (result.type === 'failed' && inARow >= FAILURES_TO_RETRY);
}
