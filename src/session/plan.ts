// What a server needs: a pure function of its session's state and surroundings.

import type { Problem } from '../domain/problems.ts';
import type { CollectionStatus } from '../domain/reading.ts';
import { isListed } from '../domain/server.ts';
import { NEVER } from '../domain/time.ts';
import { POLL_CACHE_MS } from '../panel/dialect.ts';
import { refusedRetryMs } from './backoff.ts';
import { collectionStatus, gatherEvidence } from './condition.ts';
import { lastingRefusal, mayBeOfPanel } from './lasting-refusal.ts';
import {
  hasFailed,
  isAttempt,
  isLive,
  type MachineEvent,
  type MachineState,
  type StateNamed,
  UNANSWERED_LIMIT,
} from './machine-model.ts';
import { NEVER_POLLED, nextPollAt, type PollPlan, type PollState } from './poll.ts';
import type { SessionState } from './session-state.ts';
import type { Surroundings, WayState } from './surroundings.ts';

/** A server whose socket fails is polled once its data is this old. */
export const FALLBACK_AFTER_MS = 30_000;

/** A socket that works streams this soon. */
const CONNECTS_WITHIN_MS = 5_000;

/** What a server needs, and what is shown of it. */
export interface Plan {
  /** What happens to the server's socket now, because of its surroundings. */
  readonly socket: MachineEvent | undefined;
  /** Undefined if its resources aren't requested. */
  readonly poll: PollPlan | undefined;
  readonly status: CollectionStatus;
}

const NO_SOCKET: MachineEvent = { type: 'stop' };

/** What a session has to do, and what it shows: follows from what is; pure. */
export function makePlan(state: SessionState, seen: Surroundings): Plan {
  const { machine } = state;
  const from = seen.isRunning ? pollsFrom(state, seen) : undefined;
  const polling = from !== undefined && (from <= seen.now || machine.name === 'idle' || hasFailed(machine));
  const { result } = from === undefined || isOver(state.poll, seen) ? NEVER_POLLED : state.poll;
  return {
    socket: socketPlan(machine, seen),
    poll: from === undefined ? undefined : pollPlan(state, from, seen),
    status: collectionStatus(gatherEvidence(state, seen, { polling, result })),
  };
}

function socketPlan(machine: MachineState, seen: Surroundings): MachineEvent | undefined {
  const { isRunning, hasRoom, target } = seen;
  if (!isRunning) return NO_SOCKET;
  // An open socket lasts until its token ends.
  if (target.blocked !== undefined) return isLive(machine) ? undefined : NO_SOCKET;
  return target.mode === 'poll' || !hasRoom ? NO_SOCKET : nextEvent(machine, seen);
}

/** What the machine is to do now because of its surroundings. */
function nextEvent(machine: MachineState, seen: Surroundings): MachineEvent | undefined {
  const { now, mayConnect, trial, sockets } = seen;
  switch (machine.name) {
    case 'idle':
      return { type: 'try', isFresh: !mayConnect };
    case 'fetchingToken':
      return outdatedAt(machine.problem, sockets, seen) > machine.since ? { type: 'wake' } : undefined;
    case 'backingOff':
    case 'blocked':
      if (trial !== undefined) return { type: 'try', isFresh: trial.isFresh };
      if (!mayConnect) return undefined;
      if (outdatedAt(machine.problem, sockets, seen) > machine.since) return { type: 'wake' };
      return now >= retryAt(machine, seen) ? { type: 'try', isFresh: false } : undefined;
    case 'streaming': {
      const failedAt = machine.failedRefreshes?.at ?? Number.POSITIVE_INFINITY;
      return sockets.panelJudgedAt > failedAt ? { type: 'wake' } : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * When a server that rests tries again; one that is listed by now was refused for a reason that may
 * be over soon.
 */
function retryAt(
  { name, dueAt, since }: StateNamed<'backingOff' | 'blocked'>,
  { target }: Pick<Surroundings, 'target'>,
): number {
  return name === 'blocked' && isListed(target) ? Math.min(dueAt, since + refusedRetryMs(0)) : dueAt;
}

/** Was the server chosen to try its node's sockets without doing so? */
export function declinesTrial(machine: MachineState, { trial }: Pick<Surroundings, 'trial'>): boolean {
  return trial !== undefined && !isAttempt(machine);
}

/** From when on the server is polled; undefined for never. */
function pollsFrom(state: SessionState, seen: Surroundings): number | undefined {
  const { target, hasRoom } = seen;
  if (target.blocked !== undefined || target.mode === 'socket') return undefined;
  return target.mode === 'poll' || !hasRoom ? NEVER : fallbackFrom(state, seen);
}

/** The same of a server whose socket should stream. */
function fallbackFrom(
  { machine, sampledAt, waitingSince }: SessionState,
  { sockets, polls, hasTokenRoom }: Pick<Surroundings, 'sockets' | 'polls' | 'hasTokenRoom'>,
): number | undefined {
  const overdueFrom = (sampledAt ?? waitingSince) + FALLBACK_AFTER_MS;
  if (machine.name === 'idle') return undefined;
  // Until a dead socket is given up and another one streams, the data would become stale.
  if (isLive(machine)) return machine.unanswered < UNANSWERED_LIMIT ? undefined : overdueFrom;
  const { problem, failures, wokenAt } = machine;
  const refused = lastingRefusal(problem);
  const isPollHeld = polls.heldBy !== undefined;
  if (refused?.pollable === false) return undefined;
  // While polls are held as well, one would only wait, and start in place of the socket.
  const isSocketHeld = sockets.heldBy !== undefined || (machine.name === 'fetchingToken' && !hasTokenRoom);
  if (isSocketHeld && !isPollHeld) return NEVER;
  // With a token, it will probably stream at once, and without its data is as old as before.
  if ('connectsAt' in machine) return Math.max(overdueFrom, machine.connectsAt + CONNECTS_WITHIN_MS);
  // It will probably connect at once: a poll would take a call from others.
  if (wokenAt !== undefined) return isPollHeld ? undefined : wokenAt + FALLBACK_AFTER_MS;
  if (refused !== undefined) return NEVER;
  if (machine.name !== 'fetchingToken' || failures > 0) return overdueFrom;
  // A server that is only waiting for its call has not failed, but may have data to lose.
  return sampledAt === undefined ? undefined : machine.since + FALLBACK_AFTER_MS;
}

function pollPlan({ poll, sampledAt }: SessionState, from: number, seen: Surroundings): PollPlan {
  const { pollIntervalMs, stalenessMs } = seen;
  const isOutdated = pollsOutdatedAt(poll.result, seen) > poll.endedAt;
  const isSoon = poll.result.type === 'refused' && isListed(seen.target);
  const notBefore = isSoon ? Math.min(poll.notBefore, poll.endedAt + refusedRetryMs(0)) : poll.notBefore;
  const due = isOutdated ? from : nextPollAt({ ...poll, notBefore }, from, pollIntervalMs);
  // A response that the panel cached before the newest sample would be dropped.
  const at = Math.max(due, (sampledAt ?? NEVER) + POLL_CACHE_MS);
  return { at, isOutdated, pollIntervalMs, stalenessMs };
}

/** Has the reason for the last failure ended, so that the failure no longer counts? */
function isOver({ result, endedAt }: PollState, seen: Surroundings): boolean {
  return result.type === 'failed' && pollsOutdatedAt(result, seen) > endedAt;
}

function pollsOutdatedAt(result: PollState['result'], seen: Surroundings): number {
  if (!('problem' in result)) return NEVER;
  const { type, problem } = result;
  const othersAt = type === 'failed' ? seen.recoveredOnNode.get(problem.cause) : undefined;
  return Math.max(outdatedAt(problem, seen.polls, seen), othersAt ?? NEVER);
}

/** The last time at which a stored failure became obsolete. */
function outdatedAt(problem: Problem | undefined, way: WayState, seen: Surroundings): number {
  const { panelJudgedAt, nodeJudgedAt } = way;
  const refused = lastingRefusal(problem);
  const ends = [NEVER];
  if (mayBeOfPanel(refused?.reason)) ends.push(panelJudgedAt);
  if (refused?.reason === undefined) ends.push(nodeJudgedAt);
  // A state that the server list shows as well: the response that contained it may be outdated.
  else if (!mayBeOfPanel(refused.reason) && refused.reason !== 'forbidden') ends.push(seen.listedAt);
  // Another server with the same refusal works, and this one is listed as that one is.
  if (refused !== undefined && problem !== undefined && seen.target.node !== undefined)
    ends.push(seen.recovered.get(problem.cause) ?? NEVER);
  return Math.max(...ends);
}
