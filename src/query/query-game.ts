import { games } from 'gamedig';
import type { Cancel } from '../domain/clock.ts';
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
  const { clock, withinMs = QUERY_DEADLINE_MS, signal, known } = options;
  const startedAt = clock.now();
  const passedMs = () => clock.now() - startedAt;
  const attempts = attemptsFor(target, games);
  const failed: FailedAttempt[] = [];
  const ports = inOrder([...new Set(attempts.map(({ port }) => port))], (port) => port === known?.port);
  for (const [index, port] of ports.entries()) {
    if (signal.aborted) break;
    const here = attempts.filter((attempt) => attempt.port === port);
    const ordered = inOrder(here, ({ protocol }) => protocol === known?.protocol);
    const race = new AttemptRace(target, ordered, options);
    const end = () => race.end();
    const cancelEnd = clock.schedule((withinMs - passedMs()) / (ports.length - index), end);
    signal.addEventListener('abort', end);
    const { won, errors } = await race.result;
    cancelEnd();
    signal.removeEventListener('abort', end);
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

interface RaceResult {
  readonly won:
    | { readonly attempt: Attempt; readonly counts: { players: number; maxPlayers: number | undefined } }
    | undefined;
  readonly errors: readonly FailedAttempt[];
}

/** Queries a port in several ways, one after another without waiting long for any; the first answer ends it. */
class AttemptRace {
  readonly result: Promise<RaceResult>;
  readonly #target: QueryTarget;
  readonly #options: GameQueryOptions;
  readonly #waiting: Attempt[];
  readonly #running = new Set<Exchange>();
  readonly #errors: FailedAttempt[] = [];
  #cancelNext: Cancel | undefined;
  #isOver = false;
  #resolve: (result: RaceResult) => void = () => {};

  constructor(target: QueryTarget, attempts: readonly Attempt[], options: GameQueryOptions) {
    this.#target = target;
    this.#options = options;
    this.#waiting = [...attempts];
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#next();
  }

  /** Ends all attempts with what is known. */
  end(): void {
    this.#waiting.length = 0;
    for (const exchange of this.#running) exchange.close();
    if (this.#running.size === 0) this.#finish(undefined);
  }

  #next(): void {
    this.#cancelNext?.();
    const attempt = this.#waiting.shift();
    if (attempt !== undefined) {
      void this.#run(attempt);
      if (this.#waiting.length > 0)
        this.#cancelNext = this.#options.clock.schedule(NEXT_ATTEMPT_MS, () => this.#next());
    } else if (this.#running.size === 0) this.#finish(undefined);
  }

  async #run(attempt: Attempt): Promise<void> {
    const { ip, hostname } = this.#target;
    const exchange = new Exchange(attempt.port, this.#options);
    this.#running.add(exchange);
    try {
      const counts = await exchange.run(async () => {
        const ask = PROTOCOLS.get(attempt.protocol);
        if (ask === undefined) throw new Error(`there is no protocol ${attempt.protocol}`);
        return countsOf(await ask(exchange, { ip, hostname, port: attempt.port }));
      });
      this.#running.delete(exchange);
      this.#finish({ attempt, counts });
    } catch (error) {
      this.#running.delete(exchange);
      this.#errors.push({ attempt, error: error as AttemptError });
      this.#next();
    }
  }

  #finish(won: RaceResult['won']): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelNext?.();
    this.#waiting.length = 0;
    this.#resolve({ won, errors: this.#errors });
    for (const exchange of this.#running) exchange.close();
  }
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
