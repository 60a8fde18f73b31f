import { printable } from '../domain/printable.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import { problemOf } from '../panel/errors.ts';
import { type Finding, failed, skipped } from './report.ts';

/** The result of one call. */
export type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Why a call was canceled before it ended. */
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

/** Waits for the call and returns its result; never rejects. */
export async function attempt<T>(call: Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    return { ok: false, error };
  }
}

/** The text of an error, safe to display. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? printable(error.message) : 'unknown error';
}

/** The finding for a step whose call failed. */
export function failedCall<Step extends string>(step: Step, error: unknown): Finding<Step> {
  return problemFinding(step, error instanceof Canceled ? error : problemOf(error));
}

/** The finding for a step that met a problem, or was canceled before its end. */
export function problemFinding<Step extends string>(step: Step, problem: Problem | Canceled): Finding<Step> {
  if (!(problem instanceof Canceled)) return failed(step, problem.cause, problem.detail);
  return problem.code === undefined
    ? skipped(step, problem.message)
    : failed(step, problem.code, problem.message);
}
