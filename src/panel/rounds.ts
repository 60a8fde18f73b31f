import { CAUSES } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import { type Health, type HealthEvent, nextRoundAt } from './health.ts';

/** Makes one call whose outcome shows whether the panel works, or its problem; `nothing` if it shows neither. */
export type Canary = () => Promise<Problem | 'works' | 'nothing'>;

export interface RoundsOptions {
  readonly clock: Clock;
  readonly health: () => Health;
  /** What a round shows, besides the successes of its calls. */
  readonly step: (event: HealthEvent) => void;
  /** One of each kind of call that the configuration uses. */
  readonly canaries: () => readonly Canary[];
}

/** The few calls that judge a panel as a whole: failures of other calls only cause them. */
export class Rounds {
  readonly #options: RoundsOptions;
  #underWay: Promise<void> | undefined;
  #rounds = 0;
  #cancelTimer: Cancel | undefined;
  #isStopped = false;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** A call that started at this instant failed in a way that may be the panel's: unless another succeeds, a round follows. */
  doubt(startedAt: number): void {
    const { state, provenAt } = this.#options.health();
    if (state !== 'down' && provenAt < startedAt) this.follow();
  }

  /** Makes a round as soon as one may start, unless a call shows before that the panel works. */
  follow(): void {
    if (this.#isStopped || this.#underWay !== undefined || this.#cancelTimer !== undefined) return;
    const { clock, health } = this.#options;
    const doubtedAt = clock.now();
    this.#cancelTimer = clock.schedule(Math.max(0, nextRoundAt(health()) - doubtedAt), () => {
      this.#cancelTimer = undefined;
      if (health().provenAt < doubtedAt) void this.ask();
    });
  }

  /** The panel is reached in another way: what may start now does. */
  again(): void {
    this.#forgetTimer();
    this.follow();
  }

  /** Makes a round now, or joins the one under way; resolves when it has ended. */
  ask(): Promise<void> {
    this.#forgetTimer();
    this.#underWay ??= this.#run().finally(() => {
      this.#underWay = undefined;
      const { state, failedRounds } = this.#options.health();
      if (state === 'down' || failedRounds > 0) this.follow();
    });
    return this.#underWay;
  }

  stop(): void {
    this.#isStopped = true;
    this.#forgetTimer();
  }

  #forgetTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  async #run(): Promise<void> {
    const { clock, health, step, canaries } = this.#options;
    const startedAt = clock.now();
    const all = canaries();
    const isTrial = health().state === 'down';
    const first = this.#rounds % Math.max(1, all.length);
    this.#rounds += 1;
    step({ type: 'roundStarted', at: startedAt });
    const outcomes = isTrial
      ? await oneAfterAnother([...all.slice(first), ...all.slice(0, first)])
      : await Promise.all(all.map((canary) => canary()));
    if (this.#isStopped || health().provenAt >= startedAt) return;
    const problems = outcomes.filter((outcome) => typeof outcome === 'object');
    // A call that showed nothing, such as one that was answered with 429, may have been one that works.
    const problem =
      problems.length < outcomes.length ? undefined : (problems.find(mayBeOfKey) ?? problems[0]);
    if (problem !== undefined) step({ type: 'roundFailed', problem });
  }
}

/** The outcomes up to the first success. */
async function oneAfterAnother(canaries: readonly Canary[]): Promise<Awaited<ReturnType<Canary>>[]> {
  const outcomes: Awaited<ReturnType<Canary>>[] = [];
  for (const canary of canaries) {
    outcomes.push(await canary());
    if (outcomes.at(-1) === 'works') break;
  }
  return outcomes;
}

/** A refused key shows that it is a panel, whatever else it responds. */
function mayBeOfKey({ cause }: Problem): boolean {
  return CAUSES[cause].scope === 'key' || cause === 'unauthorized';
}
