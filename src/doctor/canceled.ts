import { printable } from '../domain/printable.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { problemOf } from '../panel/errors.ts';

/** Why something was canceled before it ended. */
export class Canceled extends Error {
  override readonly name = 'Canceled';
  /** Undefined if the step itself didn't fail: the doctor was stopped, or the panel as a whole failed. */
  readonly code: CauseCode | undefined;

  constructor(message: string, code?: CauseCode) {
    super(message);
    this.code = code;
  }
}

export const STOPPED = 'interrupted by a signal';

/** The cancellation or problem behind an error. */
export function failureOf(error: unknown): Canceled | Problem {
  return error instanceof Canceled ? error : problemOf(error);
}

/** The text of an error, safe to display. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? printable(error.message) : 'unknown error';
}
