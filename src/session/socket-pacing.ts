import type { Cancel, Clock } from '../domain/clock.ts';

/** The far end takes two frames a second at most; a burst has crashed real daemons. */
export const FRAME_INTERVAL_MS = 500;

/** More than this waiting means that the caller doesn't listen to what comes back. */
const MAX_WAITING = 64;

/** Sends frames in order and never faster than the far end takes them. */
export class Outbox {
  readonly #clock: Clock;
  readonly #write: (frame: string) => void;
  readonly #waiting: string[] = [];
  #nextAt = Number.NEGATIVE_INFINITY;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, write: (frame: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Throws when too many frames are waiting. */
  send(frame: string): void {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Error(`expected at most ${MAX_WAITING} frames waiting for one socket; send more slowly`);
    }
    this.#waiting.push(frame);
    if (this.#cancel === undefined) this.#pump();
  }

  /** Drops what was not sent yet. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#waiting.length = 0;
  }

  #pump(): void {
    this.#cancel = undefined;
    const wait = this.#nextAt - this.#clock.now();
    if (wait <= 0) {
      const frame = this.#waiting.shift();
      if (frame === undefined) return;
      this.#nextAt = this.#clock.now() + FRAME_INTERVAL_MS;
      this.#write(frame);
    }
    if (this.#waiting.length === 0) return;
    this.#cancel = this.#clock.schedule(Math.max(wait, this.#nextAt - this.#clock.now()), () => this.#pump());
  }
}

/** Quiet for longer, and a proxy's idle timeout (a minute is common) may cut the connection. */
export const PING_INTERVAL_MS = 30_000;

/** What a heartbeat needs of a connection. */
export interface Pingable {
  ping(): void;
  /** Called once, when nothing came between a ping and the time of the next. */
  lost(): void;
}

/**
 * Pings a connection when nothing came for an interval, and tells when it no longer answers. One that speaks every second needs no
 * ping to stay open, nor to prove that it is; of 10,000 sockets that spares 700 messages a second.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #connection: Pingable;
  #heardAt = Number.NEGATIVE_INFINITY;
  #awaiting = false;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, connection: Pingable) {
    this.#clock = clock;
    this.#connection = connection;
  }

  start(): void {
    this.heard();
    this.#beatIn(PING_INTERVAL_MS);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Something came, be it a pong. */
  heard(): void {
    this.#heardAt = this.#clock.now();
    this.#awaiting = false;
  }

  #beatIn(delayMs: number): void {
    this.#cancel = this.#clock.schedule(delayMs, () => this.#beat());
  }

  #beat(): void {
    const quietMs = this.#clock.now() - this.#heardAt;
    if (quietMs < PING_INTERVAL_MS) {
      this.#beatIn(PING_INTERVAL_MS - quietMs);
      return;
    }
    if (this.#awaiting) {
      this.stop();
      this.#connection.lost();
      return;
    }
    this.#awaiting = true;
    this.#connection.ping();
    this.#beatIn(PING_INTERVAL_MS);
  }
}
