import { CAUSES, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import { type Logger, type ServerEvent, subjectOf } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionStatus, Condition, SocketState } from '../domain/reading.ts';
import {
  type BlockedReason,
  type CollectionMode,
  type SampleSource,
  type ServerTarget,
} from '../domain/server.ts';
import type { LastingRefusal } from './failure.ts';
import type { MachineState } from './machine-model.ts';
import type { PollResult } from './poller.ts';

/** What one server's condition depends on. */
export interface Circumstances {
  readonly machine: MachineState;
  /** Whether the server should be polled now. */
  readonly polling: boolean;
  readonly poll: PollResult;
  readonly mode: CollectionMode;
  /** Why no socket of its node is opened for now, and why no server of its node is polled: a problem of several servers. */
  readonly socketHold: Problem | undefined;
  readonly pollHold: Problem | undefined;
}

/** The condition of a server, and the problem behind it; pure. */
export function collectionStatus(now: Circumstances): CollectionStatus {
  const { machine, poll, polling, socketHold, pollHold } = now;
  if (machine.name === 'streaming' || machine.name === 'refreshing') {
    return statusOf('streaming', machine.problem);
  }
  const socketProblem = moreExact(machine.name === 'idle' ? undefined : machine.problem, socketHold);
  if (polling && poll.type === 'answered' && pollHold === undefined)
    return statusOf('polling', socketProblem);
  const refused = machine.name === 'idle' ? undefined : machine.refused;
  const isExplained = isOfPanel(socketHold) && (refused === undefined || mayBeOfPanel(refused.reason));
  if (isExplained) return statusOf('failing', socketHold);
  if (refused !== undefined) return refusedStatus(refused, socketProblem, now);
  if (polling && poll.type === 'refused' && machine.name === 'idle') {
    return { condition: 'blocked', blocked: poll.reason, problem: poll.problem };
  }
  const pollProblem = polling
    ? moreExact(poll.type === 'failed' ? poll.problem : undefined, pollHold)
    : undefined;
  if (pollProblem !== undefined) return statusOf('failing', moreExact(socketProblem, pollProblem));
  if (machine.name === 'idle') return { condition: 'waiting' };
  // A socket that was moved to another node soon after a failure reconnects without a problem of its own, and one that is tried
  // because what prevented it is over hasn't failed again.
  const hasFailed = machine.failures > 0 && machine.wokenAt === undefined;
  if ((hasFailed || socketHold !== undefined) && socketProblem !== undefined)
    return statusOf('failing', socketProblem);
  return { condition: machine.name === 'fetchingToken' ? 'waiting' : 'connecting' };
}

/**
 * The more specific problem: of two with the same scope the first, and one of a server or node before one of the panel. A
 * closed socket is less specific than anything that keeps it from being opened again.
 */
function moreExact(one: Problem | undefined, other: Problem | undefined): Problem | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.cause === 'closed' || (isOfPanel(one) && !isOfPanel(other)) ? other : one;
}

/**
 * May the refusal concern the panel or its API key? A 401 or 404 may, and a problem of the key itself has no reason that belongs to
 * the server.
 */
export function mayBeOfPanel(reason: BlockedReason | undefined): boolean {
  return reason === undefined || reason === 'unauthorized' || reason === 'not_found';
}

/** Is it a state of the server, which the server list knows as well? */
export function isListedReason(reason: BlockedReason | undefined): boolean {
  return reason !== undefined && !mayBeOfPanel(reason) && reason !== 'forbidden';
}

function isOfPanel(problem: Problem | undefined): boolean {
  if (problem === undefined) return false;
  const { scope } = CAUSES[problem.cause];
  return scope === 'panel' || scope === 'key';
}

function refusedStatus(
  refused: LastingRefusal,
  problem: Problem | undefined,
  now: Circumstances,
): CollectionStatus {
  const { poll } = now;
  if (poll.type === 'refused') {
    // The problem shown has to be the one behind the reason; if there are two, the socket's is more specific.
    const shown = poll.reason === refused.reason ? problem : poll.problem;
    return { ...statusOf('blocked', shown), blocked: poll.reason };
  }
  // If the resources endpoint may still respond, a server isn't blocked until that has refused as well. The socket's problem is
  // shown even if a poll fails, because it lasts and is more specific.
  if (refused.reason === undefined || (refused.pollable && now.mode === 'auto'))
    return statusOf('failing', problem);
  return { ...statusOf('blocked', problem), blocked: refused.reason };
}

function statusOf(condition: Condition, problem: Problem | undefined): CollectionStatus {
  return problem === undefined ? { condition } : { condition, problem };
}

/** The stage of the session's socket. */
export function socketState(machine: MachineState): SocketState {
  switch (machine.name) {
    case 'connecting':
    case 'authenticating':
    case 'streaming':
    case 'refreshing':
      return machine.name;
    case 'opening':
      return 'authenticating';
    case 'idle':
    case 'fetchingToken':
    case 'backingOff':
    case 'blocked':
      return 'none';
  }
}

/** The source through which a change restored a server's data, if it did. */
export function recoveredWay(before: CollectionStatus, now: CollectionStatus): SampleSource | undefined {
  const wasLost = before.condition === 'failing' || before.condition === 'blocked';
  const wasFallback = before.condition === 'polling' && before.problem !== undefined;
  if (now.condition === 'streaming') return wasLost || wasFallback ? 'socket' : undefined;
  return now.condition === 'polling' && wasLost ? 'poll' : undefined;
}

/** What the log line about a condition depends on besides the condition. */
export interface ConditionContext {
  readonly node?: string | undefined;
  /** The previous condition. */
  readonly before?: CollectionStatus;
  /** The server's socket has been open before. */
  readonly hasStreamed?: boolean;
  /** The change is planned: the server is polled until its socket opens. */
  readonly isRoutine?: boolean;
}

/**
 * Logs one line when a server's condition changes. A problem of the panel or its API key is logged once for all servers, so the
 * line of each server is only at level debug; a fact such as a suspension is not a warning.
 */
export function logCondition(
  log: Logger,
  target: ServerTarget,
  status: CollectionStatus,
  context: ConditionContext = {},
): void {
  const { condition, problem } = status;
  const event = eventOf(status, context);
  const fields = {
    ...subjectOf(target, context.node),
    event,
    condition,
    cause: problem?.cause,
    detail: problem?.detail,
  };
  const server = `server ${target.name}`;
  if (condition === 'streaming' || condition === 'polling') {
    const again = event === 'streaming_again' || event === 'polling_again' ? ' again' : '';
    const level = context.isRoutine === true ? 'debug' : 'info';
    log[level](fields, `${server} is ${condition === 'polling' ? 'polled' : condition}${again}`);
  } else if (problem !== undefined && (condition === 'blocked' || condition === 'failing')) {
    const { before } = context;
    // A failure was logged with this cause: that the polls are refused for it as well is no second warning.
    const isRepeated =
      condition === 'blocked' && before?.condition === 'failing' && before.problem?.cause === problem.cause;
    log[isRepeated ? 'debug' : levelOf(problem)](fields, troubleText(server, status, problem));
  } else log.debug(fields, `${server} is ${condition}`);
}

/** What happened to the server, judged by its condition and the previous one; undefined if it isn't worth reporting. */
function eventOf(
  status: CollectionStatus,
  { before = { condition: 'waiting' }, hasStreamed = false }: ConditionContext,
): ServerEvent | undefined {
  const isAgain = recoveredWay(before, status) !== undefined;
  switch (status.condition) {
    case 'streaming':
      return isAgain || hasStreamed ? 'streaming_again' : 'streaming';
    case 'polling':
      if (status.problem !== undefined) return 'fallback';
      return isAgain ? 'polling_again' : 'polling';
    case 'failing':
      return before.condition === 'streaming' ? 'closed' : 'failing';
    case 'blocked':
      return 'blocked';
    case 'waiting':
    case 'connecting':
    case 'stopped':
      return undefined;
  }
}

function levelOf({ cause }: Problem): 'debug' | 'info' | 'warn' {
  const { scope, severity } = CAUSES[cause];
  if (scope === 'panel' || scope === 'key') return 'debug';
  // A socket that was closed is reconnected at once: if that fails, the cause of that failure is the warning.
  return severity === 'fact' || cause === 'closed' ? 'info' : 'warn';
}

function troubleText(server: string, { condition, blocked }: CollectionStatus, problem: Problem): string {
  const { cause, detail } = problem;
  if (condition === 'failing' && cause === 'closed') return `${server}: ${detail}; reconnecting`;
  if (condition === 'failing') return `${server} can't be monitored: ${withRemedy(problem)}`;
  const reason = blocked ?? shortTitle(cause);
  // The panel's own message often contains the state already.
  const isNamed = detail.toLowerCase().includes(reason);
  return `${server} is blocked${isNamed ? '' : ` (${reason})`}: ${withRemedy(problem)}`;
}
