import { CAUSES } from '../diagnosis/causes.ts';
import { type CallEnd, type Evidence, judge, NO_EVIDENCE, weigh } from '../diagnosis/scope.ts';
import type { Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';

/** `closed` lets every call through, `open` none, and `probing` has one in progress to check the panel. */
export type BreakerState =
  | { readonly kind: 'closed'; readonly evidence: Evidence }
  | { readonly kind: 'open'; readonly problem: Problem; readonly probeAt: number }
  | { readonly kind: 'probing'; readonly problem: Problem; readonly probeAt: number };

export type BreakerEvent =
  | { readonly type: 'probeStarted'; readonly now: number }
  | { readonly type: 'ended'; readonly now: number; readonly end: CallEnd };

/** How often a panel in trouble is probed. */
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
  // A call that was in progress when the breaker opened may still succeed; anything else is left to the probe.
  if (weight === 'proof') return CLOSED;
  if (!end.isVerification) return state;
  const next = judge(NO_EVIDENCE, end);
  // An answer that may precede the key check doesn't clear the key, but it shows that the panel is up.
  const isOfKey = CAUSES[state.problem.cause].scope === 'key';
  if (next.type !== 'down' && weight === 'reached' && !isOfKey) return CLOSED;
  return {
    kind: 'open',
    problem: next.type === 'down' ? next.problem : state.problem,
    probeAt: state.probeAt,
  };
}

/** Holds back calls while the panel can't serve any server. */
export class Breaker {
  readonly #clock: Clock;
  #state: BreakerState = CLOSED;
  #isProbeDue = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Why calls are held back; undefined while they are let through. */
  get problem(): Problem | undefined {
    return this.#state.kind === 'closed' ? undefined : this.#state.problem;
  }

  /** Do the calls so far leave it open whether the panel itself is in trouble? */
  get isDoubtful(): boolean {
    return this.#state.kind === 'closed' && this.#state.evidence.isDoubtful;
  }

  /** Milliseconds until the next probe; undefined while calls are let through or a probe is in progress. */
  get probeInMs(): number | undefined {
    return this.#state.kind === 'open' ? Math.max(0, this.#state.probeAt - this.#clock.now()) : undefined;
  }

  /** Milliseconds until a call may start: 0 if it may now, else infinite. */
  waitMs(): number {
    return this.#state.kind === 'closed' || this.#isProbeDue ? 0 : Number.POSITIVE_INFINITY;
  }

  /** Lets one call through, which has to be the probe. */
  admitProbe(): void {
    this.#isProbeDue = true;
  }

  /** The probe has started. */
  probeStarted(): void {
    this.#isProbeDue = false;
    this.#state = stepBreaker(this.#state, { type: 'probeStarted', now: this.#clock.now() });
  }

  ended(end: CallEnd): void {
    const before = this.#state.kind;
    this.#state = stepBreaker(this.#state, { type: 'ended', now: this.#clock.now(), end });
    // A waiting probe may now start along with the other calls, or has to wait like them.
    if (this.#state.kind !== before) this.#isProbeDue = false;
  }

  /** Forgets everything held against the panel, because the API key changed. */
  reset(): void {
    this.#isProbeDue = false;
    this.#state = CLOSED;
  }
}
