// The strip of a server: its states in the last two hours.

/** The points of a state strip: two hours in steps of two minutes. */
export const STRIP_POINTS = 60;

/**
 * What a server did during a point of its strip, from the least to the most serious, of which the
 * worst is kept: `changing` while it starts or stops, `off` if it is allowed to be off, otherwise
 * `down`. Their colors on the status page are `--strip-*` in status-page/browser/theme.css.
 */
export const STRIP_STATES = ['unknown', 'running', 'changing', 'off', 'down'] as const;

export type StripState = (typeof STRIP_STATES)[number];

/** The states of a server in the last two hours. */
export interface Strip {
  /** The worst state of each point, oldest first, by its place in `STRIP_STATES`. */
  readonly worst: readonly number[];
  /** How long the server was in each state, in seconds, by its place in `STRIP_STATES`. */
  readonly seconds: readonly number[];
}
