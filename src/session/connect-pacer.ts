// Paces the connects and calls of all panels, so that even thousands of them leave time in each
// turn of the event loop for other work.

import type { Cancel } from '../domain/clock.ts';
import { WaitingLine } from './waiting-line.ts';

/**
 * How long connects begin in one turn of the event loop, in milliseconds. The rest of a handshake
 * takes four times as long, spread over the turns in which the nodes respond.
 */
export const TURN_MS = 3;

/** The same during a scrape, which gets nearly all of the time. */
export const SCRAPED_TURN_MS = 0.25;

/** The functions of the event loop that the pacer uses. */
export interface EventLoop {
  /** The machine's monotonic time in milliseconds, to measure work. */
  now(): number;
  /** Calls `run` once, in the next turn. */
  nextTurn(run: () => void): void;
  /** Calls `run` once in this turn, after the reactions of all settled promises. */
  afterPromises(run: () => void): void;
  /** Is a scrape being rendered? */
  isRendering(): boolean;
}

/** The event loop of this process, without its scrapes. */
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

/** The waiting connects or calls of one panel, in order. */
type PacedLine = WaitingLine<{ readonly begin: () => void }>;

/**
 * The pacer of the process. Its lines take turns, so that thousands of connects in one line delay
 * another line by at most one turn.
 */
export class ConnectPacer {
  readonly #loop: EventLoop;
  /** The lines with entries, the next one first. */
  readonly #lines = new WaitingLine<PacedLine>();
  /** Whether a turn is due or running. */
  #isTurnDue = false;
  #turnEndsAt = 0;

  constructor(loop: EventLoop) {
    this.#loop = loop;
  }

  /** Adds a line for the connects or the calls of a panel, in the order of their arrival. */
  line(): InTurn {
    const line: PacedLine = new WaitingLine();
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

  /**
   * Begins at least one per turn: on a slow machine, even one may take longer than the turn's time.
   */
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

  /** Removes the next connect or call. The lines take turns. */
  #take(): (() => void) | undefined {
    for (let line = this.#lines.take(); line !== undefined; line = this.#lines.take()) {
      const waiter = line.take();
      if (!line.isEmpty) this.#lines.add(line);
      if (waiter !== undefined) return waiter.begin;
    }
    return undefined;
  }
}
