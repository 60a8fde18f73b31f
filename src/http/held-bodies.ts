import type { Scrape } from '../metrics/scrape.ts';

/** Bytes that answers under way may hold: the newest expositions of the largest fleet, and hundreds of a small one. */
export const HELD_BYTES = 128 * 1_048_576;

/**
 * The bodies that answers under way still have to send; several answers may share one. When they come to more than may be
 * held, the answers that have been under way for longest are cut, so that slow readers never keep a new one from its answer.
 */
export class HeldBodies {
  readonly #maxBytes: number;
  /** In the order in which they were begun, each with what cuts its readers. */
  readonly #held = new Map<Scrape, Set<() => void>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Holds a body for one reader; gives what releases it. `cut` may be called before that. */
  hold(body: Scrape, cut: () => void): () => void {
    let readers = this.#held.get(body);
    if (readers === undefined) {
      readers = new Set();
      this.#held.set(body, readers);
      this.#bytes += body.bytes;
      this.#makeRoom(body);
    }
    readers.add(cut);
    return () => {
      readers.delete(cut);
      if (readers.size === 0) this.#drop(body);
    };
  }

  #makeRoom(newest: Scrape): void {
    for (const [body, readers] of this.#held) {
      if (this.#bytes <= this.#maxBytes) return;
      if (body === newest) continue;
      this.#drop(body);
      for (const cut of readers) cut();
    }
  }

  #drop(body: Scrape): void {
    if (this.#held.delete(body)) this.#bytes -= body.bytes;
  }
}
