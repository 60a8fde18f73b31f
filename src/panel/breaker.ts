import { CAUSES } from '../diagnosis/causes.ts';
import { type CallEnd, type Evidence, judge, NO_EVIDENCE, weigh } from '../diagnosis/scope.ts';
import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';

/** Closed lets every call out, open none, and probing has one out to see how things stand. */
export type BreakerState =
  | { readonly kind: 'closed'; readonly evidence: Evidence }
  | { readonly kind: 'open'; readonly problem: Problem; readonly probeAt: number }
  | { readonly kind: 'probing'; readonly problem: Problem; readonly probeAt: number };

export type BreakerEvent =
  | { readonly type: 'probeStarted'; readonly now: number }
  | { readonly type: 'ended'; readonly now: number; readonly end: CallEnd };

/** How often one call goes out to a panel in trouble. */
export const PROBE_INTERVAL_MS = 60_000;

export const CLOSED: BreakerState = { kind: 'closed', evidence: NO_EVIDENCE };

/** The breaker's next state; pure. */
export function stepBreaker(state: BreakerState, event: BreakerEvent): BreakerState {
  if (event.type === 'probeStarted') {
    if (state.kind !== 'open') return state;
    return { kind: 'probing', problem: state.problem, probeAt: event.now + PROBE_INTERVAL_MS };
  }
  const { end, now } = event;
  if (state.kind === 'closed') {
    const judgment = judge(state.evidence, end);
    return judgment.type === 'down'
      ? { kind: 'open', problem: judgment.problem, probeAt: now + PROBE_INTERVAL_MS }
      : { kind: 'closed', evidence: judgment.evidence };
  }
  const weight = weigh(end.endpoint, end.problem?.cause);
  // A call that was out when the breaker opened may still bring good news; anything else is judged by the probe.
  if (weight === 'proof') return CLOSED;
  if (!end.isVerification) return state;
  const next = judge(NO_EVIDENCE, end);
  // An answer that may come before the key is looked at doesn't clear a key, but it does show that the panel is there.
  const isOfKey = CAUSES[state.problem.cause].scope === 'key';
  if (next.type !== 'down' && weight === 'reached' && !isOfKey) return CLOSED;
  return {
    kind: 'open',
    problem: next.type === 'down' ? next.problem : state.problem,
    probeAt: state.probeAt,
  };
}

/** Holds calls back from a panel that is of no use to any server. */
export class Breaker {
  readonly #clock: Clock;
  #state: BreakerState = CLOSED;
  #isProbeDue = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why calls are held back; undefined while they go out. */
  get problem(): Problem | undefined {
    return this.#state.kind === 'closed' ? undefined : this.#state.problem;
  }

  /** Do the calls so far leave open whether the trouble is the panel's? */
  get isDoubtful(): boolean {
    return this.#state.kind === 'closed' && this.#state.evidence.isDoubtful;
  }

  /** Milliseconds until the next probe; undefined while calls go out or a probe is out. */
  get probeInMs(): number | undefined {
    return this.#state.kind === 'open' ? Math.max(0, this.#state.probeAt - this.#clock.now()) : undefined;
  }

  /** Milliseconds until a call may go out: 0 now, infinite unless that is a probe. */
  waitMs(): number {
    return this.#state.kind === 'closed' || this.#isProbeDue ? 0 : Number.POSITIVE_INFINITY;
  }

  /** Lets one call out, which has to be the probe. */
  admitProbe(): void {
    this.#isProbeDue = true;
  }

  /** The probe goes out now. */
  probeStarted(): void {
    this.#isProbeDue = false;
    this.#state = stepBreaker(this.#state, { type: 'probeStarted', now: this.#clock.now() });
  }

  ended(end: CallEnd): void {
    const before = this.#state.kind;
    this.#state = stepBreaker(this.#state, { type: 'ended', now: this.#clock.now(), end });
    // The probe that waits may go out with the others, or has to wait like them.
    if (this.#state.kind !== before) this.#isProbeDue = false;
  }

  /** What was held against the panel no longer applies: there is another key. */
  reset(): void {
    this.#isProbeDue = false;
    this.#state = CLOSED;
  }
}
