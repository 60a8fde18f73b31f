import { CAUSES, isPanelWide } from '../diagnosis/causes.ts';
import { neededSubjects, weigh } from '../diagnosis/scope.ts';
import type { Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';

/** After this many failures a path counts as broken while another one works. */
const FAILURES_NEEDED = 3;

/** A path that has failed since it last worked, while no other path has yet proved the panel to be working. */
interface PathDoubt {
  readonly problem: Problem;
  readonly subjects: ReadonlySet<string>;
  readonly failures: number;
}

/** Tracks which paths of a panel fail while another one works, for example because a firewall blocks one of them. */
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

  /** A call failed on its path without showing that the panel accepted the API key. */
  failed(endpoint: ApiEndpoint, subject: string, problem: Problem): void {
    if (weigh(endpoint, problem.cause) === 'proof' || !isPanelWide(CAUSES[problem.cause])) return;
    const before = this.#doubts.get(endpoint);
    const subjects = new Set(before?.subjects).add(subject);
    this.#doubts.set(endpoint, { problem, subjects, failures: (before?.failures ?? 0) + 1 });
  }

  /** The path works; true if it didn't before. */
  worked(endpoint: ApiEndpoint): boolean {
    this.#doubts.delete(endpoint);
    return this.#problems.delete(endpoint);
  }

  /** Some path works, so the doubtful ones are known to be broken: returns those whose cause is new. */
  settle(fleetSize: number): readonly (readonly [ApiEndpoint, Problem])[] {
    const found: [ApiEndpoint, Problem][] = [];
    for (const [path, { problem, subjects, failures }] of this.#doubts) {
      // A single server can fail for any reason; the listing is shared by all of them.
      const affectsMany = subjects.size >= neededSubjects(fleetSize) && failures >= FAILURES_NEEDED;
      if (path !== 'listing' && !affectsMany) continue;
      this.#doubts.delete(path);
      const current = ofPath(path, problem);
      if (this.#problems.get(path)?.cause !== current.cause) found.push([path, current]);
      this.#problems.set(path, current);
    }
    return found;
  }
}

/** The problem of a path that fails while another one works: in that case it isn't the key that is refused. */
function ofPath(path: ApiEndpoint, problem: Problem): Problem {
  return path === 'listing' && problem.cause === 'key_refused'
    ? { ...problem, cause: 'listing_refused' }
    : problem;
}
