// The strip of a server: its states in the last two hours.

/** The number of points of a strip: two hours in steps of two minutes. */
export const STRIP_POINTS = 60;

/**
 * What a server did during a point of its strip, from least to most serious; the worst is kept.
 * `changing` means that it started or stopped, `off` that it was allowed to be off, `down` that it
 * was not. Their colors are `--strip-*` in status-page/browser/theme.css.
 */
export const STRIP_STATES = ['unknown', 'running', 'changing', 'off', 'down'] as const;

export type StripState = (typeof STRIP_STATES)[number];

/** The states of a server in the last two hours. */
export interface Strip {
  /** The worst state of each point, oldest first, as an index into `STRIP_STATES`. */
  readonly worst: readonly number[];
  /** The seconds in each state, in the order of `STRIP_STATES`. */
  readonly seconds: readonly number[];
}
