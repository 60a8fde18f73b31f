import { CAUSES, isPanelWide } from '../diagnosis/causes.ts';
import { neededSubjects, weigh } from '../diagnosis/scope.ts';
import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';

/** So many failures on a path tell that it doesn't work while another one does. */
const FAILURES_NEEDED = 3;

/** A path that failed since it last worked, while no other path has vouched for the panel. */
interface PathDoubt {
  readonly problem: Problem;
  readonly subjects: ReadonlySet<string>;
  readonly failures: number;
}

/** Which paths of a panel don't work while another one does, as when a firewall stands before one of them. */
export class PathProblems {
  readonly #problems = new Map<ApiEndpoint, Problem>();
  readonly #doubts = new Map<ApiEndpoint, PathDoubt>();

  /** The problems of the paths that don't work. */
  get problems(): readonly Problem[] {
    return [...this.#problems.values()];
  }

  has(endpoint: ApiEndpoint): boolean {
    return this.#problems.has(endpoint);
  }

  clear(): void {
    this.#problems.clear();
    this.#doubts.clear();
  }

  /** A call failed on its path, without a word that the panel accepted the key. */
  failed(endpoint: ApiEndpoint, subject: string, problem: Problem): void {
    if (weigh(endpoint, problem.cause) === 'proof' || !isPanelWide(CAUSES[problem.cause])) return;
    const before = this.#doubts.get(endpoint);
    const subjects = new Set(before?.subjects).add(subject);
    this.#doubts.set(endpoint, { problem, subjects, failures: (before?.failures ?? 0) + 1 });
  }

  /** The path works; true if it did not. */
  worked(endpoint: ApiEndpoint): boolean {
    this.#doubts.delete(endpoint);
    return this.#problems.delete(endpoint);
  }

  /** Some path works: gives those that are therefore known not to, with a cause that is new for them. */
  settle(fleetSize: number): readonly (readonly [ApiEndpoint, Problem])[] {
    const found: [ApiEndpoint, Problem][] = [];
    for (const [path, { problem, subjects, failures }] of this.#doubts) {
      // One of many servers may fail for any reason; the listing is one for all of them.
      const isMetByMany = subjects.size >= neededSubjects(fleetSize) && failures >= FAILURES_NEEDED;
      if (path !== 'listing' && !isMetByMany) continue;
      this.#doubts.delete(path);
      const told = ofPath(path, problem);
      if (this.#problems.get(path)?.cause !== told.cause) found.push([path, told]);
      this.#problems.set(path, told);
    }
    return found;
  }
}

/** The problem of a path that fails while another one works: it isn't the key that is refused then. */
function ofPath(path: ApiEndpoint, problem: Problem): Problem {
  return path === 'listing' && problem.cause === 'key_refused'
    ? { ...problem, cause: 'listing_refused' }
    : problem;
}
