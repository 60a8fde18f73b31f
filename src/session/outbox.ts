// Sends a socket's frames in order, and never faster than the far end accepts them.

import { AT_ONCE, type Cancel, type Clock } from '../domain/clock.ts';

/**
 * The interval between frames. The far end accepts at most two a second, and bursts have crashed
 * real daemons. Frames may arrive closer together than they were sent, so three of them take more
 * than a second.
 */
export const FRAME_INTERVAL_MS = 600;

/** If more frames are waiting than this, the caller is ignoring the responses. */
const MAX_WAITING = 64;

/** Sends frames in order, and never faster than the far end accepts them. */
export class Outbox {
  readonly #clock: Clock;
  readonly #write: (frame: string) => void;
  readonly #waiting: string[] = [];
  #nextAt = AT_ONCE;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, write: (frame: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Throws if too many frames are waiting. */
  send(frame: string): void {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Error(`more than ${MAX_WAITING} messages are waiting for this socket; send more slowly`);
    }
    this.#waiting.push(frame);
    if (this.#cancel === undefined) this.#pump();
  }

  /** Drops frames that haven't been sent. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#waiting.length = 0;
  }

  #pump(): void {
    this.#cancel = undefined;
    const wait = this.#nextAt - this.#clock.now();
    if (wait <= 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#nextAt = this.#clock.now() + FRAME_INTERVAL_MS;
      this.#write(next);
    }
    if (this.#waiting.length === 0) return;
    this.#cancel = this.#clock.schedule(Math.max(wait, this.#nextAt - this.#clock.now()), () => this.#pump());
  }
}
