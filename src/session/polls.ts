import { NO_DATA } from '../diagnosis/outcome.ts';
import type { Problem } from '../domain/problems.ts';
import type { Cancel } from '../domain/time.ts';
import { problemOf } from '../panel/api.ts';
import type { Resources } from '../panel/dialect.ts';
import {
  FAILURES_TO_RETRY,
  NEVER,
  neededBy,
  type PollIntervals,
  polledStalenessMs,
  retryGapMs,
  slowRetryMs,
} from './due.ts';
import { lastingRefusal } from './failure.ts';
import type { PollContext, PollRecord } from './session-ports.ts';

/** How a poll ended; after a `refused` one, the next waits for the slow retry. */
export type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed' | 'refused'; readonly problem: Problem };

/** When a server's resources are requested next, unless a request is under way. */
export interface PollPlan extends PollIntervals {
  readonly at: number;
  /** The failures of the last polls say nothing any more. */
  readonly isOutdated: boolean;
}

/** The polls of one server; instants are monotonic milliseconds. */
export interface PollState {
  /** The result of the last poll since polling began; `none` before the first. */
  readonly result: { readonly type: 'none' } | EndedPoll;
  /** So many polls in a row had a result of this type. */
  readonly inARow: number;
  /** When the last poll started and ended. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** No polls before this instant, because of a refusal or failure. */
  readonly notBefore: number;
  /** The part of the interval until the next poll; undefined before the first response. */
  readonly part: number | undefined;
}

export const NEVER_POLLED: PollState = {
  result: { type: 'none' },
  inARow: 0,
  startedAt: NEVER,
  endedAt: NEVER,
  notBefore: NEVER,
  part: undefined,
};

/** The result of a poll that got this response, or failed. */
export function resultOf(answer: Resources | Problem): EndedPoll {
  const problem = problemIn(answer);
  if (problem === undefined) return { type: 'answered' };
  // A node that refuses the panel blocks none of its servers: its trials decide when to try again.
  return { type: lastingRefusal(problem)?.reason === undefined ? 'failed' : 'refused', problem };
}

function problemIn(answer: Resources | Problem): Problem | undefined {
  if ('cause' in answer) return answer;
  if (answer.suspended) return { cause: 'suspended', detail: 'suspended according to the panel' };
  return answer.sample === undefined ? NO_DATA : undefined;
}

/** The state after a poll; pure. `random` is uniform in [0, 1). */
export function afterPoll(
  before: PollState,
  result: EndedPoll,
  { now, random, intervalMs }: Readonly<Record<'now' | 'random' | 'intervalMs', number>>,
): PollState {
  const inARow = before.result.type === result.type ? before.inARow + 1 : 1;
  const state = { ...before, result, inARow, endedAt: now };
  switch (result.type) {
    case 'answered':
      // Servers that were polled in one burst at the start are spread from then on.
      return { ...state, notBefore: NEVER, part: before.part === undefined ? 1 + 0.5 * random : 1 };
    case 'failed': {
      // What failed often needn't be asked more often than others.
      const gapMs = Math.max(retryGapMs(inARow), inARow < FAILURES_TO_RETRY ? 0 : intervalMs);
      return { ...state, notBefore: now + gapMs };
    }
    case 'refused':
      return { ...state, notBefore: before.startedAt + slowRetryMs(inARow, random) };
  }
}

/** When the next poll is due, not before `from`; pure. A failure delays it by its gap only, and a refusal by the slow retry. */
export function nextPollAt(
  { result, startedAt, notBefore, part = 1 }: PollState,
  from: number,
  intervalMs: number,
): number {
  const intervalEnd = result.type === 'failed' ? NEVER : startedAt + intervalMs * part;
  return Math.max(from, intervalEnd, notBefore);
}

/** Were the last polls refused, or did they fail several times in a row? */
export function isPollRetry({ result, inARow }: PollState): boolean {
  return result.type === 'refused' || (result.type === 'failed' && inARow >= FAILURES_TO_RETRY);
}

/** Requests one server's resources as its plan says; never two requests at once. */
export class Poller {
  readonly #context: PollContext;
  readonly #record: PollRecord;
  readonly #owner: { changed(): void };
  #plan: PollPlan | undefined;
  #state: PollState = NEVER_POLLED;
  #cancel: Cancel | undefined;
  #inFlight: AbortController | undefined;

  constructor(context: PollContext, record: PollRecord, owner: { changed(): void }) {
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
  }

  get state(): PollState {
    return this.#state;
  }

  /** Undefined if no request is needed. */
  follow(plan: PollPlan | undefined): void {
    this.#plan = plan;
    this.#cancel?.();
    this.#cancel = undefined;
    if (plan === undefined) {
      this.#inFlight?.abort(new Error('the poll is no longer needed'));
      this.#inFlight = undefined;
      this.#state = { ...this.#state, result: NEVER_POLLED.result };
    } else if (this.#inFlight === undefined) {
      const { clock } = this.#context;
      this.#cancel = clock.schedule(plan.at - clock.now(), () => void this.#poll(plan));
    }
  }

  async #poll(plan: PollPlan): Promise<void> {
    const { clock, random, panel } = this.#context;
    const { target, sampledAt } = this.#record;
    const controller = new AbortController();
    const startedAt = clock.now();
    const isFirst = sampledAt === undefined && this.#state.startedAt === NEVER_POLLED.startedAt;
    // Of servers that are due together, the one whose last poll was earlier goes first.
    const neededAt = Math.max(startedAt, this.#state.endedAt + plan.pollIntervalMs);
    const ask = {
      deadline: neededBy(neededAt, isFirst, plan.pollIntervalMs),
      isRetry: () => isPollRetry(this.#stateNow),
    };
    this.#inFlight = controller;
    this.#state = { ...this.#state, startedAt };
    const answer = await panel.resources(target.id, ask, controller.signal).catch(problemOf);
    if (this.#inFlight !== controller) return;
    this.#inFlight = undefined;
    const now = clock.now();
    if (!('cause' in answer)) this.#store(answer, startedAt, polledStalenessMs(plan, now - startedAt));
    const next = { now, random: random(), intervalMs: plan.pollIntervalMs };
    this.#state = afterPoll(this.#stateNow, resultOf(answer), next);
    this.#owner.changed();
  }

  /** The state, without failures that say nothing any more. */
  get #stateNow(): PollState {
    const isOutdated = this.#plan?.isOutdated === true;
    return isOutdated ? { ...this.#state, result: NEVER_POLLED.result } : this.#state;
  }

  #store({ badFields, suspended, sample }: Resources, startedAt: number, stalenessMs: number): void {
    const { clock, telemetry } = this.#context;
    for (let bad = 0; bad < badFields; bad += 1) telemetry.badMessage?.('bad_field');
    if (suspended || sample === undefined) return;
    this.#record.setPolledStaleness(stalenessMs);
    this.#record.pollSample(sample, startedAt, clock.now());
  }
}
