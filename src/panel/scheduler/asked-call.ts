/** A call from when it is asked for until it has ended, or is withdrawn. */
import type { Call } from './call.ts';

export interface AskedCallOptions<T> {
  readonly call: Call;
  /** Tells the call from others, also of the same server. */
  readonly id: string;
  /** Withdraws the call when it aborts. */
  readonly signal: AbortSignal;
  readonly make: (signal: AbortSignal) => Promise<T>;
  /** The call was withdrawn before it began. */
  readonly withdrawn: (asked: PendingCall) => void;
}

/** A call that was asked for, whatever its result is. */
export type PendingCall = Pick<AskedCall<unknown>, 'call' | 'id' | 'begin' | 'withdraw'>;

/**
 * One object, with one listener, for all that a call needs while it waits: when a panel is gone, a
 * call of each server waits, so each closure and each promise costs memory for the whole fleet.
 */
export class AskedCall<T> {
  /** Settles as the call does; rejects at once with the reason for which it is withdrawn. */
  readonly result: Promise<T>;
  readonly #options: AskedCallOptions<T>;
  #resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;
  /** Undefined until the call begins. */
  #scope: AbortController | undefined;
  #isOver = false;

  constructor(options: AskedCallOptions<T>) {
    this.#options = options;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    options.signal.addEventListener('abort', this);
  }

  get call(): Call {
    return this.#options.call;
  }

  get id(): string {
    return this.#options.id;
  }

  /**
   * Makes the call, unless it was withdrawn while it waited for its turn of the event loop. Calls
   * `ended`, with its error if it failed, before the result settles.
   */
  async begin(ended: (error?: unknown) => void): Promise<void> {
    if (this.#isOver) return ended();
    this.#scope = new AbortController();
    try {
      const value = await this.#options.make(this.#scope.signal);
      this.#over();
      ended();
      this.#resolve(value);
    } catch (error) {
      this.#over();
      ended(error);
      this.#reject(error);
    }
  }

  /** Ends the call, whether it waits or runs. */
  withdraw(reason: unknown): void {
    if (this.#isOver) return;
    this.#over();
    this.#reject(reason);
    if (this.#scope === undefined) this.#options.withdrawn(this);
    else this.#scope.abort(reason);
  }

  /** The signal aborted. */
  handleEvent(): void {
    this.withdraw(this.#options.signal.reason);
  }

  #over(): void {
    this.#isOver = true;
    this.#options.signal.removeEventListener('abort', this);
  }
}
