// Queries one server's game once for its players.

import type { SrvRecord } from 'node:dns';
import { isDeepStrictEqual } from 'node:util';
import type { ResolveName } from '../addresses/name-lookups.ts';
import { readTransportError } from '../diagnosis/transport-errors.ts';
import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { QueryReading } from '../domain/snapshot.ts';
import { bounded, untilAborted } from '../domain/waits.ts';
import { allowedAddresses, type QueryPolicy } from './allowed-addresses.ts';
import { queryAddress } from './query-address.ts';
import { type Answer, DEADLINE_MS, type Question, type Way } from './query-model.ts';
import type { QueryClient } from './query-thread.ts';
import { listWays } from './ways-to-query.ts';

/** The time limit for a query including the name lookup. The client's own deadline is shorter. */
const QUERY_CUT_MS = DEADLINE_MS + 500;

/** The dependencies of queries. */
export interface AskOptions {
  readonly clock: Clock;
  /** Belongs to this panel alone, so that responses from its games can't delay other panels. */
  readonly client: QueryClient;
  readonly policy: QueryPolicy;
  /**
   * Does a port at the server's address belong to another server of any panel, according to the
   * server lists?
   */
  readonly isTaken: (server: ServerTarget, port: number) => boolean;
  readonly resolve: ResolveName;
  readonly findService: (name: string) => Promise<Pick<SrvRecord, 'name' | 'port'> | undefined>;
  /** The first way that has led to a response in this run of the server. */
  readonly earliest?: Way | undefined;
}

/** The result of one query, and its duration. */
export type TimedAnswer = Answer & Pick<QueryReading, 'query_duration_seconds'>;

/**
 * Queries a server's game once for its players. Never rejects, and ends in time. After an abort,
 * the result is meaningless.
 */
export async function askPlayers(
  server: ServerTarget,
  options: AskOptions,
  signal: AbortSignal,
): Promise<TimedAnswer> {
  const { clock, client } = options;
  let startedAt = clock.now();
  const late = () => new Error('the deadline passed');
  const answer = await bounded({ clock, signal }, QUERY_CUT_MS, late, async (scope): Promise<Answer> => {
    try {
      const question = await questionFor(server, options, scope);
      if ('cause' in question) return { query_problem: question };
      startedAt = clock.now();
      return await untilAborted(client.query(question, scope), scope);
    } catch (error) {
      const { message } = readTransportError(error);
      const detail = `no response within ${DEADLINE_MS / 1_000} s`;
      if (scope.aborted) return { query_problem: { cause: 'query_no_answer', detail } };
      return { query_problem: { cause: 'unexpected', detail: message } };
    }
  });
  // Rounded to microseconds, because finer digits are noise.
  return { ...answer, query_duration_seconds: Math.round((clock.now() - startedAt) * 1_000) / 1e6 };
}

/** The question for a server, or why it can't be queried. */
async function questionFor(
  server: ServerTarget,
  { policy, resolve, isTaken, findService, earliest }: AskOptions,
  signal: AbortSignal,
): Promise<Question | Problem> {
  const endpoint = queryAddress(server);
  if ('cause' in endpoint) return endpoint;
  const type = server.query?.type ?? '';
  const findAddresses = (host: string) => allowedAddresses(host, policy, (name) => resolve(name, signal));
  let addresses = await findAddresses(endpoint.host);
  // Minecraft clients use this record, too. After a name that wasn't resolved in time, there is no
  // time for it.
  const isUnknown = 'cause' in addresses && addresses.cause === 'query_dns' && !signal.aborted;
  const service = `_minecraft._tcp.${endpoint.host}`;
  const found =
    isUnknown && type === 'minecraft' ? await untilAborted(findService(service), signal) : undefined;
  if (found !== undefined) addresses = await findAddresses(found.name);
  if ('cause' in addresses) return addresses;
  const isOthers = (port: number) => isTaken(server, port);
  // The listed ports belong to the listed address, not to the service's.
  const more = found === undefined ? server : {};
  const ways = listWays(type, addresses, { ...endpoint, port: found?.port ?? endpoint.port }, more, isOthers);
  if (ways.length > 0) return composeQuestion(ways, earliest);
  return { cause: 'query_no_answer', detail: 'not queried: its ports belong to other servers' };
}

/** How long earlier ways are tried before the one that has responded in this run. */
const HEAD_START_MS = 800;

/**
 * The question with these ways. Each has its share of the time, so that a port that may belong to
 * another server never responds before the server's own. Once a way has led to a response, later
 * ones are no longer tried.
 */
export function composeQuestion(ways: readonly Way[], earliest: Way | undefined): Question {
  const known = ways.findIndex((way) => isDeepStrictEqual(way, earliest));
  return known === -1
    ? { ways, headStartMs: DEADLINE_MS / ways.length }
    : { ways: ways.slice(0, known + 1), headStartMs: HEAD_START_MS / Math.max(known, 1) };
}
