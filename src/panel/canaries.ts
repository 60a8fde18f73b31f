import { CAUSES } from '../diagnosis/causes.ts';
import { problemOfBlamed } from '../diagnosis/outcome.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import { isDoubted } from './circuit.ts';
import { type Gate, PANEL } from './gate.ts';

/** The shortest time between two rounds. */
export const ROUND_INTERVAL_MS = 15_000;

/** The next canary of a round goes out when the one before failed, or hasn't ended after this long. */
const PATIENCE_MS = 3_000;

/** Makes one call whose outcome shows whether the panel works, or its problem; nothing if no call may be made any more. */
export type Canary = () => Promise<Problem | 'works' | 'nothing'>;

export interface CanariesOptions {
  readonly clock: Clock;
  /** Holds the panel's circuit. */
  readonly gate: Pick<Gate, 'circuit' | 'note'>;
  /** One of each kind of call that the configuration uses. */
  readonly canaries: () => readonly Canary[];
  /** When a call of any kind last showed that the panel works, in monotonic milliseconds. */
  readonly provenAt: () => number;
}

/** The subject of the panel's circuit. */
const WHOLE_PANEL = 'panel';

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
    if (this.#options.provenAt() < startedAt && this.#trialAt === undefined) this.#follow();
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

  /** When a trial of the open circuit may start; undefined while the circuit is closed. */
  get #trialAt(): number | undefined {
    const circuit = this.#options.gate.circuit(PANEL);
    return isDoubted(circuit) ? circuit.trialAt : undefined;
  }

  /** While the circuit is open, its trials follow; before, another round, unless a call succeeds until then. */
  #follow(): void {
    if (this.#isStopped || this.#cancel !== undefined || this.#round !== undefined) return;
    const { clock, provenAt } = this.#options;
    const doubtedAt = clock.now();
    // A round without a call, because each kind has used up its own limit, doesn't postpone the trial.
    const at = Math.max(this.#trialAt ?? doubtedAt, this.#startedAt + ROUND_INTERVAL_MS);
    this.#cancel = clock.schedule(Math.max(0, at - doubtedAt), () => {
      this.#cancel = undefined;
      if (provenAt() < doubtedAt) void this.ask();
    });
  }

  async #run(): Promise<void> {
    const { clock, gate, canaries, provenAt } = this.#options;
    const startedAt = clock.now();
    this.#startedAt = startedAt;
    const all = canaries();
    const isTrial = this.#trialAt !== undefined;
    gate.note(PANEL, { type: 'tried', subject: WHOLE_PANEL, now: startedAt });
    const next = this.#rounds % Math.max(1, all.length);
    this.#rounds += 1;
    const problem = await this.#problemOf(isTrial ? all.slice(next, next + 1) : all, startedAt);
    this.#round = undefined;
    if (this.#isStopped || provenAt() >= startedAt) return;
    if (problem !== undefined) this.#failed(problem);
    if (problem !== undefined || this.#trialAt !== undefined) this.#follow();
  }

  /** A round failed, and no other call succeeded in the meantime. */
  #failed(problem: Problem): void {
    const { clock, gate } = this.#options;
    gate.note(PANEL, {
      type: 'failed',
      subject: WHOLE_PANEL,
      problem: problemOfBlamed('panel', problem),
      now: clock.now(),
      needed: 1,
      // A 401 to the call for one server may be that server's, so it takes a second round.
      isDecisive: CAUSES[problem.cause].scope === 'key',
    });
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
