import { SLOW_RETRY_MS } from '../../../src/session/backoff.ts';

/**
 * How long recoveries may take by the exporter's own constants. The tests draw the shortest back-off of half a second, so that
 * what remains is what holds a server back on purpose.
 */

/** Half a second of back-off and a handshake. */
export const AT_ONCE_MS = 2_000;

/** At most two tokens a minute are asked for a server: the third waits. */
export const TOKENS_MS = 60_000;

/** A refusal that only a person lifts is tried again after five minutes and up to a tenth more. */
export const SLOW_MS = SLOW_RETRY_MS * 1.1;

/** A call that hangs is given up after this (`request_timeout`). */
export const REQUEST_TIMEOUT_MS = 25_000;

/** A connect that hangs is given up after this (`connect_timeout`). */
export const CONNECT_TIMEOUT_MS = 10_000;

/** An auth that nobody answers is given up after this (`auth_timeout`). */
export const AUTH_TIMEOUT_MS = 12_000;

/** How often a server is polled (`poll_interval`). */
export const POLL_INTERVAL_MS = 30_000;

/** How long a token lives from its receipt. */
export const TOKEN_LIFE_MS = 600_000;
