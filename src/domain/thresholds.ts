// The thresholds from which a server has a problem.

/**
 * Usage from this share of a limit on counts as saturated: nodes round, and grant slightly more or
 * less than the limit.
 */
export const SATURATED_FROM = 0.95;

/** Above this share of the last ten minutes at its CPU limit, a server counts as being at it. */
export const CPU_SATURATED_SHARE = 0.5;
export const SATURATED_WINDOW_SECONDS = 600;

/**
 * A server stops repeatedly after three crashes within an hour, or, if it is expected to run, after
 * five stops that nobody requested. The reason for a polled server's stop is unknown, so it may
 * have been a restart by a person.
 */
export const LOOP_SECONDS = 3_600;
export const LOOP_CRASHES = 3;
export const LOOP_STOPS = 5;

/** A start or stop that takes longer probably won't end by itself. */
export const STARTING_SECONDS = 900;
export const STOPPING_SECONDS = 300;

/** A game may take this long to load before it responds to queries. */
export const LOADING_SECONDS = 600;

/** How long the crash of a server that is allowed to be off counts. */
export const CRASH_WINDOW_SECONDS = 900;
