import { printable } from '../domain/printable.ts';
import type { Cause } from './causes.ts';
import { type Contact, panelCause } from './panel-cause.ts';
import { type Finding, failed, skipped } from './report.ts';

/** How one call ended. */
export type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

/** Why a call was withdrawn before it ended. */
export class Cut extends Error {
  override readonly name = 'Cut';
  /** Undefined where somebody stopped the doctor. */
  readonly remedy: Cause | undefined;

  constructor(message: string, remedy?: Cause) {
    super(message);
    this.remedy = remedy;
  }
}

export const STOPPED = 'the doctor was stopped';

/** The call's end; never rejects. */
export async function attempt<T>(call: Promise<T>): Promise<Attempt<T>> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    return { ok: false, error };
  }
}

/** An error in words that can be shown. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? printable(error.message) : 'unknown trouble';
}

/** What a call that failed means for its step; `cause` where it is known better than the call alone tells. */
export function failedCall<Step extends string>(
  step: Step,
  error: unknown,
  contact: Contact,
  cause?: Cause,
): Finding<Step> {
  if (!(error instanceof Cut)) return failed(step, cause ?? panelCause(error, contact), wordsOf(error));
  return error.remedy === undefined
    ? skipped(step, error.message)
    : failed(step, error.remedy, error.message);
}
