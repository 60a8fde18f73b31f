import { CAUSES, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import { type Logger, type ServerEvent, subjectOf } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import type { ServerReading } from '../domain/reading.ts';
import type { CollectionMode } from '../domain/server.ts';
import type { ConditionChange, SessionLog } from '../session/session-ports.ts';
import type { Stop } from './power.ts';

/** What the log says about a server; without an event if that isn't worth counting. */
interface SessionLine {
  readonly event?: ServerEvent;
  readonly level: 'debug' | 'info' | 'warn';
  readonly words: string;
}

/**
 * Logs one line when a server's condition changes, and when its socket moves. A problem of the panel or its API key is logged once
 * for all servers, so the line of each server is only at level debug; a fact such as a suspension is not a warning.
 */
export function sessionLog(log: Logger): SessionLog {
  return {
    conditionChanged: ({ target, node }, change) => {
      const { condition, problem } = change.now;
      const { event, level, words } = lineOf(change, target.mode);
      const { cause, detail } = problem ?? {};
      const fields = { ...subjectOf(target, node), event, condition, cause, detail };
      log[level](fields, `server ${target.name}${words}`);
    },
    socketMoved: ({ target, node }, from, to) => {
      const fields = { ...subjectOf(target, node), event: 'moved', from, to };
      log.info(fields, `server ${target.name}: socket moved from ${from} to ${to}`);
    },
  };
}

function lineOf({ before, now, hasStreamed }: ConditionChange, mode: CollectionMode): SessionLine {
  const { condition, problem, blocked } = now;
  const wasLost = before.condition === 'failing' || before.condition === 'blocked';
  const wasFallback = before.condition === 'polling' && before.problem !== undefined;
  const again = wasLost || (condition === 'streaming' && (wasFallback || hasStreamed)) ? ' again' : '';
  if (condition === 'streaming')
    return { event: again ? 'streaming_again' : 'streaming', level: 'info', words: ` is streaming${again}` };
  if (condition === 'polling') {
    if (problem !== undefined) return { event: 'fallback', level: 'info', words: ' is polled' };
    // That a server is polled until its socket opens is planned.
    const level = mode === 'poll' ? 'info' : 'debug';
    return { event: again ? 'polling_again' : 'polling', level, words: ` is polled${again}` };
  }
  if (problem === undefined || (condition !== 'failing' && condition !== 'blocked'))
    return { level: 'debug', words: ` is ${condition}` };
  if (condition === 'failing') {
    const event = before.condition === 'streaming' ? 'closed' : 'failing';
    const words =
      problem.cause === 'closed'
        ? `: ${problem.detail}; reconnecting`
        : ` can't be monitored: ${withRemedy(problem)}`;
    return { event, level: levelOf(problem), words };
  }
  // A failure was logged with this cause: that the polls are refused for it as well is no second warning.
  const isRepeated = before.condition === 'failing' && before.problem?.cause === problem.cause;
  const reason = blocked ?? shortTitle(problem.cause);
  // The panel's own message often contains the state already.
  const named = problem.detail.toLowerCase().includes(reason) ? '' : ` (${reason})`;
  const words = ` is blocked${named}: ${withRemedy(problem)}`;
  return { event: 'blocked', level: isRepeated ? 'debug' : levelOf(problem), words };
}

function levelOf({ cause }: Problem): SessionLine['level'] {
  const { scope, severity } = CAUSES[cause];
  if (scope === 'panel' || scope === 'key') return 'debug';
  // A socket that was closed is reconnected at once: if that fails, the cause of that failure is the warning.
  return severity === 'fact' || cause === 'closed' ? 'info' : 'warn';
}

/** Logs a stop that is a problem. */
export function logStop(
  log: Logger,
  { target, node }: Pick<ServerReading, 'target' | 'node'>,
  stop: Stop,
): void {
  const { reason, exitCode, words: said } = stop;
  const isCrash = reason === 'crashed' || reason === 'out_of_memory';
  const facts = [
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(reason === 'out_of_memory' ? ['out of memory'] : []),
  ];
  const why = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const warn = (event: ServerEvent, words: string) =>
    log.warn({ ...subjectOf(target, node), event, exitCode }, `server ${target.name} ${words}`);
  if (reason === 'disk_full') warn(reason, 'was stopped by its node: disk limit exceeded');
  // An event of its own: otherwise, a summary would hide it among many crashes.
  else if (said.includes('restart aborted')) {
    warn('gave_up', `${isCrash ? 'crashed' : 'stopped by itself'}${why}; the node gave up restarting it`);
  } else if (isCrash) warn(reason, `crashed${why}; the node is restarting it`);
}
