// Limits the memory of the unfinished messages of all sockets.

/**
 * Limits the memory of the unfinished messages on one panel's sockets: each of thousands of sockets
 * may begin a long message and never end it.
 */
export class UnfinishedBytes {
  readonly #limit: number;
  #taken = 0;

  constructor(limit = MAX_UNFINISHED_BYTES) {
    this.#limit = limit;
  }

  /** The bytes that were taken and not returned. */
  get taken(): number {
    return this.#taken;
  }

  /** Takes bytes. Returns false if they would exceed the limit. */
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
 * Equal to 128 messages of the maximum length. A panel's servers rarely print lines of more than a
 * few KiB.
 */
const MAX_UNFINISHED_BYTES = 16 * 1024 * 1024;
