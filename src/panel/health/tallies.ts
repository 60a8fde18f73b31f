/** The tallies of all subjects of a panel, with the subjects that are due for a decision. */
import {
  type Channel,
  nodeOf,
  PATHS,
  type Path,
  pathOf,
  pollsOf,
  type Subject,
  socketsOf,
} from '../subjects.ts';
import { pathBehind } from './suspicion.ts';
import { type Evidence, type Key, Tally } from './tally.ts';

/** The key of servers that were granted their consoles, because their sockets stream. */
export const STREAMS = 'streams';

export class Tallies {
  readonly #isBlamed: (subject: Subject) => boolean;
  readonly #tallies = new Map<Subject, Tally>();
  /** Subjects whose evidence changed since they were last decided. */
  readonly touched = new Set<Tally>();
  /** Nodes' subjects that are suspected as soon as another node's server works on the path. */
  readonly #unproven = new Map<Path, Set<Tally>>();

  /** A node that is blamed explains why its servers fail on the paths. */
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
    if (tally !== undefined) this.touched.add(tally);
  }

  put(evidence: Evidence): void {
    const { tally, key } = evidence.group;
    tally.add(evidence);
    this.touched.add(tally);
    if (evidence.proves === 'works') this.#worked(tally, key);
  }

  take(evidence: Evidence): void {
    const { tally } = evidence.group;
    tally.remove(evidence);
    this.touched.add(tally);
  }

  /** The subject was decided; a node without servers is forgotten. */
  decided(tally: Tally): void {
    this.touched.delete(tally);
    if (tally.servers === 0 && tally.node !== undefined) this.#tallies.delete(tally.subject);
  }

  /** Decides the subject again once a server of another node works on the path, or no longer does. */
  awaitProof(tally: Tally, isAwaited: boolean): void {
    const path = pathBehind(tally.channel);
    const unproven = this.#unproven.get(path) ?? new Set();
    if (isAwaited) this.#unproven.set(path, unproven.add(tally));
    else unproven.delete(tally);
  }

  /** A node's outage explains failures on the paths, and makes the node's other subject likely. */
  blameChanged(subject: Subject): void {
    const node = nodeOf(subject);
    if (node === undefined) return;
    this.touch(subject.startsWith('sockets ') ? pollsOf(node) : socketsOf(node));
    for (const path of PATHS) {
      const tally = this.#tallies.get(pathOf(path));
      if (tally === undefined) continue;
      tally.explanationChanged(node);
      this.touched.add(tally);
    }
  }

  /** The failures on a path count no longer. */
  excuse(path: Path): void {
    this.of(pathOf(path)).excuse();
    this.of('panel').excuse(path);
    // Polls of a node that may have failed because of the path.
    if (path === 'resources')
      for (const tally of this.#tallies.values())
        if (tally.channel === path && tally.node !== undefined) tally.excuse('may fail');
  }

  /** Forgets the outcomes on these channels, except those of sockets that stream. */
  forget(channels: ReadonlySet<Channel>): void {
    for (const channel of channels) this.of('panel').excuse(channel);
    for (const tally of this.#tallies.values()) {
      if (!channels.has(tally.channel) || tally.subject === 'panel') continue;
      // Sockets that stream are granted consoles, too.
      tally.forget(tally.channel === 'sockets' ? 'works' : STREAMS);
      this.touched.add(tally);
    }
  }

  /** Failures of calls that started before the panel was known to work aren't the panel's. */
  dropProven(provenAt: number): void {
    const tally = this.of('panel');
    for (let first = tally.firstFailure; first !== undefined; first = tally.firstFailure) {
      if (first.outcome.startedAt > provenAt) return;
      tally.drop(first);
    }
  }

  /** A success on a path proves that failures elsewhere aren't the panel's. */
  #worked({ subject, channel, node }: Tally, key: Key): void {
    if (subject === 'consoles' || subject === 'panel' || node !== undefined || channel === 'sockets') return;
    for (const path of PATHS) if (path !== channel) this.touch(pathOf(path));
    this.touch('consoles');
    for (const tally of this.#unproven.get(channel) ?? []) if (tally.node !== key) this.touched.add(tally);
  }

  #newTally(subject: Subject): Tally {
    if (!subject.startsWith('path ')) return new Tally(subject);
    return new Tally(
      subject,
      (node) => node !== undefined && (this.#isBlamed(socketsOf(node)) || this.#isBlamed(pollsOf(node))),
    );
  }
}
