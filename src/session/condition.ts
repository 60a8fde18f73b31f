// Decides the condition of a server and the problem that it shows, with a table in which the first
// applicable row wins. `panel/health/blame.ts` decides when its node or panel is blamed instead.

import { CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { BlockedReason } from '../domain/server.ts';
import type { CollectionStatus, Condition } from '../domain/snapshot.ts';
import { type LastingRefusal, lastingRefusal, mayBeOfPanel } from './lasting-refusal.ts';
import { hasFailed, isLive } from './machine-model.ts';
import type { PollState } from './poll-state.ts';
import type { SessionState } from './session-state.ts';
import type { Surroundings } from './surroundings.ts';

/** The evidence about one server's condition, and what follows from it. */
interface ConditionEvidence {
  readonly state: SessionState;
  readonly seen: Surroundings;
  readonly result: PollState['result'];
  /** Whether the server should be polled now. */
  readonly polling: boolean;
  /** The last refusal of the socket, even while it is retried. */
  readonly refused: LastingRefusal | undefined;
  readonly socketProblem: Problem | undefined;
  readonly pollProblem: Problem | undefined;
}

/** A row that applies if it returns a status. */
type StatusRow = (now: ConditionEvidence) => CollectionStatus | undefined;

/** The conditions of a server, in order of precedence. */
export const STATUS_ROWS = {
  stopped: ({ seen }) => (seen.isRunning ? undefined : { condition: 'stopped' }),
  'blocked in the list, but its socket streams': ({ seen: { target }, state }) => {
    if (target.blocked === undefined || !isLive(state.machine)) return undefined;
    const detail = `${listedAs(target.blocked)}, but the console socket streams`;
    return withProblem('streaming', { cause: target.blocked, detail });
  },
  'blocked in the list': ({ seen: { target } }) =>
    target.blocked && blockedStatus({ cause: target.blocked, detail: listedAs(target.blocked) }),
  streaming: ({ state: { machine } }) =>
    isLive(machine) ? withProblem('streaming', machine.problem) : undefined,
  polled: ({ polling, result, seen, socketProblem }) =>
    polling && result.type === 'answered' && seen.polls.heldBy === undefined
      ? withProblem('polling', socketProblem)
      : undefined,
  'the panel or its key fails': ({ state, refused, seen: { sockets } }) =>
    mayBeOfPanel(refused?.reason) && state.machine.name !== 'idle' && isPanelProblem(sockets.heldBy)
      ? withProblem('failing', sockets.heldBy)
      : undefined,
  'refused twice': ({ refused, result, socketProblem }) => {
    if (refused === undefined || result.type !== 'refused') return undefined;
    // If both have the same reason, the socket's problem is more specific.
    const isSame = lastingRefusal(result.problem)?.reason === refused.reason;
    return blockedStatus(isSame ? socketProblem : result.problem);
  },
  // A server isn't blocked until the resources endpoint has refused as well. Until then, the
  // socket's problem is shown even if a poll fails, because it lasts and is more specific.
  'console refused': ({ refused, seen: { target }, socketProblem }) =>
    refused !== undefined && (refused.reason === undefined || (refused.pollable && target.mode === 'auto'))
      ? withProblem('failing', socketProblem)
      : undefined,
  'socket refused': ({ refused, socketProblem }) => refused && blockedStatus(socketProblem),
  'polls refused': ({ polling, result, state }) =>
    polling && result.type === 'refused' && state.machine.name === 'idle'
      ? blockedStatus(result.problem)
      : undefined,
  'polls fail': ({ socketProblem, pollProblem }) =>
    pollProblem && withProblem('failing', moreExact(socketProblem, pollProblem)),
  // A socket that moved to another node soon after a failure reconnects without a problem of its
  // own. A socket that is retried because its obstacle is gone hasn't failed again.
  'socket fails': ({ state: { machine }, seen: { sockets }, socketProblem }) => {
    if (machine.name === 'idle' || socketProblem === undefined) return undefined;
    const isFailing = hasFailed(machine) || sockets.heldBy !== undefined;
    return isFailing ? withProblem('failing', socketProblem) : undefined;
  },
  // A server stays blocked until the panel or its node responds.
  'still blocked': ({ state: { status } }) => (status.condition === 'blocked' ? status : undefined),
  waiting: ({ state: { machine } }) =>
    machine.name === 'idle' || machine.name === 'fetchingToken' ? { condition: 'waiting' } : undefined,
  connecting: () => ({ condition: 'connecting' }),
} as const satisfies Record<string, StatusRow>;

const ROWS: readonly StatusRow[] = Object.values(STATUS_ROWS);

/** The condition of a server, and its problem; pure. */
export function collectionStatus(evidence: ConditionEvidence): CollectionStatus {
  for (const row of ROWS) {
    const status = row(evidence);
    if (status !== undefined) return status;
  }
  return { condition: 'connecting' };
}

export function gatherEvidence(
  state: SessionState,
  seen: Surroundings,
  { polling, result }: Pick<ConditionEvidence, 'polling' | 'result'>,
): ConditionEvidence {
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

/** Causes that are less specific than what prevents the socket from being reopened. */
const UNSPECIFIC: ReadonlySet<CauseCode> = new Set(['closed', 'server_not_on_node']);

/**
 * The more specific problem: one of a server or node before one of the panel, otherwise the first.
 */
function moreExact(one: Problem | undefined, other: Problem | undefined): Problem | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return UNSPECIFIC.has(one.cause) || (isPanelProblem(one) && !isPanelProblem(other)) ? other : one;
}

function isPanelProblem(problem: Problem | undefined): boolean {
  if (problem === undefined) return false;
  const { scope } = CAUSES[problem.cause];
  return scope === 'panel' || scope === 'key';
}

function withProblem(condition: Condition, problem: Problem | undefined): CollectionStatus {
  return problem === undefined ? { condition } : { condition, problem };
}

/** The blocked status for a problem, so that its reason and the shown problem belong together. */
function blockedStatus(problem: Problem | undefined): CollectionStatus {
  return { ...withProblem('blocked', problem), blocked: lastingRefusal(problem)?.reason };
}

const UNKNOWN_PATH = 'daemon_unknown';

/**
 * The problem of a server's console while another path of the server works. The panel knows the
 * server, so a 404 is about the path.
 */
function besideWorkingPath(problem: Problem | undefined): Problem | undefined {
  return problem?.cause === 'not_found' ? { ...problem, cause: UNKNOWN_PATH } : problem;
}

/** The causes that servers show after a failure with this cause. */
export function shownCauses(cause: CauseCode): readonly CauseCode[] {
  return cause === 'not_found' ? [cause, UNKNOWN_PATH] : [cause];
}
