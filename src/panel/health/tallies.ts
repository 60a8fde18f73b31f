/** The tallies of all subjects of a panel, and which of them are due for a decision. */
import {
  PATHS,
  type Path,
  pathSubject,
  pollsSubject,
  type Subject,
  socketsSubject,
  subjectNode,
} from '../subjects.ts';
import type { Evidence, Key, NextEvidence } from './evidence-group.ts';
import { pathBehind } from './suspicion.ts';
import { Tally } from './tally.ts';

/** The key of servers that have access to their consoles, because their sockets stream. */
export const STREAMS = 'streams';

export class Tallies {
  readonly #isBlamed: (subject: Subject) => boolean;
  /** Nodes with an outage, which explains failures of their servers on the paths. */
  readonly #explained = new Set<Key>();
  readonly #tallies = new Map<Subject, Tally>();
  /** Tallies with evidence that changed since their last decision. */
  readonly touched: Tally[] = [];
  /**
   * Tallies of nodes that will be suspected as soon as a server of another node works on the path.
   */
  readonly #unproven = new Map<Path, Set<Tally>>();

  constructor(isBlamed: (subject: Subject) => boolean) {
    this.#isBlamed = isBlamed;
    // The panel is decided even if no server is asked.
    this.of('panel');
  }

  of(subject: Subject): Tally {
    let tally = this.#tallies.get(subject);
    if (tally === undefined) this.#tallies.set(subject, (tally = this.#newTally(subject)));
    return tally;
  }

  find = (subject: Subject): Tally | undefined => this.#tallies.get(subject);

  touch(subject: Subject): void {
    const tally = this.#tallies.get(subject);
    if (tally !== undefined) this.changed(tally);
  }

  /** Makes the subject due for a decision. */
  changed(tally: Tally): void {
    if (tally.isTouched) return;
    tally.isTouched = true;
    this.touched.push(tally);
  }

  put(evidence: Evidence): void {
    const { tally } = evidence.group;
    tally.add(evidence);
    this.#counted(tally, evidence);
  }

  take(evidence: Evidence): void {
    const { tally } = evidence.group;
    tally.remove(evidence);
    this.changed(tally);
  }

  /** The same as removing the evidence and adding the next. */
  change(evidence: Evidence, next: NextEvidence): void {
    const { tally } = evidence.group;
    if (next.group.tally === tally) tally.change(evidence, next);
    else {
      this.take(evidence);
      Object.assign(evidence, next);
      next.group.tally.add(evidence);
    }
    this.#counted(next.group.tally, evidence);
  }

  /** Notes that the subject was decided. The tally of a node without servers is forgotten. */
  decided(tally: Tally): void {
    tally.isTouched = false;
    if (tally.servers === 0 && tally.node !== undefined) this.#tallies.delete(tally.subject);
  }

  /**
   * If `isAwaited`, the subject is decided again once a server of another node works on the path.
   */
  awaitProof(tally: Tally, isAwaited: boolean): void {
    const path = pathBehind(tally.channel);
    const unproven = this.#unproven.get(path);
    if (!isAwaited) unproven?.delete(tally);
    else this.#unproven.set(path, (unproven ?? new Set()).add(tally));
  }

  /**
   * Handles the outage of a node, which explains failures on the paths, and makes the node's other
   * subject likely.
   */
  blameChanged(subject: Subject): void {
    const node = subjectNode(subject);
    if (node === undefined) return;
    const other = subject.startsWith('sockets ') ? pollsSubject(node) : socketsSubject(node);
    this.touch(other);
    if (this.#isBlamed(subject) || this.#isBlamed(other)) this.#explained.add(node);
    else this.#explained.delete(node);
    for (const path of PATHS) {
      const tally = this.#tallies.get(pathSubject(path));
      if (tally === undefined) continue;
      tally.explanationChanged(node);
      this.changed(tally);
    }
  }

  /** Excuses failures on the path. */
  excuse(path: Path): void {
    this.of(pathSubject(path)).excuse();
    this.of('panel').excuse(path);
    // A node's polls may have failed because of the path.
    if (path === 'resources')
      for (const tally of this.#tallies.values())
        if (tally.channel === path && tally.node !== undefined) tally.excuse('may fail');
  }

  /** Excuses the panel from failures of calls that started before it was known to work. */
  dropProven(provenAt: number): void {
    const tally = this.of('panel');
    for (let first = tally.firstFailure; first !== undefined; first = tally.firstFailure) {
      if (first.outcome.startedAt > provenAt) return;
      tally.drop(first);
    }
  }

  #counted(tally: Tally, { proves, group }: Evidence): void {
    this.changed(tally);
    if (proves === 'works') this.#worked(tally, group.key);
  }

  /** Handles a success on a path, which shows that the panel doesn't cause failures elsewhere. */
  #worked({ subject, channel, node }: Tally, key: Key): void {
    if (subject === 'consoles' || subject === 'panel' || node !== undefined || channel === 'sockets') return;
    for (const path of PATHS) if (path !== channel) this.touch(pathSubject(path));
    for (const tally of this.#unproven.get(channel) ?? []) if (tally.node !== key) this.changed(tally);
  }

  readonly #isExplained = (node: Key): boolean => this.#explained.has(node);

  #newTally(subject: Subject): Tally {
    return subject.startsWith('path ') ? new Tally(subject, this.#isExplained) : new Tally(subject);
  }
}
