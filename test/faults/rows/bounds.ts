import { SHORT_TRIAL_GAPS_MS, TRIAL_GAPS_MS } from '../../../src/panel/health/blame.ts';
import { refusedRetryMs, SLOW_RETRY_MS } from '../../../src/session/backoff.ts';

/**
 * Maximum recovery times according to the exporter's own constants. The tests use the shortest back-off of half a second, so what
 * remains are intentional delays.
 */

/** Half a second of back-off and a handshake. */
export const AT_ONCE_MS = 2_000;

/** At most two tokens per minute are requested for a server: the third one waits. */
export const TOKENS_MS = 60_000;

/** A refusal that only a person can resolve is retried after five minutes plus up to a tenth. */
export const SLOW_MS = SLOW_RETRY_MS * 1.1;

/** What a node refuses is retried within a minute. */
export const REFUSED_MS = refusedRetryMs(0);

/** A call that hangs is given up after this time (`request_timeout`). */
export const REQUEST_TIMEOUT_MS = 25_000;

/** A connect that hangs is given up after this time (`connect_timeout`). */
export const CONNECT_TIMEOUT_MS = 10_000;

/** An auth without a response is given up after this time (`auth_timeout`). */
export const AUTH_TIMEOUT_MS = 12_000;

/** The longest gap between the trials of what has an outage. */
export const TRIAL_GAP_MS = Math.max(...TRIAL_GAPS_MS);

/** The same of the panel, and of a node's sockets. */
export const SHORT_TRIAL_GAP_MS = Math.max(...SHORT_TRIAL_GAPS_MS);

/** How often a server is polled (`poll_interval`). */
export const POLL_INTERVAL_MS = 30_000;

/** How long a token lives from its receipt. */
export const TOKEN_LIFE_MS = 600_000;
