/** The problem of a panel that demands a pause. */
import type { Clock } from '../domain/clock.ts';
import type { ProblemReading } from '../domain/reading.ts';
import type { RateLimit } from './scheduler/rate-limit.ts';
import { PATHS, type Path } from './subjects.ts';

/**
 * The pause of all calls or of any path, or only of `path` if given; undefined if there is none.
 */
export function pauseProblem(
  limit: Pick<RateLimit, 'currentPause'>,
  clock: Pick<Clock, 'toUnixMs'>,
  path?: Path,
): ProblemReading | undefined {
  const scopes = path === undefined ? (['account', ...PATHS] as const) : [path];
  for (const scope of scopes) {
    const pause = limit.currentPause(scope);
    if (pause === undefined) continue;
    const { since } = pause;
    const time = new Date(clock.toUnixMs(pause.until)).toISOString().slice(11, 19);
    const calls = scope === 'account' ? 'calls' : `calls for ${scope}`;
    const detail = `rate limit exceeded (429): no ${calls} until ${time} UTC`;
    return { cause: 'rate_limited', detail, since };
  }
  return undefined;
}
