// Paces the connects and calls of all panels, so that a storm of them leaves time in each turn of
// the event loop for everything else.

import type { Cancel } from '../domain/time.ts';
import { WaitingLine } from './waiting-line.ts';

/**
 * How long connects begin in one turn of the event loop, in milliseconds. The rest of a handshake
 * takes four times as long, in the turns in which the nodes respond.
 */
export const TURN_MS = 3;

/** The same while a scrape is rendered, which gets nearly all of the time. */
export const SCRAPED_TURN_MS = 0.25;

/** The event loop, as the pacer needs it. */
export interface EventLoop {
  /** Monotonic milliseconds of the machine, whose work is measured. */
  now(): number;
  /** Calls `run` once, in the next turn. */
  nextTurn(run: () => void): void;
  /** Calls `run` once in this turn, after the reactions of all settled promises. */
  afterPromises(run: () => void): void;
  /** Is a scrape being rendered? */
  isRendering(): boolean;
}

/** The event loop of this process, but for its scrapes. */
export const NODE_LOOP: Omit<EventLoop, 'isRendering'> = {
  now: () => performance.now(),
  nextTurn: (run) => void setImmediate(run),
  // Node.js calls it after all reactions of promises, and before other events.
  afterPromises: (run) => queueMicrotask(() => process.nextTick(run)),
};

/** Calls `begin` when its turn comes, unless it is canceled before. */
export type InTurn = (begin: () => void) => Cancel;

/** For a program with a single socket. */
export const atOnce: InTurn = (begin) => {
  begin();
  return () => undefined;
};

/** The waiting connects or calls of one panel, in their order. */
type Line = WaitingLine<{ readonly begin: () => void }>;

/**
 * One for the whole process. Its lines take turns, so that a storm in one line delays the connects
 * and calls of another by at most one turn.
 */
export class ConnectPacer {
  readonly #loop: EventLoop;
  /** The lines that aren't empty, the next one first. */
  readonly #lines = new WaitingLine<Line>();
  /** A turn is due or under way. */
  #isTurnDue = false;
  #turnEndsAt = 0;

  constructor(loop: EventLoop) {
    this.#loop = loop;
  }

  /** Another line, for the connects or the calls of a panel, in the order of their arrival. */
  line(): InTurn {
    const line: Line = new WaitingLine();
    return (begin) => {
      const waiter = { begin };
      line.add(waiter);
      this.#lines.add(line);
      this.#awaitTurn();
      return () => line.leave(waiter);
    };
  }

  #awaitTurn(): void {
    if (this.#isTurnDue || this.#lines.isEmpty) return;
    this.#isTurnDue = true;
    this.#loop.nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#turnEndsAt = this.#loop.now() + (this.#loop.isRendering() ? SCRAPED_TURN_MS : TURN_MS);
    this.#beginNext();
  };

  /** At least one per turn: on a slow machine, even one may take longer than the turn's time. */
  #beginNext(): void {
    try {
      this.#take()?.();
    } finally {
      // A connect looks up its address first, so most of its work is in reactions of promises.
      this.#loop.afterPromises(this.#goOn);
    }
  }

  readonly #goOn = (): void => {
    if (!this.#lines.isEmpty && this.#loop.now() < this.#turnEndsAt) {
      this.#beginNext();
      return;
    }
    this.#isTurnDue = false;
    this.#awaitTurn();
  };

  /** Removes the next connect or call; the lines take turns. */
  #take(): (() => void) | undefined {
    for (let line = this.#lines.take(); line !== undefined; line = this.#lines.take()) {
      const waiter = line.take();
      if (!line.isEmpty) this.#lines.add(line);
      if (waiter !== undefined) return waiter.begin;
    }
    return undefined;
  }
}
