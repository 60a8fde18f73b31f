/** The ledger of outages, which decides only subjects with changed evidence. */
import { NEVER } from '../../domain/clock.ts';
import { Heap } from '../heap.ts';
import { PATHS, type Path, pathSubject, type Subject, subjectNode } from '../subjects.ts';
import { type Outage, suspected, trialGapMs } from './blame.ts';
import { findSuspicion, type KnownFacts } from './suspicion.ts';
import { Tallies } from './tallies.ts';
import type { Tally } from './tally.ts';

/** After a success, the server's node and path can't be suspected for this long. */
const SUCCESS_LASTS_MS = 120_000;

/** The beginning or the end of an outage. */
export interface OutageChange {
  readonly subject: Subject;
  readonly before: Outage | undefined;
}

/** An ended outage of the panel, a path or the consoles. */
interface EndedOutage {
  /** The instant until which the outage explains failures, which then don't count. */
  readonly explainsUntil: number;
  readonly nextTrialAt: number;
}

/**
 * Decides from their tallies which subjects have an outage.
 *
 * After a success, a subject other than the panel can't be suspected for two minutes. A suspect is
 * blamed once its first trial has failed (the panel after two), and any success ends its outage.
 */
export class Ledger {
  readonly tallies = new Tallies((subject) => this.isBlamed(subject));
  /** The outages of all tallies, by subject. */
  readonly #outages = new Map<Subject, Outage>();
  /** When a call last showed that the panel works; negative infinity before the first one. */
  #provenAt = NEVER;
  /** When the first such call ended; infinite before that. */
  #knownSince = Number.POSITIVE_INFINITY;
  /** Whether a call has worked since the panel's outage began. */
  #isPanelCleared = true;
  /**
   * Subjects with failures that a recent success contradicts, by the time at which the success
   * becomes too old.
   */
  readonly #contradicted = new Heap<Tally>();
  readonly #ended = new Map<Subject, EndedOutage>();
  /**
   * Failures on a path before this instant don't count, because a larger outage that has ended
   * explains them.
   */
  readonly #explainedUntil = new Map<Path, number>();

  get #known(): KnownFacts {
    return {
      find: this.tallies.find,
      isBlamed: (subject) => this.isBlamed(subject),
      provenAt: this.#provenAt,
    };
  }

  get provenAt(): number {
    return this.#provenAt;
  }

  /**
   * Notes that the panel worked at this instant. It didn't cause failures of calls that started
   * earlier.
   */
  panelWorks(at: number): void {
    this.#provenAt = Math.max(this.#provenAt, at);
    this.#knownSince = Math.min(this.#knownSince, at);
    this.#isPanelCleared ||= at >= (this.outages.get('panel')?.suspectedAt ?? NEVER);
    this.tallies.touch('panel');
    this.tallies.touch('consoles');
  }

  /** All outages by subject. */
  get outages(): ReadonlyMap<Subject, Outage> {
    return this.#outages;
  }

  isBlamed(subject: Subject): boolean {
    return isBlamed(this.#outages.get(subject));
  }

  /**
   * The instant before which failures on the path don't count, because a larger outage that has
   * ended explains them.
   */
  explainedUntil(path: Path): number {
    return this.#explainedUntil.get(path) ?? NEVER;
  }

  /** Replaces an outage, or ends it without a success. */
  setOutage(subject: Subject, outage: Outage | undefined): void {
    const tally = this.tallies.of(subject);
    const before = tally.outage;
    if (subject === 'panel' && before === undefined) this.#isPanelCleared = false;
    if (outage === undefined) this.#outages.delete(subject);
    else this.#outages.set(subject, outage);
    tally.outage = outage;
    this.tallies.changed(tally);
    if (isBlamed(before) !== isBlamed(outage)) this.tallies.blameChanged(subject);
  }

  /**
   * Decides the subjects with changed evidence. Returns the changed outages, with their previous
   * state.
   */
  judge(now: number): readonly OutageChange[] {
    const { touched } = this.tallies;
    this.tallies.dropProven(this.#provenAt);
    for (let next = this.#contradicted.first; next !== undefined; next = this.#contradicted.first) {
      if ((this.#contradicted.firstRank ?? 0) > now) break;
      this.#contradicted.delete(next);
      this.tallies.changed(next);
    }
    const changes: OutageChange[] = [];
    for (const tally of touched) {
      const { subject, outage: before } = tally;
      if (before !== undefined && this.#ends(tally, before, now)) changes.push({ subject, before });
    }
    // Ends outages first, because an outage that is over may have prevented another suspicion, or
    // may explain a failure.
    this.#explain();
    for (const tally of touched) {
      // Marked as decided first, because an outage that begins may touch the tally again.
      this.tallies.decided(tally);
      if (this.#begins(tally, now)) changes.push({ subject: tally.subject, before: undefined });
    }
    touched.length = 0;
    return changes;
  }

  #ends(tally: Tally, outage: Outage, now: number): boolean {
    const { subject, servers, worksAt } = tally;
    const isOfNobody = servers === 0;
    // Without a success, the outage's start isn't needed, and needn't be fetched from memory. A
    // success that contradicts no failure may be older than the suspicion.
    const hasWorked =
      worksAt !== NEVER && (worksAt > outage.suspectedAt || tally.contradictedAt >= outage.suspectedAt);
    if (!(subject === 'panel' ? this.#isPanelCleared : isOfNobody || hasWorked)) return false;
    if (subjectNode(subject) === undefined) this.#ended.set(subject, this.#makeEnd(subject, outage, now));
    this.setOutage(subject, undefined);
    return true;
  }

  #makeEnd(subject: Subject, { problem, suspectedAt, blamedAt, trial }: Outage, now: number): EndedOutage {
    // A panel that worked before and was only suspected has worked all the time, so it explains no
    // failures.
    const hasWorkedBefore = this.#knownSince < suspectedAt;
    const isExplanation = subject !== 'panel' || blamedAt !== undefined || !hasWorkedBefore;
    const explainsUntil = isExplanation ? now : (this.#ended.get(subject)?.explainsUntil ?? NEVER);
    // The first check of the panel has no suspicion, and delays no later trial.
    const triedAt = problem === undefined ? undefined : trial?.since;
    return { explainsUntil, nextTrialAt: triedAt === undefined ? now : triedAt + trialGapMs(subject, 0) };
  }

  #begins(tally: Tally, now: number): boolean {
    const { subject, failed, contradictedAt, outage } = tally;
    this.#contradicted.delete(tally);
    this.tallies.awaitProof(tally, false);
    if (failed === 0 || outage !== undefined) return false;
    if (subject !== 'panel' && contradictedAt > now - SUCCESS_LASTS_MS) {
      if (Number.isFinite(contradictedAt)) this.#contradicted.put(tally, contradictedAt + SUCCESS_LASTS_MS);
      return false;
    }
    const problem = findSuspicion(tally, this.#known);
    if (problem === 'unproven') this.tallies.awaitProof(tally, true);
    if (problem === undefined || problem === 'unproven') return false;
    this.setOutage(
      subject,
      suspected(problem, now, Math.max(now, this.#ended.get(subject)?.nextTrialAt ?? now)),
    );
    return true;
  }

  /**
   * Excuses failures before the end of a larger outage. Done once per outage, because later
   * failures are compared with its end.
   */
  #explain(): void {
    const explainedBy = (subject: Subject) => this.#ended.get(subject)?.explainsUntil ?? NEVER;
    for (const path of PATHS) {
      const until = Math.max(explainedBy('panel'), explainedBy(pathSubject(path)));
      if (until <= this.explainedUntil(path)) continue;
      this.#explainedUntil.set(path, until);
      this.tallies.excuse(path);
    }
  }
}

function isBlamed(outage: Outage | undefined): boolean {
  return outage?.blamedAt !== undefined;
}
