// Queries games within the test process.
import type { Clock } from '../../src/domain/clock.ts';
import type { TimedAnswer } from '../../src/query/ask-players.ts';
import { composeQuestion } from '../../src/query/ask-players.ts';
import type { Question, Way } from '../../src/query/query-model.ts';
import { queryWay } from '../../src/query/query-way.ts';
import { answerTo } from '../../src/query/race-of-ways.ts';
import { listWays } from '../../src/query/ways-to-query.ts';

/** A game server to query. */
export interface QueryTarget {
  readonly type: string;
  readonly ip: string;
  readonly otherIps?: readonly string[];
  readonly hostname?: string;
  readonly port: number;
  readonly isQueryPort: boolean;
  readonly namedPort?: number;
  readonly otherPorts?: readonly number[];
  readonly isTaken?: (port: number) => boolean;
  readonly earliest?: Way | undefined;
}

/** The question to a game server. */
export function questionFor(target: QueryTarget): Question {
  const { type, ip, otherIps = [], hostname = ip, isTaken = () => false } = target;
  const ways = listWays(type, [ip, ...otherIps], { ...target, host: hostname }, target, isTaken);
  return composeQuestion(ways, target.earliest);
}

/** Queries a game once, without a thread. */
export async function queryHere(
  target: QueryTarget,
  clock: Clock,
  signal = new AbortController().signal,
): Promise<TimedAnswer> {
  const startedAt = clock.now();
  const answer = await answerTo(
    questionFor(target),
    clock,
    (way, scope) => queryWay(way, { clock, decoding: () => {} }, scope),
    signal,
  );
  return { ...answer, query_duration_seconds: (clock.now() - startedAt) / 1_000 };
}

/**
 * The counts without the transport, and without a number of bots of 0, which only some games
 * report.
 */
export function countsOf({ bots = 0, way: _way, ...asked }: TimedAnswer): TimedAnswer {
  return bots === 0 ? asked : { ...asked, bots };
}
