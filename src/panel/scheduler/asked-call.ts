/** A call, from its request to its end or withdrawal. */
import type { Call } from './call.ts';

export interface AskedCallOptions<T> {
  readonly call: Call;
  /** Distinguishes the call from others, including those of the same server. */
  readonly id: string;
  /** Withdraws the call when it aborts. */
  readonly signal: AbortSignal;
  readonly make: (signal: AbortSignal) => Promise<T>;
  /** Called if the call was withdrawn before it began. */
  readonly withdrawn: (asked: PendingCall) => void;
}

/** A requested call, regardless of the type of its result. */
export type PendingCall = Pick<AskedCall<unknown>, 'call' | 'id' | 'begin' | 'withdraw'>;

/**
 * One object with one listener for everything that a waiting call needs. When a panel is down, each
 * server has a waiting call, so each closure and promise would cost memory for the whole fleet.
 */
export class AskedCall<T> {
  /** Settles like the call. Rejects at once if the call is withdrawn, with the reason. */
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
   * `ended` before the result settles, with the error if the call failed.
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

  /** Ends the call, whether it is waiting or running. */
  withdraw(reason: unknown): void {
    if (this.#isOver) return;
    this.#over();
    this.#reject(reason);
    if (this.#scope === undefined) this.#options.withdrawn(this);
    else this.#scope.abort(reason);
  }

  /** Called when the signal aborted. */
  handleEvent(): void {
    this.withdraw(this.#options.signal.reason);
  }

  #over(): void {
    this.#isOver = true;
    this.#options.signal.removeEventListener('abort', this);
  }
}
