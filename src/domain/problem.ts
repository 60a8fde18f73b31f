/**
 * The codes of all causes, as keys. `src/diagnosis` declares them, where it explains each cause and its remedy. They are the values
 * of `cause` in the log, in `/api/v1`, in doctor's JSON and in the labels of metrics.
 */
export interface CauseCodes {}

export type CauseCode = keyof CauseCodes;

/** What went wrong: the cause, and a detail from whatever detected it, on one line and without secrets. */
export interface Problem {
  readonly cause: CauseCode;
  readonly detail: string;
  /** How long the far end asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}
