// The history of a server, continued across a restart of the exporter.

import type { KeptServer } from '../domain/kept-server.ts';
import { ServerHistory } from './server-history.ts';

/** The history of a server. */
export class ServerPast {
  #history: ServerHistory | undefined;
  /**
   * Restores what was kept before a restart when it is first needed: restoring takes most of the
   * time, and the exporter starts faster without it.
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

  /** The history, to write in; begins it if there is none. */
  get written(): ServerHistory {
    const history = (this.#history ??= new ServerHistory());
    const restore = this.#restore;
    if (restore !== undefined) {
      this.#restore = undefined;
      restore(history);
    }
    return history;
  }

  /** The history, with the kept one; undefined before the first sample or stop. */
  get known(): ServerHistory | undefined {
    return this.#restore === undefined ? this.#history : this.written;
  }

  /** The history since the exporter started; undefined before the first sample or stop. */
  get recent(): ServerHistory | undefined {
    return this.#history;
  }

  /** The history for a reader of unwanted stops: restores it only if it has any. */
  get withStops(): ServerHistory | undefined {
    return this.#hasKeptStops ? this.known : this.#history;
  }
}
