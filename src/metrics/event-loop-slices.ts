// Shares the event loop between walks over the fleet and other work.

import { setTimeout as delay, setImmediate } from 'node:timers/promises';

/** The purpose of a walk over the fleet: a scrape, or a view for people and their programs. */
export type WalkKind = 'scrape' | 'view';

/**
 * Time between two yields to the event loop, in milliseconds. It is a time rather than a number of
 * servers because the cost of a step varies by a factor of ten between families, and between
 * machines.
 */
const SLICE_MS: Readonly<Record<WalkKind, number>> = { scrape: 5, view: 2 };

/**
 * While other work keeps the event loop busy, as when all sockets reconnect, a scrape takes up to
 * eight times as much time as that work, as long as a turn of the loop with both takes at most
 * 20 ms. It may take 10 ms in any turn, because otherwise it would get less the busier the loop is.
 * A collection of garbage may add 20 ms to a turn.
 */
const SCRAPE_SHARE = 8;
const LONGEST_TURN_MS = 20;
const LARGE_SLICE_MS = 10;

/**
 * How long a view rests before each slice while a scrape is rendered, in milliseconds: it then
 * takes a sixteenth of the time.
 */
const REST_MS = 30;

/** A walk over the fleet, in slices. */
export interface Walk {
  /** Called before each step; the step must wait for the result unless that is undefined. */
  pause(): Promise<void> | undefined;
  /** Called once, after the last step. */
  end(): void;
}

/**
 * Shares the event loop between walks over the fleet and everything else. Views give way to
 * scrapes.
 */
export class Slices {
  readonly #now: () => number;
  #scrapes = 0;

  /** `now` returns milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isScraped(): boolean {
    return this.#scrapes > 0;
  }

  begin(kind: WalkKind): Walk {
    const by = kind === 'scrape' ? 1 : 0;
    this.#scrapes += by;
    // Many short views must give way as well as a long one.
    let endsAt = this.#mustRest(kind) ? -Infinity : this.#now() + SLICE_MS[kind];
    const rest = async () => {
      const restedAt = this.#now();
      await (this.#mustRest(kind) ? delay(REST_MS) : setImmediate());
      const at = this.#now();
      const otherMs = at - restedAt;
      const fairMs = Math.min(SCRAPE_SHARE * otherMs, Math.max(LARGE_SLICE_MS, LONGEST_TURN_MS - otherMs));
      endsAt = at + (kind === 'scrape' ? Math.max(SLICE_MS.scrape, fairMs) : SLICE_MS[kind]);
    };
    return {
      pause: () => (this.#now() < endsAt ? undefined : rest()),
      end: () => {
        this.#scrapes -= by;
      },
    };
  }

  #mustRest(kind: WalkKind): boolean {
    return kind === 'view' && this.isScraped;
  }
}

/** There is one event loop, whatever is rendered. */
export const EVENT_LOOP = new Slices();

/** Is a scrape being rendered? */
export function isScraped(): boolean {
  return EVENT_LOOP.isScraped;
}

/**
 * Resolves when a response other than a scrape's may be made: after a rest if a scrape is being
 * rendered.
 */
export async function giveWay(): Promise<void> {
  const walk = EVENT_LOOP.begin('view');
  await walk.pause();
  walk.end();
}
