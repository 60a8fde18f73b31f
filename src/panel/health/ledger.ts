/** The ledger of outages: only subjects whose evidence changed are decided. */
import { NEVER } from '../../domain/time.ts';
import { Heap } from '../heap.ts';
import { PATHS, type Path, pathSubject, type Subject, subjectNode } from '../subjects.ts';
import { type Outage, suspected, trialGapMs } from './outage.ts';
import { findSuspicion, type Known } from './suspicion.ts';
import { Tallies } from './tallies.ts';
import type { Tally } from './tally.ts';

/** A success within this time keeps the server's node and path from being suspected. */
const SUCCESS_LASTS_MS = 120_000;

/** An outage that began or ended. */
export interface Decision {
  readonly subject: Subject;
  readonly before: Outage | undefined;
}

/** An outage of the panel, a path or the consoles that has ended. */
interface Ended {
  /** The outage explains failures until this instant, so they don't count. */
  readonly explainsUntil: number;
  readonly nextTrialAt: number;
}

/**
 * Decides which subjects have an outage, by their tallies.
 *
 * A success within the last two minutes keeps a subject other than the panel from being suspected.
 * A suspect is blamed once its first trial has failed (the panel after two), and its outage ends
 * with any success.
 */
export class Ledger {
  readonly tallies = new Tallies((subject) => this.isBlamed(subject));
  /** The outages of all tallies, by subject. */
  readonly #outages = new Map<Subject, Outage>();
  /** When a call last proved that the panel works; negative infinity before the first such call. */
  #provenAt = NEVER;
  /** When a call first did; infinite until then. */
  #knownSince = Number.POSITIVE_INFINITY;
  /** A call has worked since the panel's outage began. */
  #isPanelCleared = true;
  /** Subjects with failures that a recent success contradicts, by when that success is too old. */
  readonly #contradicted = new Heap<Tally>();
  readonly #ended = new Map<Subject, Ended>();
  /** Failures on a path up to here don't count: a larger outage that ended explains them. */
  readonly #explainedUntil = new Map<Path, number>();

  get #known(): Known {
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
   * The panel worked at this instant: it didn't cause the failures of calls that started earlier.
   */
  panelWorks(at: number): void {
    this.#provenAt = Math.max(this.#provenAt, at);
    this.#knownSince = Math.min(this.#knownSince, at);
    this.#isPanelCleared ||= at >= (this.outages.get('panel')?.suspectedAt ?? NEVER);
    this.tallies.touch('panel');
    this.tallies.touch('consoles');
  }

  /** Outages by subject. */
  get outages(): ReadonlyMap<Subject, Outage> {
    return this.#outages;
  }

  isBlamed(subject: Subject): boolean {
    return isBlamed(this.#outages.get(subject));
  }

  /** Failures on the path until then don't count: a larger outage that ended explains them. */
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
   * Decides the subjects whose evidence changed; returns the changed outages, with their earlier
   * state.
   */
  judge(now: number): readonly Decision[] {
    const { touched } = this.tallies;
    this.tallies.dropProven(this.#provenAt);
    for (let next = this.#contradicted.first; next !== undefined; next = this.#contradicted.first) {
      if ((this.#contradicted.firstRank ?? 0) > now) break;
      this.#contradicted.delete(next);
      this.tallies.changed(next);
    }
    const decisions: Decision[] = [];
    for (const tally of touched) {
      const { subject, outage: before } = tally;
      if (before !== undefined && this.#ends(tally, before, now)) decisions.push({ subject, before });
    }
    // Outages end first: one that is over may have kept another subject from being suspected, or
    // explain why it failed.
    this.#explain();
    for (const tally of touched) {
      // Marked as decided first, because a beginning outage may touch the tally again.
      this.tallies.decided(tally);
      if (this.#begins(tally, now)) decisions.push({ subject: tally.subject, before: undefined });
    }
    touched.length = 0;
    return decisions;
  }

  #ends(tally: Tally, outage: Outage, now: number): boolean {
    const { subject, servers, worksAt } = tally;
    const isOfNobody = servers === 0;
    // Without any success, when the outage began needn't be fetched from memory. A success that
    // contradicts no failure may have been known when the suspicion began.
    const hasWorked =
      worksAt !== NEVER && (worksAt > outage.suspectedAt || tally.contradictedAt >= outage.suspectedAt);
    if (!(subject === 'panel' ? this.#isPanelCleared : isOfNobody || hasWorked)) return false;
    if (subjectNode(subject) === undefined) this.#ended.set(subject, this.#makeEnd(subject, outage, now));
    this.setOutage(subject, undefined);
    return true;
  }

  #makeEnd(subject: Subject, { problem, suspectedAt, blamedAt, trial }: Outage, now: number): Ended {
    // A panel that worked before and was only suspected worked all the time, so it explains no
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
   * Failures before the end of a larger outage no longer count. Done once per outage: later ones
   * are compared with its end.
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
