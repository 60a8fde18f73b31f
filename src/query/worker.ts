import { setImmediate as turn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { SystemClock, sleep } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import { inScope } from '../domain/until-aborted.ts';
import { type NetworkOptions, networkTo } from './network.ts';
import { type Counts, PROTOCOLS } from './protocols.ts';
import type { Message } from './thread.ts';
import { type Answer, DEADLINE_MS, QUERY_FAILURES, QueryError, type Question, type Way } from './ways.ts';

/** Queries a server; never rejects, and ends in time. */
export function answerTo(question: Question, options: NetworkOptions, signal: AbortSignal): Promise<Answer> {
  const { clock } = options;
  const failures: QueryError[] = [];
  return inScope(signal, async (scope) => {
    const ask = async (way: Way) => {
      scope.signal.throwIfAborted();
      return askIn(way, options, scope.signal).catch((error: QueryError) => {
        failures.push(error);
        throw error;
      });
    };
    const headStart = () => sleep(clock, question.headStartMs, scope.signal);
    const cancel = clock.schedule(DEADLINE_MS, () => scope.abort());
    try {
      return await firstOf(question.ways, ask, headStart);
    } catch {
      return { problem: combined(failures) };
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

/** The first response. A later way is tried once the earlier ones have failed or had their head start. */
async function firstOf(
  [way, ...later]: readonly Way[],
  ask: (way: Way) => Promise<Answer>,
  headStart: () => Promise<void>,
): Promise<Answer> {
  if (way === undefined) throw new QueryError();
  const asked = ask(way);
  const early = await Promise.race([asked, headStart()]).catch(() => undefined);
  return early ?? Promise.any([asked, firstOf(later, ask, headStart)]);
}

/** Queries a server in one way, until its protocol ends, the network fails or the signal aborts. */
function askIn(way: Way, options: NetworkOptions, signal: AbortSignal): Promise<Answer> {
  return inScope(signal, async (scope) => {
    const network = networkTo(way, scope, options);
    try {
      const counts = await Promise.race([network.failure, PROTOCOLS.get(way.protocol)?.(network, way)]);
      const players = playersOf(counts ?? {});
      // Whether the last response took too much is known a turn later.
      await Promise.race([network.failure, turn()]);
      return { ...players, way, answeredAt: `${network.place()} (${way.protocol})` };
    } catch (error) {
      // An error of the library may contain what the server sent.
      const { message, failure } = error instanceof QueryError ? error : new QueryError();
      throw new QueryError(`${network.place()}: ${message}`, failure);
    } finally {
      scope.abort();
    }
  });
}

function playersOf({ players, bots: given, maxPlayers, isHidden = false }: Counts): Answer {
  if (isHidden) return {};
  const count = toCount(players);
  const bots = toCount(given);
  const limit = toLimit(maxPlayers);
  if (count === undefined) throw new QueryError('the response contains no player count');
  // Some servers don't count their bots as players.
  const people = bots === undefined || bots > count ? count : count - bots;
  return {
    players: people,
    ...(bots !== undefined && { bots }),
    ...(limit !== undefined && { playersMax: limit }),
  };
}

/** Protocols use at most 32 bits for counts. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined if it isn't one. Some protocols return numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/** The maximum number of players; undefined if it isn't a limit. Servers without one report 0, -1 or something huge. */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}

/** The program of the thread, which receives where to note whose response it decodes. */
function serve(port: NonNullable<typeof parentPort>, decoded: Float64Array): void {
  const clock = new SystemClock();
  const running = new Map<number, AbortController>();
  const ask = async (id: number, question: Question, scope: AbortController) => {
    running.set(id, scope);
    const decoding = (isBusy: boolean) => void (decoded[0] = isBusy ? id : 0);
    const answer = await answerTo(question, { clock, decoding }, scope.signal);
    running.delete(id);
    port.postMessage({ id, answer } satisfies Message, []);
  };
  port.on('message', ({ id, question }: Message) => {
    if (question === undefined) running.get(id)?.abort();
    else void ask(id, question, new AbortController());
  });
}

if (parentPort !== null && workerData instanceof Float64Array) serve(parentPort, workerData);
