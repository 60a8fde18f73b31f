/** The error of a failed call to a panel. */
import { outageProblem } from '../diagnosis/outage-problem.ts';
import type { Problem } from '../domain/problems.ts';
import { printable } from '../text/printable.ts';

/** A failed call to the panel. The message is the problem's detail: one line without secrets. */
export class PanelError extends Error {
  override readonly name = 'PanelError';
  readonly problem: Problem;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /**
   * Whether the panel itself responded in one of its own JSON forms, and not a proxy in front of
   * it.
   */
  readonly fromPanel: boolean;
  /** The `X-RateLimit-Limit` of the response, in calls per minute. */
  readonly limitPerMinute: number | undefined;
  /** The panel's name for the permission that the rejected call requires. */
  readonly permission: string | undefined;

  constructor(problem: Problem, facts: Partial<PanelErrorFacts> & ErrorOptions = {}) {
    super(problem.detail, facts);
    this.problem = problem;
    this.status = facts.status;
    this.fromPanel = facts.fromPanel ?? false;
    this.limitPerMinute = facts.limitPerMinute;
    this.permission = facts.permission;
  }
}

/**
 * Does the panel, or something in front of it, demand a pause? A challenge doesn't; it demands a
 * browser.
 */
export function isThrottled(error: unknown): error is PanelError {
  if (!(error instanceof PanelError) || error.status !== 429) return false;
  return error.problem.cause === 'rate_limited' || error.problem.cause === 'console_limit';
}

type PanelErrorFacts = Pick<PanelError, 'status' | 'fromPanel' | 'limitPerMinute' | 'permission'>;

/** The problem behind any rejected call. */
export function toProblem(error: unknown): Problem {
  if (error instanceof PanelError) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return { cause: 'unexpected', detail: printable(message) };
}

/** Before any success, a 404 means that the address is wrong, not that the server is unknown. */
export function asAddressProblem(error: unknown): unknown {
  if (!(error instanceof PanelError) || error.problem.cause !== 'not_found') return error;
  return new PanelError(outageProblem('panel', error.problem), { cause: error });
}
