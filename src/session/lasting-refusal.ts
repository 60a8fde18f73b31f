// Lasting refusals: problems that no early retry can solve.

import { blockedReason, CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { BlockedReason } from '../domain/server.ts';

/** A refusal that retrying within minutes won't end. */
export interface LastingRefusal {
  /**
   * Undefined if the refusal is about the API key or the node, which is reported once for all of
   * their servers.
   */
  readonly reason: BlockedReason | undefined;
  /** Whether the resources endpoint may still respond for this server. */
  readonly pollable: boolean;
}

/**
 * Refusals that apply to every endpoint of a server. A 404 isn't included, because it may be about
 * one path.
 */
const OF_EVERY_PATH: ReadonlySet<CauseCode> = new Set([
  'suspended',
  'installing',
  'install_failed',
  'transferring',
  'restoring',
  'maintenance',
]);

/** The kind of lasting refusal that a problem is; undefined if an early retry makes sense. */
export function lastingRefusal(problem: Problem | undefined): LastingRefusal | undefined {
  if (problem === undefined || !CAUSES[problem.cause].lasting) return undefined;
  const { cause } = problem;
  // A node refuses all of its servers.
  return {
    reason: CAUSES[cause].scope === 'node' ? undefined : blockedReason(cause),
    pollable: !OF_EVERY_PATH.has(cause),
  };
}

/**
 * May the panel or its API key be the reason for the refusal? This applies to a 401 or 404, and to
 * a problem of the key, for which no reason of the server exists.
 */
export function mayBeOfPanel(reason: BlockedReason | undefined): boolean {
  return reason === undefined || reason === 'unauthorized' || reason === 'not_found';
}
