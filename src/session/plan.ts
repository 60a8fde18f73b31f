import { CAUSES } from '../diagnosis/causes.ts';
import { besideWorkingPath, NO_DATA } from '../diagnosis/outcome.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import { type CollectionStatus, type Condition, VALID_INTERVALS } from '../domain/reading.ts';
import type { BlockedReason } from '../domain/server.ts';
import { POLL_CACHE_MS, type Resources } from '../panel/dialect.ts';
import {
  FAILURES_TO_RETRY,
  hasFailed,
  isAttempt,
  isListed,
  isLive,
  type LastingRefusal,
  lastingRefusal,
  type MachineEvent,
  type MachineState,
  mayBeOfPanel,
  refusedRetryMs,
  retryGapMs,
  type StateNamed,
  slowRetryMs,
  UNANSWERED_LIMIT,
} from './machine-model.ts';
import type { SessionState, Surroundings, WayState } from './session.ts';

/** The instant before all others. */
export const NEVER = Number.NEGATIVE_INFINITY;

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
export function planOf(state: SessionState, seen: Surroundings): Plan {
  const { machine } = state;
  const from = seen.isRunning ? pollsFrom(state, seen) : undefined;
  const polling = from !== undefined && (from <= seen.now || machine.name === 'idle' || hasFailed(machine));
  const { result } = from === undefined || isOver(state.poll, seen) ? NEVER_POLLED : state.poll;
  return {
    socket: socketPlan(machine, seen),
    poll: from === undefined ? undefined : pollPlan(state, from, seen),
    status: collectionStatus(evidenceOf(state, seen, { polling, result })),
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

/** When a server that rests tries again; one that is listed by now was refused for a reason that may be over soon. */
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
  { sockets, polls }: Pick<Surroundings, 'sockets' | 'polls'>,
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
  if (sockets.heldBy !== undefined && !isPollHeld) return NEVER;
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

/** Is the reason of the last failure over, so that it says nothing about the server any more? */
function isOver({ result, endedAt }: PollState, seen: Surroundings): boolean {
  return result.type === 'failed' && pollsOutdatedAt(result, seen) > endedAt;
}

function pollsOutdatedAt(result: PollState['result'], seen: Surroundings): number {
  if (!('problem' in result)) return NEVER;
  const { type, problem } = result;
  const othersAt = type === 'failed' ? seen.recoveredOnNode.get(problem.cause) : undefined;
  return Math.max(outdatedAt(problem, seen.polls, seen), othersAt ?? NEVER);
}

/** When it last became outdated what a failure shows. */
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

/** How often a server is polled, and when a sample is stale, in milliseconds. */
export interface PollIntervals {
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
}

/**
 * Milliseconds after which a polled sample is stale: as configured, or longer if polls come too rarely for that; `lateMs` is how
 * long the last one waited for its call.
 */
export function polledStalenessMs(
  { stalenessMs, pollIntervalMs: intervalMs }: PollIntervals,
  lateMs = 0,
): number {
  // The few moments that each call takes don't make polls rare.
  const actualMs = lateMs * 2 > intervalMs ? intervalMs + lateMs : intervalMs;
  return actualMs * 2 > stalenessMs ? actualMs * VALID_INTERVALS : stalenessMs;
}

/** How a poll ended; after a `refused` one, the next waits for the slow retry. */
export type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed' | 'refused'; readonly problem: Problem };

/** When a server's resources are requested next, unless a request is under way. */
export interface PollPlan extends PollIntervals {
  readonly at: number;
  /** The failures of the last polls say nothing any more. */
  readonly isOutdated: boolean;
}

/** The polls of one server; instants are monotonic milliseconds. */
export interface PollState {
  /** The result of the last poll since polling began; `none` before the first. */
  readonly result: { readonly type: 'none' } | EndedPoll;
  /** So many polls in a row had a result of this type. */
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
  notBefore: NEVER,
  part: undefined,
};

/** The result of a poll that got this response, or failed. */
export function resultOf(answer: Resources | Problem): EndedPoll {
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
      return { ...state, notBefore: NEVER, part: before.part === undefined ? 1 + 0.5 * random : 1 };
    case 'failed': {
      // What failed often needn't be asked more often than others.
      const gapMs = Math.max(retryGapMs(inARow), inARow < FAILURES_TO_RETRY ? 0 : intervalMs);
      return { ...state, notBefore: now + gapMs };
    }
    case 'refused':
      return { ...state, notBefore: before.startedAt + slowRetryMs(inARow, random) };
  }
}

/** When the next poll is due, not before `from`; pure. A failure delays it by its gap only, and a refusal by the slow retry. */
export function nextPollAt(
  { result, startedAt, notBefore, part = 1 }: PollState,
  from: number,
  intervalMs: number,
): number {
  const intervalEnd = result.type === 'failed' ? NEVER : startedAt + intervalMs * part;
  return Math.max(from, intervalEnd, notBefore);
}

/** Were the last polls refused, or did they fail several times in a row? */
export function isPollRetry({ result, inARow }: PollState): boolean {
  return result.type === 'refused' || (result.type === 'failed' && inARow >= FAILURES_TO_RETRY);
}

/** What one server's condition depends on, with what follows from it. */
interface Evidence {
  readonly state: SessionState;
  readonly seen: Surroundings;
  readonly result: PollState['result'];
  /** Whether the server should be polled now. */
  readonly polling: boolean;
  /** The refusal of the socket that stands, also while it is retested. */
  readonly refused: LastingRefusal | undefined;
  readonly socketProblem: Problem | undefined;
  readonly pollProblem: Problem | undefined;
}

/** A row applies if it returns a status. */
type StatusRow = (now: Evidence) => CollectionStatus | undefined;

/** The conditions of a server: the first row that applies is its condition. */
export const STATUS_ROWS = {
  stopped: ({ seen }) => (seen.isRunning ? undefined : { condition: 'stopped' }),
  'blocked in the list, but its socket streams': ({ seen: { target }, state }) => {
    if (target.blocked === undefined || !isLive(state.machine)) return undefined;
    const detail = `${listedAs(target.blocked)}, but the console socket streams`;
    return statusOf('streaming', { cause: target.blocked, detail });
  },
  'blocked in the list': ({ seen: { target } }) =>
    target.blocked && blockedBy({ cause: target.blocked, detail: listedAs(target.blocked) }),
  streaming: ({ state: { machine } }) =>
    isLive(machine) ? statusOf('streaming', machine.problem) : undefined,
  polled: ({ polling, result, seen, socketProblem }) =>
    polling && result.type === 'answered' && seen.polls.heldBy === undefined
      ? statusOf('polling', socketProblem)
      : undefined,
  'the panel or its key fails': ({ state, refused, seen: { sockets } }) =>
    mayBeOfPanel(refused?.reason) && state.machine.name !== 'idle' && isOfPanel(sockets.heldBy)
      ? statusOf('failing', sockets.heldBy)
      : undefined,
  'refused twice': ({ refused, result, socketProblem }) => {
    if (refused === undefined || result.type !== 'refused') return undefined;
    // Of two with the same reason, the socket's problem is more specific.
    const isSame = lastingRefusal(result.problem)?.reason === refused.reason;
    return blockedBy(isSame ? socketProblem : result.problem);
  },
  // Until the resources endpoint has refused as well, a server isn't blocked. The socket's problem is shown even if a poll fails,
  // because it lasts and is more specific.
  'console refused': ({ refused, seen: { target }, socketProblem }) =>
    refused !== undefined && (refused.reason === undefined || (refused.pollable && target.mode === 'auto'))
      ? statusOf('failing', socketProblem)
      : undefined,
  'socket refused': ({ refused, socketProblem }) => refused && blockedBy(socketProblem),
  'polls refused': ({ polling, result, state }) =>
    polling && result.type === 'refused' && state.machine.name === 'idle'
      ? blockedBy(result.problem)
      : undefined,
  'polls fail': ({ socketProblem, pollProblem }) =>
    pollProblem && statusOf('failing', moreExact(socketProblem, pollProblem)),
  // A socket that was moved to another node soon after a failure reconnects without a problem of its own, and one that is tried
  // because what prevented it is over hasn't failed again.
  'socket fails': ({ state: { machine }, seen: { sockets }, socketProblem }) => {
    if (machine.name === 'idle' || socketProblem === undefined) return undefined;
    const isFailing = hasFailed(machine) || sockets.heldBy !== undefined;
    return isFailing ? statusOf('failing', socketProblem) : undefined;
  },
  // The panel or its node has to respond first.
  'still blocked': ({ state: { status } }) => (status.condition === 'blocked' ? status : undefined),
  waiting: ({ state: { machine } }) =>
    machine.name === 'idle' || machine.name === 'fetchingToken' ? { condition: 'waiting' } : undefined,
  connecting: () => ({ condition: 'connecting' }),
} as const satisfies Record<string, StatusRow>;

const ROWS: readonly StatusRow[] = Object.values(STATUS_ROWS);

/** The condition of a server, and the problem behind it; pure. */
export function collectionStatus(evidence: Evidence): CollectionStatus {
  for (const row of ROWS) {
    const status = row(evidence);
    if (status !== undefined) return status;
  }
  return { condition: 'connecting' };
}

export function evidenceOf(
  state: SessionState,
  seen: Surroundings,
  { polling, result }: Pick<Evidence, 'polling' | 'result'>,
): Evidence {
  const { machine } = state;
  const problem = machine.name === 'idle' ? undefined : machine.problem;
  const explained = polling && result.type === 'answered' ? besideWorkingPath(problem) : problem;
  const socketProblem = machine.name === 'idle' ? undefined : moreExact(explained, seen.sockets.heldBy);
  const failedPoll = result.type === 'failed' ? result.problem : undefined;
  const pollProblem = polling ? moreExact(failedPoll, seen.polls.heldBy) : undefined;
  return { state, seen, polling, result, refused: lastingRefusal(problem), socketProblem, pollProblem };
}

function listedAs(reason: BlockedReason): string {
  return `${reason} according to the panel's server list`;
}

/** A closed socket, and a node that doesn't know the server, are less specific than what keeps the socket from being opened again. */
const UNSPECIFIC: ReadonlySet<CauseCode> = new Set(['closed', 'server_not_on_node']);

/** The more specific problem: of two with the same scope the first, and one of a server or node before one of the panel. */
function moreExact(one: Problem | undefined, other: Problem | undefined): Problem | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return UNSPECIFIC.has(one.cause) || (isOfPanel(one) && !isOfPanel(other)) ? other : one;
}

function isOfPanel(problem: Problem | undefined): boolean {
  if (problem === undefined) return false;
  const { scope } = CAUSES[problem.cause];
  return scope === 'panel' || scope === 'key';
}

function statusOf(condition: Condition, problem: Problem | undefined): CollectionStatus {
  return problem === undefined ? { condition } : { condition, problem };
}

/** The problem that is shown has to be the one behind the reason. */
function blockedBy(problem: Problem | undefined): CollectionStatus {
  return { ...statusOf('blocked', problem), blocked: lastingRefusal(problem)?.reason };
}
