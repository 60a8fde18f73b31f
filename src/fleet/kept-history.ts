// Carries the history of a server across a restart of the exporter.

import type { KeptServer } from '../domain/kept-server.ts';
import { ServerHistory } from './server-history.ts';

/** The history of a server, with that from before a restart. */
export class KeptHistory {
  #history: ServerHistory | undefined;
  /**
   * Restores the kept history when it is first needed. Restoring all of them at once would delay
   * the exporter's start.
   */
  #restore: ((history: ServerHistory) => void) | undefined;
  #hasKeptStops = false;

  /**
   * Continues with the history that was kept at this instant; `now` is later. Both are monotonic.
   */
  restore(server: KeptServer, at: number, now: number): void {
    if ((server.strip ?? server.unwantedStops) === undefined) return;
    this.#hasKeptStops = server.unwantedStops !== undefined;
    this.#restore = (history) => history.restore(server, at, now);
  }

  /** The history for writing, which is created if there is none. */
  get written(): ServerHistory {
    const history = (this.#history ??= new ServerHistory());
    const restore = this.#restore;
    if (restore !== undefined) {
      this.#restore = undefined;
      restore(history);
    }
    return history;
  }

  /** The complete history; undefined before the first sample or stop. */
  get known(): ServerHistory | undefined {
    return this.#restore === undefined ? this.#history : this.written;
  }

  /** The history since the exporter's start; undefined before the first sample or stop. */
  get recent(): ServerHistory | undefined {
    return this.#history;
  }

  /** The history for reading unwanted stops. The kept one is restored only if it contains any. */
  get withStops(): ServerHistory | undefined {
    return this.#hasKeptStops ? this.known : this.#history;
  }
}
