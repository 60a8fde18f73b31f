import { games } from 'gamedig';
import type { Cancel, Clock } from '../domain/clock.ts';
import { attemptsFor } from './attempts.ts';
import {
  type Attempt,
  AttemptError,
  QUERY_DEADLINE_MS,
  type QueryFailure,
  type QueryOutcome,
  type QueryTarget,
} from './client.ts';
import { type PlayerCounts, toCount, toLimit } from './counts.ts';
import { Exchange, type ExchangeOptions } from './exchange.ts';
import { PROTOCOLS } from './protocols.ts';

/**
 * While one attempt waits, the next one begins after this time, so that a server that answers another protocol isn't late.
 */
const NEXT_ATTEMPT_MS = 400;

/** Failures of a server that was queried in several ways, the most informative first. */
const BY_EVIDENCE: readonly QueryFailure[] = [
  'query_timed_out',
  'query_wrong_protocol',
  'query_refused',
  'query_no_answer',
];

/** How to query a game. */
export interface GameQueryOptions extends ExchangeOptions {
  readonly signal: AbortSignal;
  readonly withinMs?: number | undefined;
  /** The attempt that succeeded last time: it is tried first. */
  readonly known?: Attempt | undefined;
}

/** The result of a query. */
export interface GameAnswer {
  readonly outcome: QueryOutcome;
  /** The attempt that succeeded, if it isn't the one that is tried first anyway. */
  readonly answeredBy?: Attempt | undefined;
}

/**
 * Queries a game server with the protocols of gamedig; never rejects. Its ports are tried one after another, each for its share
 * of the time, so that a port that may belong to another server never answers in place of a slow one.
 */
export async function queryGame(target: QueryTarget, options: GameQueryOptions): Promise<GameAnswer> {
  const { clock, withinMs = QUERY_DEADLINE_MS, known } = options;
  const startedAt = clock.now();
  const passedMs = () => clock.now() - startedAt;
  const attempts = attemptsFor(target, games);
  const failed: FailedAttempt[] = [];
  const ports = inOrder([...new Set(attempts.map(({ port }) => port))], (port) => port === known?.port);
  for (const [index, port] of ports.entries()) {
    const here = attempts.filter((attempt) => attempt.port === port);
    const ordered = inOrder(here, ({ protocol }) => protocol === known?.protocol);
    const shareMs = (withinMs - passedMs()) / (ports.length - index);
    const { won, errors } = await askPort(target, ordered, { ...options, withinMs: shareMs });
    if (won !== undefined) {
      const outcome = { ok: true, ...won.counts, durationSeconds: passedMs() / 1_000 } as const;
      return { outcome, ...(won.attempt !== attempts[0] && { answeredBy: won.attempt }) };
    }
    failed.push(...errors);
  }
  return { outcome: { ok: false, ...failureOf(target, failed), durationSeconds: passedMs() / 1_000 } };
}

/** Those that are preferred first, otherwise in the same order. */
function inOrder<Item>(items: readonly Item[], isPreferred: (item: Item) => boolean): readonly Item[] {
  return [...items.filter(isPreferred), ...items.filter((item) => !isPreferred(item))];
}

interface FailedAttempt {
  readonly attempt: Attempt;
  readonly error: AttemptError;
}

interface Answered {
  readonly attempt: Attempt;
  readonly counts: { readonly players: number; readonly maxPlayers: number | undefined };
}

/** Queries a port in several ways, one after another without waiting long for any; the first answer ends it. */
async function askPort(
  { ip, hostname }: QueryTarget,
  attempts: readonly Attempt[],
  options: GameQueryOptions & { readonly withinMs: number },
): Promise<{ readonly won: Answered | undefined; readonly errors: readonly FailedAttempt[] }> {
  const { clock, signal, withinMs } = options;
  const exchanges: Exchange[] = [];
  const errors: FailedAttempt[] = [];
  const runs: Promise<Answered>[] = [];
  let isOver = signal.aborted;
  const end = () => {
    isOver = true;
    for (const exchange of exchanges) exchange.close();
  };
  const run = async (attempt: Attempt): Promise<Answered> => {
    const exchange = new Exchange(attempt.port, options);
    exchanges.push(exchange);
    try {
      const counts = await exchange.run(async () => {
        const ask = PROTOCOLS.get(attempt.protocol);
        if (ask === undefined) throw new Error(`there is no protocol ${attempt.protocol}`);
        return countsOf(await ask(exchange, { ip, hostname, port: attempt.port }));
      });
      end();
      return { attempt, counts };
    } catch (error) {
      errors.push({ attempt, error: error as AttemptError });
      throw error;
    }
  };
  const cancelEnd = clock.schedule(withinMs, end);
  signal.addEventListener('abort', end);
  for (const attempt of attempts) {
    if (isOver) break;
    const latest = run(attempt);
    runs.push(latest);
    await endOrDelay(latest, clock);
  }
  const won = await Promise.any(runs).catch(() => undefined);
  cancelEnd();
  signal.removeEventListener('abort', end);
  return { won, errors };
}

/** Waits until the attempt ends, but not for long. */
async function endOrDelay(attempt: Promise<unknown>, clock: Clock): Promise<void> {
  let cancel: Cancel = () => {};
  const delay = new Promise<void>((resolve) => {
    cancel = clock.schedule(NEXT_ATTEMPT_MS, resolve);
  });
  await Promise.race([attempt.catch(() => {}), delay]);
  cancel();
}

/** @throws AttemptError if the number of players makes no sense */
function countsOf({ players, maxPlayers }: PlayerCounts) {
  const count = toCount(players);
  if (count === undefined)
    throw new AttemptError('query_wrong_protocol', 'the answer contains no player count');
  return { players: count, maxPlayers: toLimit(maxPlayers) };
}

/** The combined result of the failed attempts: the most informative error, and where it occurred. */
function failureOf({ ip }: QueryTarget, failed: readonly FailedAttempt[]) {
  const [worst] = failed.toSorted(
    (a, b) => BY_EVIDENCE.indexOf(a.error.failure) - BY_EVIDENCE.indexOf(b.error.failure),
  );
  if (worst === undefined) return { failure: 'query_no_answer' as const, detail: 'not queried' };
  const ports = [...new Set(failed.map(({ attempt }) => attempt.port))].join(', ');
  const { failure, message } = worst.error;
  return { failure, detail: `${ip}, port ${ports}: ${message}` };
}
