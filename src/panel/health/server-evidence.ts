/** The evidence of a server's last outcome on one channel, about path, node, consoles and panel. */

import { isBlockedAlone, NO_SIGNS, type Signs } from '../../diagnosis/signs.ts';
import { NEVER } from '../../domain/clock.ts';
import { type Path, pathSubject, pollsSubject, type Subject, socketsSubject } from '../subjects.ts';
import { type Evidence, type Key, makeEvidence, type NextEvidence, REFUSALS } from './evidence-group.ts';
import type { Outcome } from './outcome.ts';
import { STREAMS, type Tallies } from './tallies.ts';
import type { Tally } from './tally.ts';

/** The tallies for the evidence, and the failures that don't count. */
export interface Facts {
  readonly tallies: Tallies;
  /** Failures of calls that started before this instant aren't the panel's. */
  readonly provenAt: number;
  /** Failures on the path before this instant are explained by a larger outage. */
  explainedUntil(path: Path): number;
}

/** Stands for the lack of an outcome. */
const NO_OUTCOME: Outcome = { startedAt: NEVER, at: NEVER, problem: undefined, signs: NO_SIGNS };

/** The evidence of one server on one channel. Each change replaces the earlier evidence. */
export class ServerEvidence {
  readonly #facts: Facts;
  #ofPath: Evidence | undefined;
  #ofNode: Evidence | undefined;
  /**
   * The node of `#ofNode` as the caller's own string, because comparing the same string reads no
   * characters.
   */
  #node: string | undefined;
  #ofConsoles: Evidence | undefined;
  #ofPanel: Evidence | undefined;

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  /** Counts the last call on the path; undefined if it is forgotten, or there was none. */
  call(path: Path, node: string | undefined, found: Outcome | undefined): void {
    const { tallies, provenAt } = this.#facts;
    const isExplained = found?.problem !== undefined && found.at <= this.#facts.explainedUntil(path);
    const last = isExplained && found.signs.path === 'fails' ? undefined : found;
    const ofPath = tallies.of(pathSubject(path));
    const isRefusal =
      last?.problem !== undefined && last.signs.path === 'works' && last.signs.node === undefined;
    const key = isRefusal ? REFUSALS : node;
    this.#ofPath = this.#put(this.#ofPath, proof(ofPath, last, 'path', key, this.#ofPath));
    this.#countNode(path === 'resources' ? node : undefined, pollsSubject, last);
    if (path === 'websocket') {
      const consoles = tallies.of('consoles');
      const cause = last?.problem?.cause;
      this.#ofConsoles = this.#put(
        this.#ofConsoles,
        proof(consoles, last, 'console', cause, this.#ofConsoles),
      );
    }
    const mayBePanels =
      !isExplained &&
      last?.problem !== undefined &&
      last.signs.panel === 'fails' &&
      last.startedAt > provenAt;
    if (!mayBePanels && this.#ofPanel === undefined) return;
    const group = tallies.of('panel').group(path);
    this.#ofPanel = this.#put(
      this.#ofPanel,
      mayBePanels ? { group, outcome: last, proves: 'fails', isCounted: true } : undefined,
    );
  }

  /**
   * Counts the last attempt to stream. `granted` is given if it shows that the console was granted.
   */
  socket(node: string | undefined, last: Outcome | undefined, granted: Outcome | undefined): void {
    this.#countNode(node, socketsSubject, last);
    if (granted === undefined && this.#ofConsoles === undefined) return;
    const group = this.#facts.tallies.of('consoles').group(STREAMS);
    this.#ofConsoles = this.#put(
      this.#ofConsoles,
      granted && { group, outcome: granted, proves: 'works', isCounted: false },
    );
  }

  /** Removes the evidence of a server that is no longer asked. */
  withdraw(): void {
    for (const evidence of [this.#ofPath, this.#ofNode, this.#ofConsoles, this.#ofPanel])
      if (evidence !== undefined) this.#facts.tallies.take(evidence);
  }

  #countNode(node: string | undefined, subject: (node: string) => Subject, last: Outcome | undefined): void {
    let tally = this.#ofNode?.group.tally;
    if (node === undefined) tally = undefined;
    else if (tally === undefined || node !== this.#node) tally = this.#facts.tallies.of(subject(node));
    this.#node = node;
    this.#ofNode = this.#put(
      this.#ofNode,
      tally && proof(tally, last, 'node', last?.signs.node, this.#ofNode),
    );
  }

  /** Replaces or removes evidence. */
  #put(before: Evidence | undefined, next: NextEvidence | undefined): Evidence | undefined {
    if (before === undefined) {
      const evidence = next && makeEvidence(next);
      if (evidence !== undefined) this.#facts.tallies.put(evidence);
      return evidence;
    }
    if (next !== undefined) this.#facts.tallies.change(before, next);
    else this.#facts.tallies.take(before);
    return next && before;
  }
}

/** Evidence from an outcome about a subject, in the group with this key. */
function proof(
  tally: Tally,
  last: Outcome | undefined,
  of: keyof Signs,
  key: Key,
  before: Evidence | undefined,
): NextEvidence {
  const outcome = last ?? NO_OUTCOME;
  const { problem, signs } = outcome;
  const sign = signs[of];
  const isBlocked = problem !== undefined && isBlockedAlone(problem) && sign !== 'works';
  // A failure that the path may cause doesn't count as the server's own.
  const isCounted = !isBlocked || signs.path === 'fails';
  const hasFailed = !isBlocked && sign !== undefined && problem !== undefined;
  const proves = sign === 'works' ? 'works' : hasFailed ? 'fails' : undefined;
  return { group: tally.group(key, before?.group), outcome, proves, isCounted };
}
