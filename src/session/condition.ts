import { CAUSES } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { CollectionStatus, Condition, SocketState } from '../domain/reading.ts';
import type { CollectionMode, ServerTarget } from '../domain/server.ts';
import type { LastingRefusal } from './failure.ts';
import type { MachineState } from './machine-model.ts';
import type { PollResult } from './poller.ts';

/** What one server's condition depends on. */
export interface Circumstances {
  readonly machine: MachineState;
  /** Is polling wanted now? */
  readonly polling: boolean;
  readonly poll: PollResult;
  readonly mode: CollectionMode;
  /** What is wrong with the panel's API key, for every server. */
  readonly keyProblem: Problem | undefined;
}

/** The condition of a server, and the problem behind it; pure. */
export function collectionStatus(now: Circumstances): CollectionStatus {
  const { machine, poll } = now;
  if (machine.name === 'streaming' || machine.name === 'refreshing') {
    return statusOf('streaming', machine.problem);
  }
  if (now.keyProblem !== undefined) return statusOf('failing', now.keyProblem);
  const socketProblem = machine.name === 'idle' ? undefined : machine.problem;
  if (now.polling && poll.type === 'answered') return statusOf('polling', socketProblem);
  if (machine.name !== 'idle' && machine.refused !== undefined)
    return refusedStatus(machine.refused, socketProblem, now);
  if (now.polling && poll.type === 'refused' && machine.name === 'idle') {
    return { condition: 'blocked', blocked: poll.reason, problem: poll.problem };
  }
  if (now.polling && poll.type === 'failed') return statusOf('failing', poll.problem);
  if (machine.name === 'idle') return { condition: 'waiting' };
  // A socket that moved to another node soon after a failure connects anew without one.
  if (machine.failures > 0 && socketProblem !== undefined) return statusOf('failing', socketProblem);
  return { condition: machine.name === 'fetchingToken' ? 'waiting' : 'connecting' };
}

function refusedStatus(
  refused: LastingRefusal,
  problem: Problem | undefined,
  now: Circumstances,
): CollectionStatus {
  const { poll } = now;
  if (poll.type === 'refused') {
    // The problem shown has to be the one behind the reason; of two, the socket's is the more specific.
    const shown = poll.reason === refused.reason ? problem : poll.problem;
    return { ...statusOf('blocked', shown), blocked: poll.reason };
  }
  // If the resources endpoint may still answer, a server isn't blocked until that has refused as well. The socket's problem is shown
  // even if a poll fails: it lasts, and is the more specific one.
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
    case 'idle':
    case 'fetchingToken':
    case 'backingOff':
    case 'blocked':
      return 'none';
  }
}

/** The fields that name the server in a log line. */
export interface LogSubject {
  readonly panel: string;
  readonly server: string;
}

export function subjectOf({ panel, name }: ServerTarget): LogSubject {
  return { panel, server: name };
}

/**
 * Logs one line for a change of a server's condition. A problem of the panel or its key is logged once for all servers, so that the
 * line of one server is for debugging only; a fact such as a suspension is no warning.
 */
export function logCondition(log: Logger, target: ServerTarget, status: CollectionStatus): void {
  const { condition, blocked, problem } = status;
  const fields = {
    ...subjectOf(target),
    condition,
    ...(problem && { cause: problem.cause, detail: problem.detail }),
  };
  const server = `server ${target.name}`;
  if (condition === 'streaming' || condition === 'polling') {
    log.info(fields, `${server} is ${condition === 'polling' ? 'polled' : condition}`);
  } else if (problem !== undefined && (condition === 'blocked' || condition === 'failing')) {
    const { scope, severity, title, remedy } = CAUSES[problem.cause];
    const state = condition === 'blocked' ? `is blocked: ${blocked ?? title}` : "can't be observed";
    // A socket that was closed is connected again at once: if that fails, its cause is the warning.
    const isPassing = severity === 'fact' || problem.cause === 'closed';
    const level = scope === 'panel' || scope === 'key' ? 'debug' : isPassing ? 'info' : 'warn';
    log[level](fields, `${server} ${state}: ${problem.detail}: ${remedy}`);
  } else log.debug(fields, `${server} is ${condition}`);
}
