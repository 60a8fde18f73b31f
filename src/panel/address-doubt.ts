import { CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';

/**
 * Does the outcome of a call (undefined: success) show that a panel's API is at the configured address? A 404 doesn't: a panel
 * gives the same answer to a path of its host that it doesn't know.
 */
export function confirmsAddress(cause: CauseCode | undefined): boolean {
  if (cause === undefined) return true;
  if (cause === 'not_found' || cause === 'node_silent') return false;
  const { scope } = CAUSES[cause];
  return scope === 'server' || scope === 'node' || scope === 'key';
}

/** Tells a missing server or listing from a wrong path in `url`, by the outcomes of a panel's calls. */
export class AddressDoubt {
  #isConfirmed = false;

  /** May this problem be due to a wrong address? */
  concerns(problem: Problem | undefined): problem is Problem {
    return problem?.cause === 'not_found' && !this.#isConfirmed;
  }

  /** A call ended: returns its problem, as the panel's if it may be due to a wrong address. */
  judged(problem: Problem | undefined): Problem | undefined {
    if (confirmsAddress(problem?.cause)) this.#isConfirmed = true;
    return this.concerns(problem) ? { ...problem, cause: 'not_a_panel' } : problem;
  }

  /** Forgets the outcomes so far, because the panel's settings changed. */
  reset(): void {
    this.#isConfirmed = false;
  }
}
