import type { StopReason } from '../domain/reading.ts';

/** A node restarts what exited by itself within moments, unless its configuration says otherwise. */
const RESTART_MS = 60_000;

/**
 * Whether one server should run, going by what was seen of it: from the moment it runs until somebody stops it, or until it exits by
 * itself and the node leaves it so.
 */
export class Expectation {
  #isExpected: boolean | undefined;
  #exitedAt = Number.NaN;

  seenRunning(): void {
    this.#isExpected = true;
    this.#exitedAt = Number.NaN;
  }

  seenStarting(): void {
    this.#exitedAt = Number.NaN;
  }

  stopped(reason: StopReason, at: number): void {
    switch (reason) {
      case 'requested':
        this.#isExpected = false;
        break;
      case 'exited':
        this.#exitedAt = at;
        break;
      case 'unknown':
        this.#isExpected = undefined;
        break;
      case 'crashed':
      case 'out_of_memory':
      case 'disk_full':
        break;
    }
  }

  /** Undefined while it isn't known. */
  read(now: number): boolean | undefined {
    return now - this.#exitedAt > RESTART_MS ? false : this.#isExpected;
  }
}
