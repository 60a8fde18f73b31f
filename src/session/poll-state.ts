// The state of a server's polls, derived from their results. poll-plan.ts decides when one is due.

import { AT_ONCE, NEVER } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import { VALID_INTERVALS } from '../domain/snapshot.ts';
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
 * Milliseconds after which a polled sample is stale: as configured, or longer if polls are too
 * infrequent for that. `lateMs` is how long the last poll waited for its call.
 */
export function polledStalenessMs(
  { stalenessMs, pollIntervalMs: intervalMs }: PollIntervals,
  lateMs = 0,
): number {
  // Every call waits for a short time, which doesn't make polls infrequent.
  const actualMs = lateMs * 2 > intervalMs ? intervalMs + lateMs : intervalMs;
  return actualMs * 2 > stalenessMs ? actualMs * VALID_INTERVALS : stalenessMs;
}

/** The result of a poll. After a `refused` one, the next waits for the slow retry. */
export type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed' | 'refused'; readonly problem: Problem };

/** The polls of one server. Instants are monotonic milliseconds. */
export interface PollState {
  /** The result of the last poll; `none` before the first one since polling began. */
  readonly result: { readonly type: 'none' } | EndedPoll;
  /** The number of consecutive polls with a result of this type. */
  readonly inARow: number;
  /** When the last poll started and ended. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The earliest instant of the next poll after a refusal or failure. */
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

/** The result of a poll with this response or problem. */
export function pollResult(answer: Resources | Problem): EndedPoll {
  const problem = pollProblem(answer);
  if (problem === undefined) return { type: 'answered' };
  // A node that refuses the panel's calls blocks none of its servers. Its trials decide when to
  // retry.
  return { type: lastingRefusal(problem)?.reason === undefined ? 'failed' : 'refused', problem };
}

function pollProblem(answer: Resources | Problem): Problem | undefined {
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
      // From then on, servers that were polled together at the start are spread.
      return { ...state, notBefore: AT_ONCE, part: before.part === undefined ? 1 + 0.5 * random : 1 };
    case 'failed': {
      // A server with failing polls isn't polled more often than others.
      const gapMs = Math.max(retryGapMs(inARow), inARow < FAILURES_TO_RETRY ? 0 : intervalMs);
      return { ...state, notBefore: now + gapMs };
    }
    case 'refused':
      return { ...state, notBefore: before.startedAt + slowRetryMs(inARow, random) };
  }
}

/** Were the last polls refused, or did several in a row fail? */
export function isPollRetry({ result, inARow }: PollState): boolean {
  return result.type === 'refused' || (result.type === 'failed' && inARow >= FAILURES_TO_RETRY);
}
