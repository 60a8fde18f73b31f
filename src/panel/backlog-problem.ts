/** The problem of a panel with a backlog of calls. */
import type { ProblemReading } from '../domain/reading.ts';
import { toOneDecimal } from '../text/sentences.ts';
import type { Backlog } from './scheduler/shortage.ts';

/** A backlog of calls becomes a problem only after this long, because a cold start has one, too. */
const BACKLOG_MS = 90_000;

/**
 * The problem if more calls than the rate allows in a minute have waited for 90 s; otherwise
 * undefined.
 */
export function backlogProblem(
  backlog: Backlog | undefined,
  limitPerMinute: number,
  now: number,
): ProblemReading | undefined {
  if (backlog === undefined || now - backlog.since < BACKLOG_MS) return undefined;
  const { calls, since } = backlog;
  const minutes = Math.ceil(calls / limitPerMinute);
  const detail = `${calls} calls waiting, ${toOneDecimal(limitPerMinute)} per minute allowed: about ${minutes} min left`;
  return { cause: 'calls_backlog', detail, since };
}
