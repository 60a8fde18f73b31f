import { type Clock, sleep } from '../domain/clock.ts';
import type { Credentials } from '../panel/decode.ts';
import type { Token } from './machine-model.ts';

/** People's consoles share the panel's five credential calls a minute and server: we take two at most. */
const CALLS_PER_WINDOW = 2;
const WINDOW_MS = 60_000;

/** A token is refreshed at a random point of its life, so that a fleet that started together spreads. */
const REFRESH_FROM = 0.75;
const REFRESH_TO = 0.9;

/** Asks the panel for credentials of one server. */
export type FetchCredentials = (priority: 'refresh' | 'connect', signal: AbortSignal) => Promise<Credentials>;

/** Gives tokens of one server, and holds back calls that would crowd people out. */
export class TokenSource {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #fetch: FetchCredentials;
  #calls: readonly number[] = [];

  constructor(clock: Clock, random: () => number, fetch: FetchCredentials) {
    this.#clock = clock;
    this.#random = random;
    this.#fetch = fetch;
  }

  /** Rejects with a PanelError, or with the signal's reason. */
  async next(priority: 'refresh' | 'connect', signal: AbortSignal): Promise<Token> {
    const wait = this.#waitMs();
    if (wait > 0) await sleep(this.#clock, wait, signal);
    const earlier = this.#calls;
    const stamp = () => {
      this.#calls = [...earlier, this.#clock.now()].slice(-CALLS_PER_WINDOW);
    };
    stamp();
    try {
      const credentials = await this.#fetch(priority, signal);
      return toToken(credentials, this.#clock.now(), this.#random());
    } finally {
      // It may have waited long in the budget: what counts is when the panel saw it.
      stamp();
    }
  }

  #waitMs(): number {
    const [oldest] = this.#calls;
    if (oldest === undefined || this.#calls.length < CALLS_PER_WINDOW) return 0;
    return Math.max(0, oldest + WINDOW_MS - this.#clock.now());
  }
}

/** Credentials with their instants: the life counts on the monotonic clock from their receipt. */
export function toToken(credentials: Credentials, now: number, random: number): Token {
  const { token, socketUrl, lifetimeMs } = credentials;
  return {
    value: token,
    socketUrl,
    refreshAt: now + lifetimeMs * (REFRESH_FROM + (REFRESH_TO - REFRESH_FROM) * random),
    expiresAt: now + lifetimeMs,
  };
}
