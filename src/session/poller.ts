import { blockedReason } from '../diagnosis/panel-answer.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import type { BlockedReason, CollectionMode } from '../domain/server.ts';
import type { Resources } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import { pollBackoffMs, slowRetryMs } from './backoff.ts';
import type { MachineState } from './machine-model.ts';
import type { Role, Standing } from './session-ports.ts';

/** A server whose socket fails is polled once its data is this old. */
export const FALLBACK_AFTER_MS = 30_000;

/** When a server's resources are requested: never, or from an instant on at an interval. */
export type PollPolicy =
  | { readonly type: 'off' }
  /** `from` is in monotonic milliseconds. */
  | { readonly type: 'on'; readonly from: number; readonly intervalMs: number };

const OFF: PollPolicy = { type: 'off' };

/** What the decision to poll depends on; instants are monotonic milliseconds. */
export interface PollSituation {
  readonly role: Role;
  readonly mode: CollectionMode;
  readonly machine: MachineState;
  readonly sampledAt: number | undefined;
  /** Since when the session has wanted a socket. */
  readonly waitingSince: number;
}

/** Should the server be polled, and from when? Pure. */
export function pollPolicy(situation: PollSituation): PollPolicy {
  const { role, machine, mode } = situation;
  if (role.type !== 'poll' && role.type !== 'stream') return OFF;
  const intervalMs = role.pollIntervalMs;
  if (role.type === 'poll') return { type: 'on', from: role.firstPollAt, intervalMs };
  if (mode !== 'auto') return OFF;
  switch (machine.name) {
    case 'idle':
    case 'streaming':
    case 'refreshing':
      return OFF;
    case 'blocked':
    case 'fetchingToken':
    case 'connecting':
    case 'authenticating':
    case 'backingOff':
      if (machine.refused !== undefined) {
        return machine.refused.pollable ? { type: 'on', from: Number.NEGATIVE_INFINITY, intervalMs } : OFF;
      }
      // A server that is only waiting for its turn to connect has not failed: a poll would take another server's turn.
      if (machine.failures === 0) return OFF;
      return {
        type: 'on',
        from: (situation.sampledAt ?? situation.waitingSince) + FALLBACK_AFTER_MS,
        intervalMs,
      };
  }
}

/** How one poll ended; after a `refused` one, the next waits for the slow retry. */
type EndedPoll =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'refused'; readonly reason: BlockedReason; readonly problem: Problem };

/** The result of the last poll since polling began; `none` before the first. */
export type PollResult = { readonly type: 'none' } | EndedPoll;

export type PollOutcome = EndedPoll['type'];

/**
 * The result of a poll that the panel answered: a suspended server counts as refused, and without data the node is unreachable.
 */
export function answeredResult({ suspended, sample }: Resources): EndedPoll {
  if (suspended) return failedWith({ cause: 'suspended', detail: 'suspended according to the panel' });
  if (sample !== undefined) return { type: 'answered' };
  return failedWith({ cause: 'node_unreachable', detail: "the panel has no data: it can't reach the node" });
}

/** The result of a poll that failed. */
export function failedResult(error: unknown): EndedPoll {
  return failedWith(problemOf(error));
}

function failedWith(problem: Problem): EndedPoll {
  const reason = blockedReason(problem.cause);
  return reason === undefined ? { type: 'failed', problem } : { type: 'refused', reason, problem };
}

/** A single failure may be temporary; after two in a row, a server no longer counts as observed as planned. */
const FAILURES_THAT_COUNT = 2;

/** The server's standing in its fleet's plan, judged by its last poll; pure. */
export function standingOf(
  { role, machine }: Pick<PollSituation, 'role' | 'machine'>,
  policy: PollPolicy,
  poll: PollResult,
): Standing {
  if (role.type !== 'stream' && role.type !== 'turn') return 'planned';
  if (machine.name === 'idle' || machine.name === 'streaming' || machine.name === 'refreshing')
    return 'planned';
  if (machine.isPromising) return 'planned';
  if (machine.refused === undefined && machine.failures < FAILURES_THAT_COUNT) return 'planned';
  const isPolled = policy.type === 'on' && (poll.type === 'none' || poll.type === 'answered');
  return isPolled ? 'fallback' : 'lost';
}

/** Makes one poll; resolves with its outcome and never rejects. */
export type Poll = (signal: AbortSignal) => Promise<PollOutcome>;

/** Requests one server's resources repeatedly while its policy says so; never two requests at once. */
export class Poller {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #poll: Poll;
  #policy: PollPolicy = OFF;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** No polls before this instant, because of a refusal or failure. */
  #notBefore = Number.NEGATIVE_INFINITY;
  /** Consecutive failed polls. */
  #failures = 0;
  #cancel: Cancel | undefined;
  #inFlight: AbortController | undefined;

  constructor(clock: Clock, random: () => number, poll: Poll) {
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
    if (this.#inFlight === undefined) this.#schedule();
  }

  #schedule(): void {
    this.#unschedule();
    const policy = this.#policy;
    if (policy.type === 'off') return;
    const at = Math.max(policy.from, this.#startedAt + policy.intervalMs, this.#notBefore);
    this.#cancel = this.#clock.schedule(at - this.#clock.now(), () => void this.#run());
  }

  #unschedule(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #run(): Promise<void> {
    const controller = new AbortController();
    this.#inFlight = controller;
    this.#startedAt = this.#clock.now();
    const outcome = await this.#poll(controller.signal).catch(() => 'failed' as const);
    if (this.#inFlight !== controller) return;
    this.#inFlight = undefined;
    this.#failures = outcome === 'failed' ? this.#failures + 1 : 0;
    if (outcome === 'refused') this.#notBefore = this.#startedAt + slowRetryMs(this.#random());
    if (outcome === 'failed')
      this.#notBefore = this.#clock.now() + pollBackoffMs(this.#failures, this.#random());
    this.#schedule();
  }
}
