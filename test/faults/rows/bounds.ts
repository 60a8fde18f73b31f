// Maximum recovery times, from the exporter's constants and the shortest back-off of half a second.
import { SHORT_TRIAL_GAPS_MS, TRIAL_GAPS_MS } from '../../../src/panel/health/blame.ts';
import { refusedRetryMs, SLOW_RETRY_MS } from '../../../src/session/backoff.ts';

/** Half a second of back-off and a handshake. */
export const AT_ONCE_MS = 2_000;

/** The wait for a third token, because at most two per minute are requested for a server. */
export const TOKENS_MS = 60_000;

/**
 * The interval of retries after an error that only a person can resolve: five minutes, and up to a
 * tenth more.
 */
export const SLOW_MS = SLOW_RETRY_MS * 1.1;

/** The maximum wait after the node has rejected a socket or token. */
export const REFUSED_MS = refusedRetryMs(0);

/** The timeout of a call (`request_timeout`). */
export const REQUEST_TIMEOUT_MS = 25_000;

/** The timeout of a connection attempt (`connect_timeout`). */
export const CONNECT_TIMEOUT_MS = 10_000;

/** The timeout of an authentication (`auth_timeout`). */
export const AUTH_TIMEOUT_MS = 12_000;

/** The longest time between two trials of a subject with an outage. */
export const TRIAL_GAP_MS = Math.max(...TRIAL_GAPS_MS);

/** The longest time between two trials of the panel, or of a node's sockets. */
export const SHORT_TRIAL_GAP_MS = Math.max(...SHORT_TRIAL_GAPS_MS);

/** The interval of polls (`poll_interval`). */
export const POLL_INTERVAL_MS = 30_000;

/** The life of a token. */
export const TOKEN_LIFE_MS = 600_000;
