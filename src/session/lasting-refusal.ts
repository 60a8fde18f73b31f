// Lasting refusals: problems that no early retry can solve.

import { blockedReason, CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { BlockedReason } from '../domain/server.ts';

/** A refusal that retrying within minutes won't fix. */
export interface LastingRefusal {
  /**
   * Undefined if the refusal concerns the API key or the node, which is reported once for all their
   * servers.
   */
  readonly reason: BlockedReason | undefined;
  /** Whether the resources endpoint may still respond for this server. */
  readonly pollable: boolean;
}

/** Refusals that apply to every endpoint of a server; a 404 may be of one path. */
const UNREADABLE: ReadonlySet<CauseCode> = new Set([
  'suspended',
  'installing',
  'install_failed',
  'transferring',
  'restoring',
  'maintenance',
]);

/**
 * Whether a problem is a lasting refusal, and of which kind; undefined if an early retry makes
 * sense.
 */
export function lastingRefusal(problem: Problem | undefined): LastingRefusal | undefined {
  if (problem === undefined || !CAUSES[problem.cause].lasting) return undefined;
  const { cause } = problem;
  // A refusal by the node is that of all its servers.
  return {
    reason: CAUSES[cause].scope === 'node' ? undefined : blockedReason(cause),
    pollable: !UNREADABLE.has(cause),
  };
}

/**
 * May the refusal concern the panel or its API key? A 401 or 404 may, and a problem of the key
 * itself has no reason that belongs to the server.
 */
export function mayBeOfPanel(reason: BlockedReason | undefined): boolean {
  return reason === undefined || reason === 'unauthorized' || reason === 'not_found';
}
