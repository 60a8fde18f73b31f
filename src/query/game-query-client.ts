import { games } from 'gamedig';
import type { Cancel, Clock } from '../domain/clock.ts';
import { type Attempt, attemptsFor } from './attempts.ts';
import {
  QUERY_DEADLINE_MS,
  type QueryClient,
  type QueryFailure,
  type QueryOutcome,
  type QueryTarget,
} from './client.ts';
import { type PlayerCounts, toCount, toLimit } from './counts.ts';
import { AttemptError, Exchange } from './exchange.ts';
import { PROTOCOLS } from './protocols.ts';

/**
 * While one attempt waits, the next one begins after this time, so that a server that answers another protocol or port isn't
 * late.
 */
const NEXT_ATTEMPT_MS = 400;

/** The number of servers whose successful attempt is remembered. */
const MAX_REMEMBERED = 20_000;

/** Failures of a server that was queried in several ways, the most informative first. */
const BY_EVIDENCE: readonly QueryFailure[] = [
  'query_timed_out',
  'query_wrong_protocol',
  'query_refused',
  'query_no_answer',
];

/** Queries game servers with the protocols of gamedig. */
export class GameQueryClient implements QueryClient {
  readonly #clock: Clock;
  /** The attempt that succeeded for servers that don't answer the first one: it is tried first. */
  readonly #answeredBy = new Map<string, Attempt>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async query(target: QueryTarget, signal: AbortSignal): Promise<QueryOutcome> {
    const startedAt = this.#clock.now();
    const attempts = this.#inOrder(target);
    const race = new AttemptRace(target, attempts, this.#clock);
    const end = () => race.end();
    const cancelDeadline = this.#clock.schedule(QUERY_DEADLINE_MS, end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    const result = await race.result;
    cancelDeadline();
    signal.removeEventListener('abort', end);
    const durationSeconds = (this.#clock.now() - startedAt) / 1000;
    if (result.won === undefined) return { ok: false, ...failureOf(target, result.errors), durationSeconds };
    this.#remember(target, attempts, result.won.attempt);
    return { ok: true, ...result.won.counts, durationSeconds };
  }

  #inOrder(target: QueryTarget): readonly Attempt[] {
    const attempts = attemptsFor(target, games);
    const known = this.#answeredBy.get(keyOf(target));
    if (known === undefined) return attempts;
    const isKnown = ({ protocol, port }: Attempt) => protocol === known.protocol && port === known.port;
    return [...attempts.filter(isKnown), ...attempts.filter((attempt) => !isKnown(attempt))];
  }

  #remember(target: QueryTarget, attempts: readonly Attempt[], attempt: Attempt): void {
    if (attempts[0] === attempt) return;
    const key = keyOf(target);
    this.#answeredBy.delete(key);
    this.#answeredBy.set(key, attempt);
    const [oldest] = this.#answeredBy.keys();
    if (this.#answeredBy.size > MAX_REMEMBERED && oldest !== undefined) this.#answeredBy.delete(oldest);
  }
}

function keyOf({ type, ip, port, isQueryPort }: QueryTarget): string {
  return [type, ip, port, isQueryPort].join(' ');
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

/** Queries a server in several ways, one after another without waiting long for any; the first answer ends it. */
class AttemptRace {
  readonly result: Promise<RaceResult>;
  readonly #target: QueryTarget;
  readonly #clock: Clock;
  readonly #waiting: Attempt[];
  readonly #running = new Set<Exchange>();
  readonly #errors: FailedAttempt[] = [];
  #cancelNext: Cancel | undefined;
  #isOver = false;
  #resolve: (result: RaceResult) => void = () => {};

  constructor(target: QueryTarget, attempts: readonly Attempt[], clock: Clock) {
    this.#target = target;
    this.#clock = clock;
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
        this.#cancelNext = this.#clock.schedule(NEXT_ATTEMPT_MS, () => this.#next());
    } else if (this.#running.size === 0) this.#finish(undefined);
  }

  async #run(attempt: Attempt): Promise<void> {
    const { ip, hostname } = this.#target;
    const exchange = new Exchange(ip, attempt.port, this.#clock);
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
