// A node's token for a console socket, checked for each message.

import { expiringThresholdMs } from './simulator-settings.ts';
import {
  allows,
  EXPIRED_TEXT,
  type IssuedClaims,
  NO_TOKEN_TEXT,
  type TokenVerdict,
  WRONG_SERVER_TEXT,
} from './tokens.ts';

type AcceptedToken = Extract<TokenVerdict, { readonly ok: true }>;

/** The token of one socket: none, or the last one that its node accepted. */
export class HeldToken {
  readonly #serverUuid: string;
  #claims: IssuedClaims | undefined;
  #permissions: readonly string[] = [];
  /** On the clock's monotonic time. */
  #expiresAt = 0;

  constructor(serverUuid: string) {
    this.#serverUuid = serverUuid;
  }

  /** Whether no token was accepted, or it was forgotten. */
  get isAbsent(): boolean {
    return this.#claims === undefined;
  }

  get permissions(): readonly string[] {
    return this.#permissions;
  }

  hold({ claims, permissions }: AcceptedToken, now: number, nowUnixMs: number): void {
    this.#claims = claims;
    this.#permissions = permissions;
    this.#expiresAt = now + claims.expiresAtMs - nowUnixMs;
  }

  forget(): void {
    this.#claims = undefined;
  }

  expire(now: number): void {
    this.#expiresAt = now;
  }

  /** Whether the token has expired, or expires so soon that the client is notified. */
  stage(now: number): 'fresh' | 'expiring' | 'expired' {
    if (this.#claims === undefined || now >= this.#expiresAt) return 'expired';
    const { expiresAtMs, issuedAtMs } = this.#claims;
    return this.#expiresAt - now <= expiringThresholdMs(expiresAtMs - issuedAtMs) ? 'expiring' : 'fresh';
  }

  /** The reason why the token can't be used. */
  error(now: number): string | undefined {
    if (this.#claims === undefined) return NO_TOKEN_TEXT;
    if (this.stage(now) === 'expired') return EXPIRED_TEXT;
    return this.#claims.serverUuid === this.#serverUuid ? undefined : WRONG_SERVER_TEXT;
  }

  allows(permission: string): boolean {
    return allows(this.#permissions, permission);
  }
}
