import type { Cancel, Clock } from './clock.ts';

/** Resolves with the milliseconds until the next run; the signal aborts when the run is no longer needed. */
export type Run = (signal: AbortSignal) => Promise<number>;

/** Runs something again and again, one run after another, until it is stopped. */
export class Repeat {
  readonly #clock: Clock;
  #current: { readonly run: Run; readonly scope: AbortController } | undefined;
  /** When the next run begins; undefined while none is scheduled. */
  #nextAt: number | undefined;
  #cancel: Cancel = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isRunning(): boolean {
    return this.#current !== undefined;
  }

  /** Runs this from now on, at first after a delay, instead of what ran before. */
  start(run: Run, delayMs = 0): void {
    this.stop();
    this.#current = { run, scope: new AbortController() };
    if (delayMs === 0) void this.#runOnce();
    else this.#schedule(delayMs);
  }

  /** Begins the next run after this delay, if it would begin later. */
  hasten(delayMs: number): void {
    if (this.#nextAt !== undefined && this.#clock.now() + delayMs < this.#nextAt) this.#schedule(delayMs);
  }

  stop(): void {
    this.#cancel();
    this.#nextAt = undefined;
    this.#current?.scope.abort(new Error('this is no longer needed'));
    this.#current = undefined;
  }

  #schedule(delayMs: number): void {
    this.#cancel();
    this.#nextAt = this.#clock.now() + delayMs;
    this.#cancel = this.#clock.schedule(Math.max(0, delayMs), () => void this.#runOnce());
  }

  async #runOnce(): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    this.#nextAt = undefined;
    const delayMs = await current.run(current.scope.signal);
    if (this.#current === current) this.#schedule(delayMs);
  }
}
