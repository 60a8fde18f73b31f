import type { Cancel, Clock } from '../domain/clock.ts';

/** The far end takes two frames a second at most; a burst has crashed real daemons. */
export const FRAME_INTERVAL_MS = 500;

/** More than this waiting means that the caller doesn't listen to what comes back. */
const MAX_WAITING = 64;

interface OutgoingFrame {
  readonly frame: string;
  readonly written: () => void;
}

/** Sends frames in order and never faster than the far end takes them. */
export class Outbox {
  readonly #clock: Clock;
  readonly #write: (frame: string) => void;
  readonly #waiting: OutgoingFrame[] = [];
  #nextAt = Number.NEGATIVE_INFINITY;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, write: (frame: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Throws when too many frames are waiting; `written` is called when the frame leaves. */
  send(frame: string, written: () => void = () => undefined): void {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new Error(`expected at most ${MAX_WAITING} frames waiting for one socket; send more slowly`);
    }
    this.#waiting.push({ frame, written });
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
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#nextAt = this.#clock.now() + FRAME_INTERVAL_MS;
      this.#write(next.frame);
      next.written();
    }
    if (this.#waiting.length === 0) return;
    this.#cancel = this.#clock.schedule(Math.max(wait, this.#nextAt - this.#clock.now()), () => this.#pump());
  }
}

/** Tells what the far end has read: it repeats the mark of a ping in its pong, after it read all that came before. */
export class ReadReceipts {
  readonly #ping: (mark: string) => void;
  /** By mark, in the order in which the frames are written. */
  readonly #waiting = new Map<string, (isRead: boolean) => void>();
  #asked = 0;

  constructor(ping: (mark: string) => void) {
    this.#ping = ping;
  }

  /** A receipt for a frame: `written` is to be called when it leaves; `isRead` is false if the connection ended before it was read. */
  expect(): { readonly written: () => void; readonly isRead: Promise<boolean> } {
    this.#asked += 1;
    const mark = String(this.#asked);
    const isRead = new Promise<boolean>((resolve) => this.#waiting.set(mark, resolve));
    return { written: () => this.#ping(mark), isRead };
  }

  /** A pong came, be it one that nobody asked for. */
  answered(mark: string): void {
    if (!this.#waiting.has(mark)) return;
    for (const [earlier, resolve] of this.#waiting) {
      this.#waiting.delete(earlier);
      resolve(true);
      if (earlier === mark) return;
    }
  }

  stop(): void {
    for (const resolve of this.#waiting.values()) resolve(false);
    this.#waiting.clear();
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
  /** In whole milliseconds: every frame sets it, and V8 keeps a fraction in an object of its own. */
  #heardAt = 0;
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
    this.#heardAt = Math.trunc(this.#clock.now());
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
