// The thresholds for problems of servers.

/**
 * Usage counts as saturated from this share of a limit: nodes round, and grant slightly more or
 * less than the limit.
 */
export const SATURATED_FROM = 0.95;

/**
 * A server counts as being at its CPU limit if it was there for more than this share of the last
 * ten minutes.
 */
export const CPU_SATURATED_SHARE = 0.5;
export const SATURATED_WINDOW_SECONDS = 600;

/**
 * A server stops repeatedly if it crashed three times within an hour, or if it is expected to run
 * and stopped five times without a request. Five, because the reason for a polled server's stop is
 * unknown and may be a person's restart.
 */
export const LOOP_SECONDS = 3_600;
export const LOOP_CRASHES = 3;
export const LOOP_STOPS = 5;

/** A start or stop that takes longer than this probably won't end by itself. */
export const STARTING_SECONDS = 900;
export const STOPPING_SECONDS = 300;

/** How long a game may load before it responds to queries. */
export const LOADING_SECONDS = 600;

/** How long the crash of a server that is allowed to be off counts. */
export const CRASH_WINDOW_SECONDS = 900;
