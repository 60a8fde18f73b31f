// Limits what the unfinished messages of all sockets may occupy.

/**
 * Bounds the memory that the unfinished messages of one panel's sockets occupy together: each of
 * thousands of sockets may begin a long message and never end it.
 */
export class UnfinishedBytes {
  readonly #limit: number;
  #taken = 0;

  constructor(limit = MAX_UNFINISHED_BYTES) {
    this.#limit = limit;
  }

  /** The bytes taken and not given back. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes bytes; false if they would exceed the limit. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#limit) return false;
    this.#taken += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
  }
}

/**
 * As much as 128 of the longest messages that are kept; a panel's servers rarely print lines of
 * more than a few KiB.
 */
const MAX_UNFINISHED_BYTES = 16 * 1024 * 1024;
