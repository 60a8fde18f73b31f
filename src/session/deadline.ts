// By when a call of a session is needed.

/**
 * A connect may be this late before it goes before a token that ends now: as long as a token lives.
 */
const CONNECT_PERIOD_MS = 10 * 60_000;

/**
 * By when a call is needed that is due at `at`; a server's first attempt goes before everything
 * else.
 */
export function neededBy(at: number, isFirst: boolean, periodMs = CONNECT_PERIOD_MS): number {
  return isFirst ? at - CONNECT_PERIOD_MS : at + periodMs;
}
