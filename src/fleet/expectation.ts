import type { StopReason } from '../domain/reading.ts';

/** Within moments, a node restarts a server that exited by itself, unless it is configured otherwise. */
const RESTART_MS = 60_000;

/**
 * Whether one server should be running, judged by what happened: from when it runs until someone stops it, or until it exits
 * by itself and the node doesn't restart it.
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

  /** The node tried to restart the server after a crash: nobody wanted it to stop. */
  seenRestartFail(): void {
    this.#isExpected = true;
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

  /** Undefined while unknown. */
  read(now: number): boolean | undefined {
    return now - this.#exitedAt > RESTART_MS ? false : this.#isExpected;
  }
}
