import type { Cancel, Clock } from '../domain/clock.ts';

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
