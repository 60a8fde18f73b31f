// Decides when a server's next poll is due; pure.

import { AT_ONCE, NEVER } from '../domain/clock.ts';
import { isListedUnblocked } from '../domain/server.ts';
import { POLL_CACHE_MS } from '../panel/responses.ts';
import { refusedRetryMs } from './backoff.ts';
import { lastingRefusal } from './lasting-refusal.ts';
import { isLive, needsToken, UNANSWERED_LIMIT } from './machine-model.ts';
import { outdatedAt } from './outdated-failure.ts';
import type { PollIntervals, PollState } from './poll-state.ts';
import type { SessionState } from './session-state.ts';
import type { Surroundings } from './surroundings.ts';

/** A server with a failing socket is polled once its data is this old. */
export const FALLBACK_AFTER_MS = 30_000;

/** A working socket streams within this time. */
const CONNECTS_WITHIN_MS = 5_000;

/** When a server's resources are requested next, unless a request is in progress. */
export interface PollPlan extends PollIntervals {
  readonly at: number;
  /** Whether failures of the last polls no longer count. */
  readonly isOutdated: boolean;
}

/** The instant from which the server is polled; undefined if it isn't. */
export function pollsFrom(state: SessionState, seen: Surroundings): number | undefined {
  const { target, hasRoom } = seen;
  if (target.blocked !== undefined || target.mode === 'socket') return undefined;
  return target.mode === 'poll' || !hasRoom ? AT_ONCE : fallbackFrom(state, seen);
}

/** The same for a server that should stream. */
function fallbackFrom(
  { machine, sampledAt, waitingSince }: SessionState,
  { sockets, polls, isTokenDelayed }: Pick<Surroundings, 'sockets' | 'polls' | 'isTokenDelayed'>,
): number | undefined {
  const overdueFrom = (sampledAt ?? waitingSince) + FALLBACK_AFTER_MS;
  if (machine.name === 'idle') return undefined;
  // Until a dead socket is abandoned and another one streams, the data would become stale.
  if (isLive(machine)) return machine.unanswered < UNANSWERED_LIMIT ? undefined : overdueFrom;
  const { problem, failures, wokenAt } = machine;
  const refused = lastingRefusal(problem);
  const isPollHeld = polls.heldBy !== undefined;
  if (refused?.pollable === false) return undefined;
  // If polls are held as well, a poll would only wait, and then start in place of the socket.
  const isSocketHeld = sockets.heldBy !== undefined || (needsToken(machine) && isTokenDelayed);
  if (isSocketHeld && !isPollHeld) return AT_ONCE;
  // With a token, the socket will probably stream within seconds, so a poll waits for that.
  if ('connectsAt' in machine) return Math.max(overdueFrom, machine.connectsAt + CONNECTS_WITHIN_MS);
  // A woken server will probably connect at once: a poll would take a call from others.
  if (wokenAt !== undefined) return isPollHeld ? undefined : wokenAt + FALLBACK_AFTER_MS;
  if (refused !== undefined) return AT_ONCE;
  if (machine.name !== 'fetchingToken' || failures > 0) return overdueFrom;
  // A server that is only waiting for its call has not failed, but may have data to lose.
  return sampledAt === undefined ? undefined : machine.since + FALLBACK_AFTER_MS;
}

/** When a server that is polled from this instant is polled next. */
export function pollPlan({ poll, sampledAt }: SessionState, from: number, seen: Surroundings): PollPlan {
  const { pollIntervalMs, stalenessMs } = seen;
  const isOutdated = pollsOutdatedAt(poll.result, seen) > poll.endedAt;
  // The server list shows the server unblocked, so its refusal may end soon, and needs no slow
  // retry.
  const mayBeOverSoon = poll.result.type === 'refused' && isListedUnblocked(seen.target);
  const soonAt = poll.endedAt + refusedRetryMs(0);
  const refusedUntil = mayBeOverSoon ? Math.min(poll.notBefore, soonAt) : poll.notBefore;
  // A later sample from the socket shows that the server is back.
  const notBefore = (sampledAt ?? NEVER) > poll.endedAt ? AT_ONCE : refusedUntil;
  const due = isOutdated ? from : nextPollAt({ ...poll, notBefore }, from, pollIntervalMs);
  // A response that the panel cached before the newest sample would be dropped.
  const at = Math.max(due, (sampledAt ?? NEVER) + POLL_CACHE_MS);
  return { at, isOutdated, pollIntervalMs, stalenessMs };
}

/**
 * When the next poll is due, at `from` or later; pure. A failure delays it only by its gap, and a
 * refusal by the slow retry.
 */
export function nextPollAt(
  { result, startedAt, notBefore, part = 1 }: PollState,
  from: number,
  intervalMs: number,
): number {
  const intervalEnd = result.type === 'failed' ? NEVER : startedAt + intervalMs * part;
  return Math.max(from, intervalEnd, notBefore);
}

/** Has the reason for the last failure ended, so that the failure no longer counts? */
export function isOver({ result, endedAt }: PollState, seen: Surroundings): boolean {
  return result.type === 'failed' && pollsOutdatedAt(result, seen) > endedAt;
}

function pollsOutdatedAt(result: PollState['result'], seen: Surroundings): number {
  return 'problem' in result ? outdatedAt(result.problem, seen.polls, seen) : NEVER;
}
