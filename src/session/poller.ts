import { CAUSES } from '../diagnosis/causes.ts';
import { NO_DATA } from '../diagnosis/outcome.ts';
import { blockedReason } from '../diagnosis/panel-answer.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import type { BlockedReason } from '../domain/server.ts';
import type { Resources } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import { type PollPolicy, refusedRetryMs, retryGapMs, slowRetryMs } from './due.ts';

/** How one poll ended; after a `refused` one, the next waits for the slow retry. */
type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'refused'; readonly reason: BlockedReason; readonly problem: Problem };

/** The result of the last poll since polling began; `none` before the first. */
export type PollResult = { readonly type: 'none' } | EndedPoll;

export type PollOutcome = EndedPoll['type'];

/**
 * The result of a poll that the panel responded to: a suspended server counts as refused, and without data the node is unreachable.
 */
export function resultOfAnswer({ suspended, sample }: Resources): EndedPoll {
  if (suspended) return failedWith({ cause: 'suspended', detail: 'suspended according to the panel' });
  if (sample !== undefined) return { type: 'answered' };
  return failedWith(NO_DATA);
}

/** The result of a poll that failed. */
export function resultOfError(error: unknown): EndedPoll {
  return failedWith(problemOf(error));
}

function failedWith(problem: Problem): EndedPoll {
  // A node that refuses the panel blocks none of its servers: the node's circuit decides when to try again.
  const reason = CAUSES[problem.cause].scope === 'node' ? undefined : blockedReason(problem.cause);
  return reason === undefined ? { type: 'failed', problem } : { type: 'refused', reason, problem };
}

/** One poll that is due. */
export interface PollAttempt {
  /** In monotonic milliseconds. */
  readonly dueAt: number;
  /** The server's last polls were refused or failed several times in a row. */
  readonly isRetry: () => boolean;
  readonly signal: AbortSignal;
}

/** Makes one poll; resolves with its outcome and never rejects. */
export type Poll = (attempt: PollAttempt) => Promise<PollOutcome>;

/** After this many failed polls in a row, the next one probably fails as well, and needn't come before the interval is over. */
const FAILURES_TO_RETRY = 3;

/** Requests one server's resources repeatedly while its policy requires it; never two requests at once. */
export class Poller {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #poll: Poll;
  readonly #isListed: () => boolean;
  #policy: PollPolicy = { type: 'off' };
  #startedAt = Number.NEGATIVE_INFINITY;
  /** No polls before this instant, because of a refusal or failure. */
  #notBefore = Number.NEGATIVE_INFINITY;
  /** Consecutive failed polls. */
  #failures = 0;
  /** Consecutive refusals. */
  #refusals = 0;
  /** The part of the interval until the next poll: servers that were polled in one burst at the start are spread from then on. */
  #part: number | undefined;
  #cancel: Cancel | undefined;
  #inFlight: AbortController | undefined;

  /** `isListed`: the panel's list shows nothing that keeps the server from being monitored. */
  constructor(clock: Clock, random: () => number, poll: Poll, isListed: () => boolean = () => false) {
    this.#isListed = isListed;
    this.#clock = clock;
    this.#random = random;
    this.#poll = poll;
  }

  get active(): boolean {
    return this.#policy.type === 'on';
  }

  /** Applies a policy; the same policy again changes nothing. */
  follow(policy: PollPolicy): void {
    this.#policy = policy;
    if (policy.type === 'off') {
      this.#unschedule();
      this.#inFlight?.abort(new Error('the poll is no longer needed'));
      this.#inFlight = undefined;
      return;
    }
    if (this.#inFlight === undefined) this.#schedule();
  }

  /** Polls now, without waiting for the next interval or slow retry. */
  wake(): void {
    this.#startedAt = Number.NEGATIVE_INFINITY;
    this.#notBefore = Number.NEGATIVE_INFINITY;
    this.#failures = 0;
    this.#refusals = 0;
    if (this.#inFlight === undefined) this.#schedule();
  }

  #schedule(): void {
    this.#unschedule();
    const policy = this.#policy;
    if (policy.type === 'off') return;
    const intervalMs = this.#failures > 0 ? 0 : policy.intervalMs * (this.#part ?? 1);
    const at = Math.max(policy.from, this.#startedAt + intervalMs, this.#notBefore);
    this.#cancel = this.#clock.schedule(at - this.#clock.now(), () => void this.#run());
  }

  /** How long a refusal lasts at least. */
  get #refusedMs(): number {
    return this.#isListed() ? refusedRetryMs(this.#random()) : slowRetryMs(this.#refusals, this.#random());
  }

  /** How long to wait after a failure: what failed often needn't be asked more often than others. */
  get #failedMs(): number {
    const intervalMs = this.#policy.type === 'on' ? this.#policy.intervalMs : 0;
    return Math.max(retryGapMs(this.#failures), this.#failures < FAILURES_TO_RETRY ? 0 : intervalMs);
  }

  #unschedule(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #run(): Promise<void> {
    const controller = new AbortController();
    this.#inFlight = controller;
    this.#startedAt = this.#clock.now();
    const isRetry = () => this.#refusals > 0 || this.#failures >= FAILURES_TO_RETRY;
    const attempt = { dueAt: this.#startedAt, isRetry, signal: controller.signal };
    const outcome = await this.#poll(attempt).catch(() => 'failed' as const);
    if (this.#inFlight !== controller) return;
    this.#inFlight = undefined;
    this.#failures = outcome === 'failed' ? this.#failures + 1 : 0;
    this.#refusals = outcome === 'refused' ? this.#refusals + 1 : 0;
    if (outcome === 'refused') this.#notBefore = this.#startedAt + this.#refusedMs;
    if (outcome === 'failed') this.#notBefore = this.#clock.now() + this.#failedMs;
    if (outcome === 'answered') this.#part = this.#part === undefined ? 1 + 0.5 * this.#random() : 1;
    this.#schedule();
  }
}
