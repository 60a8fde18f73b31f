// Decides what a server needs, as a pure function of its session's state and surroundings.

import { NEVER } from '../domain/clock.ts';
import { isListedUnblocked } from '../domain/server.ts';
import type { CollectionStatus } from '../domain/snapshot.ts';
import { refusedRetryMs } from './backoff.ts';
import { collectionStatus, gatherEvidence } from './condition.ts';
import {
  hasFailed,
  isAttempt,
  isLive,
  type MachineEvent,
  type MachineState,
  type StateNamed,
} from './machine-model.ts';
import { outdatedAt } from './outdated-failure.ts';
import { isOver, type PollPlan, pollPlan, pollsFrom } from './poll-plan.ts';
import { NEVER_POLLED } from './poll-state.ts';
import type { SessionState } from './session-state.ts';
import type { Surroundings } from './surroundings.ts';

/** What a server needs, and its condition. */
export interface Plan {
  /** The event for the socket's machine; undefined if there is none now. */
  readonly socket: MachineEvent | undefined;
  /** Undefined if its resources aren't requested. */
  readonly poll: PollPlan | undefined;
  readonly status: CollectionStatus;
}

const NO_SOCKET: MachineEvent = { type: 'stop' };

/** Plans a session's next actions, and determines its condition; pure. */
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
  // An open socket lasts until its token expires.
  if (target.blocked !== undefined) return isLive(machine) ? undefined : NO_SOCKET;
  return target.mode === 'poll' || !hasRoom ? NO_SOCKET : nextEvent(machine, seen);
}

/** The event that follows from the surroundings in the current state. */
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
    case 'streaming':
    case 'renewing': {
      const failedAt = machine.failedRenewals?.at ?? Number.POSITIVE_INFINITY;
      const triedAt = Math.max(failedAt, machine.wokenAt ?? NEVER);
      // Each failed trial is a new judgment of the node, and must not cause another call.
      const way = mayConnect ? sockets : { ...sockets, nodeJudgedAt: NEVER };
      return outdatedAt(machine.problem, way, seen) > triedAt ? { type: 'wake' } : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * When a waiting server tries again. It is sooner if the server list now contains the server,
 * because the reason for its refusal may end soon.
 */
function retryAt(
  { name, dueAt, since }: StateNamed<'backingOff' | 'blocked'>,
  { target }: Pick<Surroundings, 'target'>,
): number {
  return name === 'blocked' && isListedUnblocked(target) ? Math.min(dueAt, since + refusedRetryMs(0)) : dueAt;
}

/** Was the server chosen to test its node's sockets, without making an attempt? */
export function declinesTrial(machine: MachineState, { trial }: Pick<Surroundings, 'trial'>): boolean {
  return trial !== undefined && !isAttempt(machine);
}
