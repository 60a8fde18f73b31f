import { CAUSES } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';

/** The shortest time between two rounds. */
export const ROUND_INTERVAL_MS = 15_000;

/** The next canary of a round goes out when the one before failed, or hasn't ended after this long. */
const PATIENCE_MS = 3_000;

/** Makes one call whose outcome shows whether the panel works, or its problem; nothing if no call may be made any more. */
export type Canary = () => Promise<Problem | 'works' | 'nothing'>;

export interface CanariesOptions {
  readonly clock: Clock;
  /** One of each kind of call that the configuration uses. */
  readonly canaries: () => readonly Canary[];
  /** When a call of any kind last showed that the panel works, in monotonic milliseconds. */
  readonly provenAt: () => number;
  /**
   * A round failed, and no other call succeeded in the meantime: the problem is the refused key if there is one, otherwise that
   * of the first canary.
   */
  readonly failed: (problem: Problem) => void;
  /** When a trial of the open circuit may start; undefined while the circuit is closed. */
  readonly trialAt: () => number | undefined;
  /** A trial starts. */
  readonly tried: () => void;
}

/** The few calls that judge a panel as a whole. Failures of other calls only trigger them. */
export class Canaries {
  readonly #options: CanariesOptions;
  #round: Promise<void> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Trials and rounds so far: each trial makes the next of the canaries. */
  #rounds = 0;
  #isStopped = false;
  #cancel: Cancel | undefined;

  constructor(options: CanariesOptions) {
    this.#options = options;
  }

  /** A call that started at this instant failed in a way that may be the panel's. */
  doubt(startedAt: number): void {
    if (this.#options.provenAt() < startedAt && this.#options.trialAt() === undefined) this.#follow();
  }

  /** Makes a round now, or joins the one under way; resolves when it is judged. */
  ask(): Promise<void> {
    this.#round ??= this.#run();
    return this.#round;
  }

  /** Ends the waiting for the next round. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  /** While the circuit is open, its trials follow; before, another round, unless a call succeeds until then. */
  #follow(): void {
    if (this.#isStopped || this.#cancel !== undefined || this.#round !== undefined) return;
    const { clock, provenAt, trialAt } = this.#options;
    const doubtedAt = clock.now();
    // A round without a call, because each kind has used up its own limit, doesn't postpone the trial.
    const at = Math.max(trialAt() ?? doubtedAt, this.#startedAt + ROUND_INTERVAL_MS);
    this.#cancel = clock.schedule(Math.max(0, at - doubtedAt), () => {
      this.#cancel = undefined;
      if (provenAt() < doubtedAt) void this.ask();
    });
  }

  async #run(): Promise<void> {
    const { clock, canaries, provenAt, failed, trialAt, tried } = this.#options;
    const startedAt = clock.now();
    this.#startedAt = startedAt;
    const all = canaries();
    const isTrial = trialAt() !== undefined;
    if (isTrial) tried();
    const next = this.#rounds % Math.max(1, all.length);
    this.#rounds += 1;
    const problem = await this.#problemOf(isTrial ? all.slice(next, next + 1) : all, startedAt);
    this.#round = undefined;
    if (this.#isStopped || provenAt() >= startedAt) return;
    if (problem !== undefined) failed(problem);
    if (problem !== undefined || trialAt() !== undefined) this.#follow();
  }

  /** The problem of the first canary that has one; undefined as soon as a call shows that the panel works. */
  async #problemOf(canaries: readonly Canary[], startedAt: number): Promise<Problem | undefined> {
    const ends: ReturnType<Canary>[] = [];
    for (const canary of canaries) {
      if (this.#options.provenAt() >= startedAt) return undefined;
      const end = canary();
      ends.push(end);
      await this.#forAWhile(end);
    }
    const outcomes = await Promise.all(ends);
    if (outcomes.includes('works')) return undefined;
    const problems = outcomes.filter((outcome) => typeof outcome === 'object');
    // A refused key shows that it is a panel, whatever else it responds.
    return problems.find(mayBeOfKey) ?? problems[0];
  }

  /** Resolves when the canary has ended or its time is up. */
  async #forAWhile(end: Promise<unknown>): Promise<void> {
    let cancel: Cancel = () => undefined;
    const patience = new Promise<void>((resolve) => {
      cancel = this.#options.clock.schedule(PATIENCE_MS, resolve);
    });
    await Promise.race([end, patience]);
    cancel();
  }
}

function mayBeOfKey({ cause }: Problem): boolean {
  return CAUSES[cause].scope === 'key' || cause === 'unauthorized';
}
