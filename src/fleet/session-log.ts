// Logs changes of servers' conditions.

import { CAUSES, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { CollectionMode } from '../domain/server.ts';
import type { ConditionChange, SessionLog } from '../session/session-ports.ts';
import { type ServerEvent, serverFields } from './server-events.ts';

/** A log line about a server. Without an event, it isn't counted. */
interface SessionLine {
  readonly event?: ServerEvent;
  readonly level: 'debug' | 'info' | 'warn';
  readonly text: string;
}

/**
 * Logs when a server's condition changes and when its socket moves. A problem of the panel or its
 * API key is logged once for all servers, so each server's line is only at level debug. A fact such
 * as a suspension is not a warning.
 */
export function sessionLog(log: Logger): SessionLog {
  return {
    conditionChanged: ({ target, node }, change) => {
      const { condition, problem } = change.now;
      const { event, level, text } = describeChange(change, target.mode);
      const { cause, detail } = problem ?? {};
      const fields = { ...serverFields(target, node), event, condition, cause, detail };
      log[level](fields, `server ${target.name}${text}`);
    },
    socketMoved: ({ target, node }, from, to) => {
      const fields = { ...serverFields(target, node), event: 'moved', from, to };
      log.info(fields, `server ${target.name}: socket moved from ${from} to ${to}`);
    },
  };
}

function describeChange({ before, now, hasStreamed }: ConditionChange, mode: CollectionMode): SessionLine {
  const { condition, problem, blocked } = now;
  const wasLost = before.condition === 'failing' || before.condition === 'blocked';
  const wasFallback = before.condition === 'polling' && before.problem !== undefined;
  const again = wasLost || (condition === 'streaming' && (wasFallback || hasStreamed)) ? ' again' : '';
  if (condition === 'polling' && problem !== undefined)
    return { event: 'fallback', level: 'info', text: ' is polled' };
  if (condition === 'streaming' || condition === 'polling') {
    // Polls until the socket opens are planned, and not news.
    const level = condition === 'streaming' || mode === 'poll' ? 'info' : 'debug';
    const text = ` is ${condition === 'polling' ? 'polled' : condition}${again}`;
    return { event: again ? `${condition}_again` : condition, level, text };
  }
  if (problem === undefined || (condition !== 'failing' && condition !== 'blocked'))
    return { level: 'debug', text: ` is ${condition}` };
  if (condition === 'failing') {
    const event = before.condition === 'streaming' ? 'closed' : 'failing';
    const text =
      problem.cause === 'closed'
        ? `: ${problem.detail}; reconnecting`
        : ` can't be monitored: ${withRemedy(problem)}`;
    return { event, level: chooseLevel(problem), text };
  }
  // A failure with this cause was already logged: polls that are rejected for it get no second
  // warning.
  const isRepeated = before.condition === 'failing' && before.problem?.cause === problem.cause;
  const reason = blocked ?? shortTitle(problem.cause);
  // The panel's own message often contains the state already.
  const named = problem.detail.toLowerCase().includes(reason) ? '' : ` (${reason})`;
  const text = ` is blocked${named}: ${withRemedy(problem)}`;
  return { event: 'blocked', level: isRepeated ? 'debug' : chooseLevel(problem), text };
}

function chooseLevel({ cause }: Problem): SessionLine['level'] {
  const { scope, severity } = CAUSES[cause];
  if (scope === 'panel' || scope === 'key') return 'debug';
  // A closed socket reconnects at once. If that fails, the warning has the cause of that failure.
  return severity === 'fact' || cause === 'closed' ? 'info' : 'warn';
}
