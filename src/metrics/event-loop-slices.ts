// Shares the event loop between walks over the fleet and other work.

import { setTimeout as delay, setImmediate } from 'node:timers/promises';

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
 * How long a view rests before each slice during a scrape, in milliseconds. It then takes a
 * sixteenth of the time.
 */
const REST_MS = 30;

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
  #scrapes = 0;

  /** `now` returns the time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isScraped(): boolean {
    return this.#scrapes > 0;
  }

  begin(kind: WalkKind): Walk {
    const by = kind === 'scrape' ? 1 : 0;
    this.#scrapes += by;
    // Many short views must give way just like a long one.
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

/** The process has one event loop. */
export const EVENT_LOOP = new Slices();

/** Is a scrape being rendered? */
export function isScraped(): boolean {
  return EVENT_LOOP.isScraped;
}

/** Resolves when a response to other requests may be made: during a scrape, after a rest. */
export async function giveWay(): Promise<void> {
  const walk = EVENT_LOOP.begin('view');
  await walk.pause();
  walk.end();
}
