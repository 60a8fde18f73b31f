import type { CauseCode, Problem } from '../domain/problem.ts';
import type { CollectionStatus } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import { collectionStatus } from './condition.ts';
import { FALLBACK_AFTER_MS, type PollIntervals, refusedRetryMs, UNANSWERED_LIMIT } from './due.ts';
import { type LastingRefusal, mayBeOfPanel } from './failure.ts';
import { isAttempt, isLive, type MachineEvent, type MachineState, type StateNamed } from './machine-model.ts';
import { nextPollAt, type PollState } from './polls.ts';

const NEVER = Number.NEGATIVE_INFINITY;

/** A socket that works streams this soon. */
const CONNECTS_WITHIN_MS = 5_000;

/** The sockets of a server's node, or its polls; instants are monotonic milliseconds. */
interface WayState {
  /** Why it can't be used for now: a problem of the panel, the path, the account or the node. */
  readonly heldBy: Problem | undefined;
  /** When the panel was last blamed for it or cleared, and the node: failures from before are explained, or over. */
  readonly panelJudgedAt: number;
  readonly nodeJudgedAt: number;
}

const FREE: WayState = { heldBy: undefined, panelJudgedAt: NEVER, nodeJudgedAt: NEVER };

/** All that a session sees of the world around it; instants are monotonic milliseconds. */
export interface Surroundings extends PollIntervals {
  readonly now: number;
  readonly isRunning: boolean;
  /** What configuration and server list say of the server. */
  readonly target: ServerTarget;
  /** When the server list was last read completely. */
  readonly listedAt: number;
  /** The process may open a file for its socket. */
  readonly hasRoom: boolean;
  readonly sockets: WayState;
  readonly polls: WayState;
  /** The sockets of its node work as far as is known, or this server is the one that tries them. */
  readonly mayConnect: boolean;
  /** This server is the one that tries them, with new credentials if `isFresh`. */
  readonly trial: { readonly isFresh: boolean } | undefined;
  /** When another server last worked that had failed for a cause: any server of the panel, and those of its node. */
  readonly recovered: ReadonlyMap<CauseCode, number>;
  readonly recoveredOnNode: ReadonlyMap<CauseCode, number>;
}

/** Nothing holds the server, and nothing has happened that it could react to. */
export const NOTHING_KNOWN = {
  listedAt: NEVER,
  hasRoom: true,
  sockets: FREE,
  polls: FREE,
  mayConnect: true,
  trial: undefined,
  recovered: new Map<CauseCode, number>(),
  recoveredOnNode: new Map<CauseCode, number>(),
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
} satisfies Partial<Surroundings>;

/** What a session knows of its own server. */
export interface SessionState {
  readonly machine: MachineState;
  readonly poll: PollState;
  readonly sampledAt: number | undefined;
  /** Since when the session has needed a socket. */
  readonly waitingSince: number;
  readonly status: CollectionStatus;
}

/** When a server's resources are requested next: never, or at an instant, unless a request is under way. */
export type PollPlan =
  | { readonly type: 'off' }
  | ({
      readonly type: 'on';
      readonly at: number;
      /** The failures of the last polls say nothing any more. */
      readonly isOutdated: boolean;
    } & PollIntervals);

/** What a server needs, and what is shown of it. */
export interface Plan {
  /** What happens to the server's socket now, because of its surroundings. */
  readonly socket: MachineEvent | undefined;
  readonly poll: PollPlan;
  readonly status: CollectionStatus;
}

const NO_SOCKET: MachineEvent = { type: 'stop' };

/** What a session has to do, and what it shows: follows from what is; pure. */
export function planOf(state: SessionState, seen: Surroundings): Plan {
  const { machine, poll, status: before } = state;
  const { now, isRunning, target, sockets, polls } = seen;
  const from = isRunning ? pollsFrom(state, seen) : undefined;
  const hasFailed = !('failures' in machine) || (machine.failures > 0 && machine.wokenAt === undefined);
  const polling = from !== undefined && (from <= now || hasFailed);
  return {
    socket: socketPlan(machine, seen),
    poll: from === undefined ? { type: 'off' } : pollPlan(poll, from, seen),
    status: collectionStatus({
      isRunning,
      mode: target.mode,
      blocked: target.blocked,
      machine,
      polling,
      poll: from === undefined ? { type: 'none' } : poll.result,
      socketHold: sockets.heldBy,
      pollHold: polling ? polls.heldBy : undefined,
      before,
    }),
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
      return { type: 'start', mayConnect };
    case 'fetchingToken':
      return outdatedAt(machine, sockets, seen) > machine.since ? { type: 'wake' } : undefined;
    case 'backingOff':
    case 'blocked':
      if (trial !== undefined) return { type: 'try', isFresh: trial.isFresh };
      if (!mayConnect) return undefined;
      if (outdatedAt(machine, sockets, seen) > machine.since) return { type: 'wake' };
      return now >= retryAt(machine, seen) ? { type: 'timer', timer: 'retry' } : undefined;
    case 'streaming': {
      const failedAt = machine.failedRefreshes?.at ?? Number.POSITIVE_INFINITY;
      return sockets.panelJudgedAt > failedAt ? { type: 'wake' } : undefined;
    }
    case 'connecting':
    case 'authenticating':
    case 'opening':
    case 'refreshing':
      return undefined;
  }
}

/** Does the server list show the server, and nothing that keeps it from being monitored? */
export function isListed({ node, blocked }: ServerTarget): boolean {
  return node !== undefined && blocked === undefined;
}

/** When a server that rests tries again; one that is listed by now was refused for a reason that may be over soon. */
function retryAt(
  { name, retryAt: at, since }: StateNamed<'backingOff' | 'blocked'>,
  { target }: Pick<Surroundings, 'target'>,
): number {
  return name === 'blocked' && isListed(target) ? Math.min(at, since + refusedRetryMs(0)) : at;
}

/** Was the server chosen to try its node's sockets without doing so? */
export function declinesTrial(machine: MachineState, { trial }: Pick<Surroundings, 'trial'>): boolean {
  return trial !== undefined && !isAttempt(machine);
}

/** From when on the server is polled; undefined for never. */
function pollsFrom(state: SessionState, { target, hasRoom, ...seen }: Surroundings): number | undefined {
  if (target.blocked !== undefined || target.mode === 'socket') return undefined;
  return target.mode === 'poll' || !hasRoom ? NEVER : fallbackFrom(state, seen);
}

/** The same of a server whose socket should stream. */
function fallbackFrom(
  { machine, sampledAt, waitingSince }: SessionState,
  { sockets, polls }: Pick<Surroundings, 'sockets' | 'polls'>,
): number | undefined {
  const overdueFrom = (sampledAt ?? waitingSince) + FALLBACK_AFTER_MS;
  if (machine.name === 'idle') return undefined;
  // Until a dead socket is given up and another one streams, the data would become stale.
  if (isLive(machine)) return machine.unanswered < UNANSWERED_LIMIT ? undefined : overdueFrom;
  const { refused, failures, wokenAt } = machine;
  const isPollHeld = polls.heldBy !== undefined;
  if (refused?.pollable === false) return undefined;
  // While polls are held as well, one would only wait, and start in place of the socket.
  if (sockets.heldBy !== undefined && !isPollHeld) return NEVER;
  // With a token, it will probably stream at once, and without its data is as old as before.
  if ('connectsAt' in machine) return Math.max(overdueFrom, machine.connectsAt + CONNECTS_WITHIN_MS);
  // It will probably connect at once: a poll would take a call from others.
  if (wokenAt !== undefined) return isPollHeld ? undefined : wokenAt + FALLBACK_AFTER_MS;
  if (refused !== undefined) return NEVER;
  // A server that is only waiting for its call has not failed.
  return failures === 0 ? undefined : overdueFrom;
}

function pollPlan(poll: PollState, from: number, seen: Surroundings): PollPlan {
  const { pollIntervalMs, stalenessMs } = seen;
  const isOutdated = pollsOutdatedAt(poll.result, seen) > poll.endedAt;
  const isSoon = poll.result.type === 'refused' && isListed(seen.target);
  const notBefore = isSoon ? Math.min(poll.notBefore, poll.endedAt + refusedRetryMs(0)) : poll.notBefore;
  const at = isOutdated ? from : nextPollAt({ ...poll, notBefore }, from, pollIntervalMs);
  return { type: 'on', at, isOutdated, pollIntervalMs, stalenessMs };
}

function pollsOutdatedAt(result: PollState['result'], seen: Surroundings): number {
  if (result.type !== 'failed' && result.type !== 'refused') return NEVER;
  const { problem } = result;
  const refused = result.type === 'refused' ? result : undefined;
  const othersAt = refused === undefined ? seen.recoveredOnNode.get(problem.cause) : undefined;
  return Math.max(outdatedAt({ problem, refused }, seen.polls, seen), othersAt ?? NEVER);
}

/** What failed on a way, and the refusal if it was one that lasts. */
interface FailedWay {
  readonly problem?: Problem | undefined;
  readonly refused?: Pick<LastingRefusal, 'reason'> | undefined;
}

/** When it last became outdated what a failure shows. */
function outdatedAt({ problem, refused }: FailedWay, way: WayState, seen: Surroundings): number {
  const { panelJudgedAt, nodeJudgedAt } = way;
  if (refused === undefined) return Math.max(panelJudgedAt, nodeJudgedAt);
  const { reason } = refused;
  const ends = [NEVER];
  if (mayBeOfPanel(reason)) ends.push(panelJudgedAt);
  if (reason === undefined) ends.push(nodeJudgedAt);
  // A state that the server list shows as well: the response that contained it may be outdated.
  else if (!mayBeOfPanel(reason) && reason !== 'forbidden') ends.push(seen.listedAt);
  // Another server with the same refusal works, and this one is listed as that one is.
  if (problem !== undefined && seen.target.node !== undefined)
    ends.push(seen.recovered.get(problem.cause) ?? NEVER);
  return Math.max(...ends);
}
