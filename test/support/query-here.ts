import { SystemClock } from '../../src/domain/clock.ts';
import type { QueryOutcome, QueryTarget } from '../../src/query/client.ts';
import { type GameAnswer, type GameQueryOptions, queryGame } from '../../src/query/query-game.ts';
import { Wire } from '../../src/query/wire.ts';

type Options = Partial<Omit<GameQueryOptions, 'open'>>;

/** Queries a game as the thread for queries does, but in the test's own thread and on its clock. */
export function answerHere(target: QueryTarget, options: Options = {}): Promise<GameAnswer> {
  const { clock = new SystemClock() } = options;
  return queryGame(target, {
    clock,
    signal: new AbortController().signal,
    open: (port, hear) => {
      const wire = new Wire(target, port, clock, hear);
      return (order) => wire.obey(order);
    },
    ...options,
  });
}

/** The outcome of such a query. */
export async function queryHere(target: QueryTarget, options: Options = {}): Promise<QueryOutcome> {
  return (await answerHere(target, options)).outcome;
}
