import { decodeJwt } from 'jose/jwt/decode';
import type { TokenClaims } from '../diagnosis/node-answer.ts';
import { type Clock, sleep } from '../domain/clock.ts';
import type { Credentials } from '../panel/dialect.ts';
import type { TokenPurpose } from '../panel/gateway.ts';
import type { Token } from './machine-model.ts';

/** People's consoles share the panel's five credential calls a minute and server: we take two at most. */
const CALLS_PER_WINDOW = 2;
const WINDOW_MS = 60_000;

/** A token that has no slot is refreshed at a random point of its life. */
const REFRESH_FROM = 0.75;
const REFRESH_TO = 0.9;

/** Asks the panel for credentials of one server. */
export type FetchCredentials = (purpose: TokenPurpose, signal: AbortSignal) => Promise<Credentials>;

/** Why a token was fetched: for a socket that streams, or for a new one. */
export type TokenUse = 'refresh' | 'connect';

/** Assigns the instants at which the tokens of a fleet are refreshed. */
export interface TokenSlots {
  /** When a token that was received `now` is to be refreshed, as a monotonic instant. */
  refreshAt(server: string, use: TokenUse, now: number, lifetimeMs: number): number;
  /** The server's socket is gone. */
  release(server: string): void;
}

/** The instant of a token's refresh, by its use, its receipt and its life; undefined if that doesn't matter. */
type ScheduleRefresh = (use: TokenUse, now: number, lifetimeMs: number) => number | undefined;

/** Gives tokens of one server, and holds back calls that would crowd people out. */
export class TokenSource {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #fetch: FetchCredentials;
  readonly #schedule: ScheduleRefresh | undefined;
  #calls: readonly number[] = [];

  /** Without a schedule, tokens are refreshed at random. */
  constructor(clock: Clock, random: () => number, fetch: FetchCredentials, schedule?: ScheduleRefresh) {
    this.#schedule = schedule;
    this.#clock = clock;
    this.#random = random;
    this.#fetch = fetch;
  }

  /** Rejects with a PanelError, or with the signal's reason. */
  async next(purpose: TokenPurpose, signal: AbortSignal): Promise<Token> {
    const wait = this.#waitMs();
    if (wait > 0) await sleep(this.#clock, wait, signal);
    const earlier = this.#calls;
    const stamp = () => {
      this.#calls = [...earlier, this.#clock.now()].slice(-CALLS_PER_WINDOW);
    };
    stamp();
    try {
      const credentials = await this.#fetch(purpose, signal);
      const now = this.#clock.now();
      const use = purpose === 'refresh' ? 'refresh' : 'connect';
      const refreshAt = this.#schedule?.(use, now, credentials.lifetimeMs);
      return { ...toToken(credentials, now, this.#random()), ...(refreshAt !== undefined && { refreshAt }) };
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

/** What a token grants, as far as its payload can be read; the signature is the node's to verify. */
export function claimsOf(token: string): TokenClaims {
  try {
    const { permissions } = decodeJwt(token);
    if (!Array.isArray(permissions)) return {};
    return { permissions: permissions.filter((permission) => typeof permission === 'string') };
  } catch {
    return {};
  }
}
