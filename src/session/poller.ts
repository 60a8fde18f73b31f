import type { Cancel, Clock } from '../domain/clock.ts';
import { slowRetryMs } from './backoff.ts';

/** When a server's resources are to be asked for: not at all, or from an instant on at an interval. */
export type PollPolicy =
  | { readonly type: 'off' }
  /** `from` is a monotonic instant. */
  | { readonly type: 'on'; readonly from: number; readonly intervalMs: number };

/** How one poll ended; after a `refused` one the next waits for the slow retry. */
export type PollOutcome = 'answered' | 'failed' | 'refused';

/** One poll, with the instant at which it was asked; resolves with its outcome, or rejects when aborted. */
export type Poll = (signal: AbortSignal) => Promise<PollOutcome>;

/** Asks for one server's resources again and again while its policy says so; never two at once. */
export class Poller {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #poll: Poll;
  #policy: PollPolicy = { type: 'off' };
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Until then a refusal rests. */
  #notBefore = Number.NEGATIVE_INFINITY;
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

  /** Takes on a policy; the same again changes nothing. */
  follow(policy: PollPolicy): void {
    this.#policy = policy;
    if (policy.type === 'off') {
      this.#unschedule();
      this.#inFlight?.abort(new Error('the poll is no longer wanted'));
      this.#inFlight = undefined;
      return;
    }
    if (this.#inFlight === undefined) this.#schedule();
  }

  /** Whatever refused the last poll may be over: the next need not wait. */
  wake(): void {
    this.#startedAt = Number.NEGATIVE_INFINITY;
    this.#notBefore = Number.NEGATIVE_INFINITY;
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
    if (outcome === 'refused') this.#notBefore = this.#startedAt + slowRetryMs(this.#random());
    this.#schedule();
  }
}
