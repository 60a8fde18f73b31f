import { decodeJwt } from 'jose/jwt/decode';
import type { TokenClaims } from '../diagnosis/node-answer.ts';
import { type Clock, sleep } from '../domain/clock.ts';
import type { Credentials } from '../panel/dialect.ts';
import type { TokenPurpose } from '../panel/gateway.ts';
import type { Token } from './machine-model.ts';

/**
 * The panel allows five credential calls per minute for each server, shared with people's consoles: the exporter makes at most two.
 */
const CALLS_PER_WINDOW = 2;
const WINDOW_MS = 60_000;

/** A token that has no slot is refreshed at a random point between these parts of its life. */
const REFRESH_FROM = 0.75;
const REFRESH_TO = 0.9;

/** Requests credentials of one server from the panel. */
export type FetchCredentials = (purpose: TokenPurpose, signal: AbortSignal) => Promise<Credentials>;

/** What a token was fetched for: a socket that is streaming, or a new one. */
export type TokenUse = 'refresh' | 'connect';

/** Assigns the times at which a fleet's tokens are refreshed. */
export interface TokenSlots {
  /** When a token received at `now` is to be refreshed, in monotonic milliseconds. */
  refreshAt(server: string, use: TokenUse, now: number, lifetimeMs: number): number;
  /** The server's socket is gone. */
  release(server: string): void;
}

/** When to refresh a token, by its use, receipt and lifetime; undefined if that doesn't matter. */
type ScheduleRefresh = (use: TokenUse, now: number, lifetimeMs: number) => number | undefined;

/** Provides tokens of one server, and delays calls that would leave none of the limit to people. */
export class TokenSource {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #fetch: FetchCredentials;
  readonly #schedule: ScheduleRefresh | undefined;
  #calls: readonly number[] = [];

  /** Without a schedule, tokens are refreshed at random times. */
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
      // The call may have waited long in the budget: what counts is when the panel received it.
      stamp();
    }
  }

  #waitMs(): number {
    const [oldest] = this.#calls;
    if (oldest === undefined || this.#calls.length < CALLS_PER_WINDOW) return 0;
    return Math.max(0, oldest + WINDOW_MS - this.#clock.now());
  }
}

/** Credentials with their instants: the lifetime counts on the monotonic clock from their receipt. */
export function toToken(credentials: Credentials, now: number, random: number): Token {
  const { token, socketUrl, lifetimeMs } = credentials;
  return {
    value: token,
    socketUrl,
    refreshAt: now + lifetimeMs * (REFRESH_FROM + (REFRESH_TO - REFRESH_FROM) * random),
    expiresAt: now + lifetimeMs,
  };
}

/** The claims of a token, as far as its payload can be read; verifying the signature is up to the node. */
export function claimsOf(token: string): TokenClaims {
  try {
    const { permissions } = decodeJwt(token);
    if (!Array.isArray(permissions)) return {};
    return { permissions: permissions.filter((permission) => typeof permission === 'string') };
  } catch {
    return {};
  }
}
