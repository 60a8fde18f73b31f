import type { Cancel, Clock } from '../domain/clock.ts';

/**
 * The far end accepts at most two frames a second, and bursts have crashed real daemons. Frames may arrive closer together than they were
 * sent, so three of them take more than a second.
 */
export const FRAME_INTERVAL_MS = 600;

/** With more frames waiting than this, the caller is ignoring the responses. */
const MAX_WAITING = 64;

/** Sends frames in order, never faster than the far end accepts them. */
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

  /** Throws if too many frames are waiting. */
  send(frame: string): void {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Error(`expected at most ${MAX_WAITING} frames waiting for one socket; send more slowly`);
    }
    this.#waiting.push(frame);
    if (this.#cancel === undefined) this.#pump();
  }

  /** Drops frames that have not been sent. */
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

/** After a longer silence, a proxy's idle timeout (often a minute) may close the connection. */
export const PING_INTERVAL_MS = 30_000;

/** What a heartbeat needs from a connection. */
export interface Pingable {
  ping(): void;
  /** Called once, if nothing arrived between a ping and the time of the next. */
  lost(): void;
}

/**
 * Pings a connection if nothing arrived for an interval, and reports when it no longer responds. A connection that is active every
 * second needs no ping to stay open or to prove that it is; with 10,000 sockets this saves 700 messages a second.
 */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #connection: Pingable;
  /** In whole milliseconds: every frame sets it, and V8 keeps a fraction in a separate object. */
  #receivedAt = 0;
  #awaiting = false;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, connection: Pingable) {
    this.#clock = clock;
    this.#connection = connection;
  }

  start(): void {
    this.received();
    this.#beatIn(PING_INTERVAL_MS);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Something arrived, possibly a pong. */
  received(): void {
    this.#receivedAt = Math.trunc(this.#clock.now());
    this.#awaiting = false;
  }

  #beatIn(delayMs: number): void {
    this.#cancel = this.#clock.schedule(delayMs, () => this.#beat());
  }

  #beat(): void {
    const quietMs = this.#clock.now() - this.#receivedAt;
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
