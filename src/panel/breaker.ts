import type { Clock } from '../domain/clock.ts';
import { PanelError, panelTrouble } from './errors.ts';

/** What ails the panel as a whole: it refuses the key, or it can't be reached. */
export type Trouble = 'refused' | 'unreachable';

/**
 * What the end of a call says of the panel: `answered` is a refusal of its own that speaks of one server (so it
 * was reached and took the key), `throttled` is a 429 (it was reached), `reached` is any other answer that no proxy gives for a
 * panel which is down, `unclear` says nothing either way.
 */
export type Outcome = 'success' | 'answered' | 'throttled' | 'reached' | Trouble | 'unclear';

/** Closed lets every call out, open none, and probing has one out to see how things stand. */
export type BreakerState =
  | { readonly kind: 'closed'; readonly refusedBy: readonly string[]; readonly failedBy: readonly string[] }
  | { readonly kind: 'open'; readonly trouble: Trouble; readonly probeAt: number }
  | { readonly kind: 'probing'; readonly trouble: Trouble; readonly probeAt: number };

export type BreakerEvent =
  | { readonly type: 'started'; readonly now: number }
  | {
      readonly type: 'ended';
      readonly now: number;
      readonly outcome: Outcome;
      /** Whom the call was about: trouble must be met by several before it is the panel's. */
      readonly subject: string;
      readonly isProbe: boolean;
      readonly fleetSize: number;
    };

type Closed = Extract<BreakerState, { kind: 'closed' }>;
type Ended = Extract<BreakerEvent, { type: 'ended' }>;

/** How often one call goes out to a panel in trouble. */
export const PROBE_INTERVAL_MS = 60_000;

/** A panel is in trouble once this many servers met it, or all of them where there are fewer. */
const SUBJECTS_TO_OPEN = 3;

export const CLOSED: Closed = { kind: 'closed', refusedBy: [], failedBy: [] };

/** The breaker's next state. */
export function stepBreaker(state: BreakerState, event: BreakerEvent): BreakerState {
  if (event.type === 'started') {
    if (state.kind !== 'open' || event.now < state.probeAt) return state;
    return { kind: 'probing', trouble: state.trouble, probeAt: event.now + PROBE_INTERVAL_MS };
  }
  const { outcome } = event;
  if (outcome === 'success' || outcome === 'answered') return CLOSED;
  if (state.kind === 'closed') return count(state, event);
  // A panel that was out of reach has answered, whatever it said. Was it a refusal, then that is counted anew.
  const wasReached = outcome === 'throttled' || outcome === 'reached' || outcome === 'refused';
  if (state.trouble === 'unreachable' && wasReached) {
    return count(CLOSED, event);
  }
  return event.isProbe ? { kind: 'open', trouble: state.trouble, probeAt: state.probeAt } : state;
}

function count(state: Closed, { outcome, subject, fleetSize, now }: Ended): BreakerState {
  const needed = Math.max(1, Math.min(SUBJECTS_TO_OPEN, fleetSize));
  const open = (trouble: Trouble) => ({ kind: 'open', trouble, probeAt: now + PROBE_INTERVAL_MS }) as const;
  if (outcome === 'throttled' || outcome === 'reached') return { ...state, failedBy: [] };
  if (outcome === 'refused') {
    const refusedBy = including(state.refusedBy, subject);
    return refusedBy.length >= needed ? open('refused') : { kind: 'closed', refusedBy, failedBy: [] };
  }
  if (outcome === 'unreachable') {
    const failedBy = including(state.failedBy, subject);
    return failedBy.length >= needed ? open('unreachable') : { ...state, failedBy };
  }
  return state;
}

const including = (subjects: readonly string[], subject: string) =>
  subjects.includes(subject) ? subjects : [...subjects, subject];

/** Kinds of answer that only a panel which took the key gives; what a proxy says in its place tells nothing. */
const TELLING = new Set([
  'forbidden',
  'not_found',
  'conflict',
  'node_unreachable',
  'server_error',
  'bad_request',
]);

/** What the error of a call says of the panel as a whole. */
export function outcomeOf(error: unknown): Outcome {
  const trouble = panelTrouble(error);
  if (trouble !== undefined) return trouble;
  if (!(error instanceof PanelError)) return 'unclear';
  if (!error.fromPanel) return error.status === undefined ? 'unclear' : 'reached';
  if (error.kind === 'rate_limited') return 'throttled';
  return TELLING.has(error.kind) ? 'answered' : 'reached';
}

/** Holds calls back from a panel that refuses the key or can't be reached. */
export class Breaker {
  readonly #clock: Clock;
  #state: BreakerState = CLOSED;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What ails the panel; undefined while calls go out. */
  get trouble(): Trouble | undefined {
    return this.#state.kind === 'closed' ? undefined : this.#state.trouble;
  }

  /** Milliseconds until a call may go out: 0 now, infinite while a probe is out. */
  waitMs(): number {
    if (this.#state.kind === 'closed') return 0;
    return this.#state.kind === 'probing'
      ? Number.POSITIVE_INFINITY
      : Math.max(0, this.#state.probeAt - this.#clock.now());
  }

  /** A call goes out now; tells whether it is a probe, which `ended` wants to know. */
  started(): boolean {
    const before = this.#state;
    this.#state = stepBreaker(before, { type: 'started', now: this.#clock.now() });
    return this.#state !== before;
  }

  ended(call: Pick<Ended, 'outcome' | 'subject' | 'isProbe' | 'fleetSize'>): void {
    this.#state = stepBreaker(this.#state, { ...call, type: 'ended', now: this.#clock.now() });
  }
}
