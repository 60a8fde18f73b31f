/** Why a step failed or warns, and what to do about it. */
export interface Remedy {
  readonly likely: string;
  readonly change: string;
}
