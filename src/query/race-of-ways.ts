// Queries a server in several ways at once; the first response wins.

import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import { inScope, sleep } from '../domain/waits.ts';
import {
  type Answer,
  DEADLINE_MS,
  QUERY_FAILURES,
  QueryError,
  type Question,
  type Way,
} from './query-model.ts';

/** Queries a server in one way. Rejects with a QueryError. */
type QueryWay = (way: Way, signal: AbortSignal) => Promise<Answer>;

/** Queries a server. Never rejects, and ends in time. */
export function answerTo(
  question: Question,
  clock: Clock,
  queryWay: QueryWay,
  signal: AbortSignal,
): Promise<Answer> {
  const failures: QueryError[] = [];
  return inScope(signal, async (scope) => {
    const ask = async (way: Way) => {
      scope.signal.throwIfAborted();
      return queryWay(way, scope.signal).catch((error: QueryError) => {
        failures.push(error);
        throw error;
      });
    };
    const headStart = () => sleep(clock, question.headStartMs, scope.signal);
    const cancel = clock.schedule(DEADLINE_MS, () => scope.abort());
    try {
      return await firstAnswer(question.ways, ask, headStart);
    } catch {
      return { query_problem: combined(failures) };
    } finally {
      cancel();
      scope.abort();
    }
  });
}

/** The most informative cause, and what happened at each address and port. */
function combined(failures: readonly QueryError[]): Problem {
  const rank = ({ failure }: QueryError) => QUERY_FAILURES.indexOf(failure);
  const ordered = failures.toSorted((a, b) => rank(a) - rank(b));
  const details = new Set(ordered.map(({ message }) => message));
  return { cause: ordered[0]?.failure ?? 'query_no_answer', detail: [...details].join('; ') };
}

/**
 * The first response. A later way is tried once the earlier ones have failed or had their head
 * start.
 */
async function firstAnswer(
  [way, ...later]: readonly Way[],
  ask: (way: Way) => Promise<Answer>,
  headStart: () => Promise<void>,
): Promise<Answer> {
  if (way === undefined) throw new QueryError();
  const asked = ask(way);
  const early = await Promise.race([asked, headStart()]).catch(() => undefined);
  return early ?? Promise.any([asked, firstAnswer(later, ask, headStart)]);
}
