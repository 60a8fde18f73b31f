// Polls one server according to its plan.

import { type Cancel, NEVER } from '../domain/clock.ts';
import { toProblem } from '../panel/panel-error.ts';
import { POLL_CACHE_MS, type Resources } from '../panel/responses.ts';
import { callDeadline } from './deadline.ts';
import type { PollPlan } from './poll-plan.ts';
import {
  afterPoll,
  isPollRetry,
  NEVER_POLLED,
  type PollState,
  polledStalenessMs,
  pollResult,
} from './poll-state.ts';
import type { SessionContext, SessionRecord } from './session-ports.ts';

/** Polls one server according to its plan, with at most one request at a time. */
export class Poller {
  readonly #context: SessionContext;
  readonly #record: SessionRecord;
  readonly #owner: { changed(): void };
  #plan: PollPlan | undefined;
  #state: PollState = NEVER_POLLED;
  #cancel: Cancel | undefined;
  /** Cancels a due poll that waits for its turn of the event loop. */
  #leaveTurn: Cancel | undefined;
  #inFlight: AbortController | undefined;

  constructor(context: SessionContext, record: SessionRecord, owner: { changed(): void }) {
    this.#context = context;
    this.#record = record;
    this.#owner = owner;
  }

  get state(): PollState {
    return this.#state;
  }

  /** Follows a new plan; undefined if no request is needed. */
  follow(plan: PollPlan | undefined): void {
    const wasRetry = isPollRetry(this.#stateNow);
    this.#plan = plan;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#leaveTurn?.();
    this.#leaveTurn = undefined;
    if (plan === undefined) {
      this.#inFlight?.abort(new Error('the poll is no longer needed'));
      this.#inFlight = undefined;
      this.#state = { ...this.#state, result: NEVER_POLLED.result };
    } else if (this.#inFlight === undefined) {
      const { clock, sockets } = this.#context;
      this.#cancel = clock.schedule(plan.at - clock.now(), () => {
        // Thousands of polls may be due in one turn of the event loop, half a minute after their
        // sockets ended.
        this.#leaveTurn = sockets.inTurn(() => void this.#poll(plan));
      });
    } else if (wasRetry !== isPollRetry(this.#stateNow))
      this.#context.panel.reclassify(this.#record.target.id);
  }

  async #poll(plan: PollPlan): Promise<void> {
    const { clock, random, panel } = this.#context;
    const { target, sampledAt } = this.#record;
    const controller = new AbortController();
    const startedAt = clock.now();
    const isFirst = sampledAt === undefined && this.#state.startedAt === NEVER_POLLED.startedAt;
    // Among servers that are due together, the one with the earliest last poll goes first.
    const neededAt = Math.max(startedAt, this.#state.endedAt + plan.pollIntervalMs);
    const ask = {
      deadline: callDeadline(neededAt, isFirst, plan.pollIntervalMs),
      isRetry: () => isPollRetry(this.#stateNow),
      usefulFrom: (sampledAt ?? NEVER) + POLL_CACHE_MS,
    };
    this.#inFlight = controller;
    this.#state = { ...this.#state, startedAt };
    const answer = await panel.resources(target, ask, controller.signal).catch(toProblem);
    if (this.#inFlight !== controller) return;
    this.#inFlight = undefined;
    const now = clock.now();
    if (!('cause' in answer)) this.#store(answer, startedAt, polledStalenessMs(plan, now - startedAt));
    const next = { now, random: random(), intervalMs: plan.pollIntervalMs };
    this.#state = afterPoll(this.#stateNow, pollResult(answer), next);
    this.#owner.changed();
  }

  /** The state, without failures that no longer count. */
  get #stateNow(): PollState {
    const isOutdated = this.#plan?.isOutdated === true;
    return isOutdated ? { ...this.#state, result: NEVER_POLLED.result } : this.#state;
  }

  #store(answer: Resources, startedAt: number, stalenessMs: number): void {
    const { badFields, suspended, sample, requestedAt = startedAt } = answer;
    const { clock, telemetry } = this.#context;
    for (let bad = 0; bad < badFields; bad += 1) telemetry.badMessage?.('bad_field');
    if (suspended || sample === undefined) return;
    this.#record.setPolledStaleness(stalenessMs);
    this.#record.pollSample(sample, requestedAt, clock.now());
  }
}
