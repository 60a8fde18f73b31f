// Shares rendered bodies among several requests.

import type { Cancel, Clock } from '../domain/clock.ts';
import type { RenderedBody } from './rendered-body.ts';

/** When a rendering may be shared. */
export interface Sharing {
  /**
   * A rendering is shared with requests that arrive within this many milliseconds of its start.
   * Later requests get the next one.
   */
  readonly sharedForMs: number;
  /** Whether requests may also share it after its end. */
  readonly isKept: boolean;
}

/**
 * A scrape must show a state that changed 100 ms ago, and with 10,000 servers a rendering takes
 * longer than that. A finished rendering isn't shared, so that a scrape shows everything that
 * happened before it.
 */
export const SCRAPES: Sharing = { sharedForMs: 50, isKept: false };

/** Views for people are rendered at most once a second, regardless of the number of viewers. */
export const VIEWS: Sharing = { sharedForMs: 1_000, isKept: true };

interface SharedRender {
  /** When it began, on the monotonic clock; infinity while it waits for the previous one. */
  startedAt: number;
  readonly body: Promise<RenderedBody>;
}

/** Renders bodies on request, one at a time. Requests with the same key share a body. */
export class SharedBodies {
  readonly #clock: Pick<Clock, 'now' | 'schedule'>;
  readonly #sharing: Sharing;
  /** The latest rendering for each key, as long as it may be shared. */
  readonly #latest = new Map<string, SharedRender>();
  readonly #ends = new Set<Cancel>();
  #last: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(clock: Pick<Clock, 'now' | 'schedule'>, sharing: Sharing) {
    this.#clock = clock;
    this.#sharing = sharing;
  }

  /** The body with this key: a shared one, or the result of `render`. */
  get(key: string, render: () => Promise<RenderedBody>): Promise<RenderedBody> {
    const latest = this.#latest.get(key);
    if (latest !== undefined && this.#clock.now() - latest.startedAt <= this.#sharing.sharedForMs) {
      return latest.body;
    }
    const body = this.#last.then(() => {
      shared.startedAt = this.#clock.now();
      return render();
    });
    const shared: SharedRender = { startedAt: Infinity, body };
    this.#latest.set(key, shared);
    this.#last = body.then(
      () => this.#ended(key, shared),
      () => this.#drop(key, shared),
    );
    return body;
  }

  /** Drops all bodies, including those that are still being rendered. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#ends) cancel();
    this.#ends.clear();
    this.#latest.clear();
  }

  #ended(key: string, shared: SharedRender): void {
    const { sharedForMs, isKept } = this.#sharing;
    const leftMs = shared.startedAt + sharedForMs - this.#clock.now();
    if (!isKept || this.#isStopped || leftMs < 0) {
      this.#drop(key, shared);
      return;
    }
    const cancel = this.#clock.schedule(leftMs, () => {
      this.#ends.delete(cancel);
      this.#drop(key, shared);
    });
    this.#ends.add(cancel);
  }

  #drop(key: string, shared: SharedRender): void {
    if (this.#latest.get(key) === shared) this.#latest.delete(key);
  }
}
