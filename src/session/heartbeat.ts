import type { Cancel, Clock } from '../domain/clock.ts';

/** Often enough that no proxy's idle timeout (a minute is common) cuts the connection. */
export const PING_INTERVAL_MS = 30_000;

/** What a heartbeat needs of a connection. */
export interface Pingable {
  ping(): void;
  /** Called once, when a ping was not answered by the time of the next. */
  lost(): void;
}

/** Pings a connection that sends none itself, and tells when it no longer answers. */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #connection: Pingable;
  #awaitingPong = false;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, connection: Pingable) {
    this.#clock = clock;
    this.#connection = connection;
  }

  start(): void {
    this.#cancel = this.#clock.schedule(PING_INTERVAL_MS, () => this.#beat());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  pong(): void {
    this.#awaitingPong = false;
  }

  #beat(): void {
    if (this.#awaitingPong) {
      this.stop();
      this.#connection.lost();
      return;
    }
    this.#awaitingPong = true;
    this.#connection.ping();
    this.start();
  }
}
