// Shares the event loop between walks over the fleet and other work.

import { setImmediate } from 'node:timers/promises';

/** The purpose of a walk over the fleet: a scrape, or a view for people and their programs. */
export type WalkKind = 'scrape' | 'view';

/**
 * Time between two yields to the event loop, in milliseconds. A fixed number of servers would not
 * do, because the cost of a step differs by a factor of ten between families and machines.
 */
const SLICE_MS: Readonly<Record<WalkKind, number>> = { scrape: 5, view: 2 };

/**
 * While other work keeps the event loop busy, such as when all sockets reconnect, a scrape takes up
 * to eight times as much time as that work, as long as one turn of the loop takes at most 20 ms in
 * total. The scrape always gets 10 ms per turn; otherwise it would get less the busier the loop is.
 * A garbage collection may add 20 ms to a turn.
 */
const SCRAPE_SHARE = 8;
const LONGEST_TURN_MS = 20;
const LARGE_SLICE_MS = 10;

/**
 * A view takes up to a sixteenth of the time for which it rested, in slices of at most 10 ms, so
 * that continuous scrapes don't block it.
 */
const VIEW_SHARE = 1 / 16;
const LONGEST_VIEW_SLICE_MS = 10;

/**
 * How long views rest at most while a scrape is rendered: longer than the scrape of a large fleet.
 */
const LONGEST_REST_MS = 500;

/** A walk over the fleet, in slices. */
export interface Walk {
  /** Called before each step, which must wait for the result unless that is undefined. */
  pause(): Promise<void> | undefined;
  /** Called once, after the last step. */
  end(): void;
}

/**
 * Shares the event loop between walks over the fleet and all other work. Views give way to scrapes.
 */
export class Slices {
  readonly #now: () => number;
  /** The functions that end the rests of views. */
  readonly #rests = new Set<() => void>();
  #scrapes = 0;

  /** `now` returns the time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isScraped(): boolean {
    return this.#scrapes > 0;
  }

  /** Begins a walk. Each rest of a view for scrapes lasts `longestRestMs` at most. */
  begin(kind: WalkKind, longestRestMs = LONGEST_REST_MS): Walk {
    const by = kind === 'scrape' ? 1 : 0;
    this.#scrapes += by;
    // Many short views must give way just like a long one.
    let endsAt = this.#mustRest(kind) ? -Infinity : this.#now() + SLICE_MS[kind];
    let lastMs = Infinity;
    const rest = async () => {
      const restedAt = this.#now();
      if (this.#mustRest(kind)) await this.#scrapesEnd(longestRestMs);
      // Also at the end of a scrape, whose response is sent first.
      await setImmediate();
      const at = this.#now();
      const otherMs = at - restedAt;
      endsAt = at + nextSliceMs(kind, otherMs, Math.min(lastMs, otherMs));
      lastMs = otherMs;
    };
    return {
      pause: () => (this.#now() < endsAt ? undefined : rest()),
      end: () => {
        this.#scrapes -= by;
        if (!this.isScraped) for (const endRest of this.#rests) endRest();
      },
    };
  }

  /** Resolves when no scrape is rendered any more, or after this time. */
  #scrapesEnd(longestMs: number): Promise<void> {
    return new Promise((resolve) => {
      const endRest = () => {
        clearTimeout(timer);
        this.#rests.delete(endRest);
        resolve();
      };
      const timer = setTimeout(endRest, longestMs);
      this.#rests.add(endRest);
    });
  }

  #mustRest(kind: WalkKind): boolean {
    return kind === 'view' && this.isScraped;
  }
}

/**
 * How long the slice of a walk is after other work, or a rest, of this many milliseconds. A scrape
 * competes only with `steadyMs`, which other work took in each of the last two turns: a single long
 * turn may be the collection of its own garbage.
 */
function nextSliceMs(kind: WalkKind, otherMs: number, steadyMs: number): number {
  const fairMs =
    kind === 'scrape'
      ? Math.min(SCRAPE_SHARE * steadyMs, Math.max(LARGE_SLICE_MS, LONGEST_TURN_MS - otherMs))
      : Math.min(VIEW_SHARE * otherMs, LONGEST_VIEW_SLICE_MS);
  return Math.max(SLICE_MS[kind], fairMs);
}

/** The process has one event loop. */
export const EVENT_LOOP = new Slices();

/** Is a scrape being rendered? */
export function isScraped(): boolean {
  return EVENT_LOOP.isScraped;
}

/**
 * Resolves when a response to another request, or its next part, may be made: when no scrape is
 * rendered any more, or after `longestMs`. Returns undefined if no scrape is being rendered.
 */
export function giveWay(longestMs = LONGEST_REST_MS): Promise<void> | undefined {
  const walk = EVENT_LOOP.begin('view', longestMs);
  const rest = walk.pause();
  walk.end();
  return rest;
}
