import type { Agent, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Clock } from '../domain/clock.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import { Heartbeat } from './heartbeat.ts';
import { Outbox } from './outbox.ts';
import { type ClientMessage, encodeMessage } from './protocol.ts';
import { guardedLookup } from './socket-lookup.ts';
import type { SocketTls } from './socket-tls.ts';

/** No frame of the contract comes near; a longer one is an attack or a fault. */
export const MAX_FRAME_BYTES = 1_048_576;

/** How long a close frame may take to be answered before the connection is cut. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The same for a close that the far end began; the option is newer than the types of ws. */
const CLOSING = { closeTimeout: CLOSE_TIMEOUT_MS };

/** Code of ws for a frame over `maxPayload`. */
const OVERSIZE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

/** How sockets of one panel are opened. */
export interface SocketOptions {
  readonly origin: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly tls: SocketTls;
  /** The proxy to go through for an address; undefined for none. */
  readonly agentFor?: (url: string) => Agent | undefined;
  /** May a name resolve to a loopback or link-local address? */
  readonly allowLocal: boolean;
}

/** Where a socket tells what happens to it: `refused` or `opened`, and after `opened` once `closed`. */
export interface SocketListener {
  opened(): void;
  /** The upgrade did not succeed; `status` where an HTTP answer came instead. */
  refused(problem: { readonly status?: number; readonly error: Error }): void;
  message(frame: Buffer, isBinary: boolean): void;
  closed(closing: SocketClosing): void;
}

/** How a socket ended. */
export interface SocketClosing {
  readonly code: number;
  /** Mostly the far end's own words, as bytes off the wire: to be cleaned before they are shown. */
  readonly text: string;
  readonly reason: ReconnectReason;
  readonly oversize: boolean;
}

/** One console socket: frames out at the far end's pace, pings, and exactly one word on how it ended. */
export class ConsoleSocket {
  readonly #listener: SocketListener;
  readonly #ws: WebSocket;
  readonly #clock: Clock;
  readonly #heartbeat: Heartbeat;
  readonly #outbox: Outbox;
  #opened = false;
  #detached = false;
  #lost = false;
  #error: (Error & { code?: string }) | undefined;
  #status: number | undefined;
  /** What made the token one that can't be sent. */
  #unusable: string | undefined;

  /** Begins to connect; the caller holds the deadline and calls `terminate`. */
  constructor(url: string, options: SocketOptions, listener: SocketListener) {
    this.#listener = listener;
    this.#clock = options.clock;
    this.#ws = new WebSocket(url, {
      origin: options.origin,
      headers: { 'User-Agent': options.userAgent },
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      ...CLOSING,
      followRedirects: false,
      // Our JSON parser replaces what is not UTF-8; checking each console line first would cost more than all else.
      skipUTF8Validation: true,
      ...options.tls(),
      ...agentOption(options.agentFor?.(url)),
      ...(options.allowLocal ? {} : { lookup: guardedLookup }),
    });
    this.#outbox = new Outbox(options.clock, (frame) => this.#ws.send(frame));
    this.#heartbeat = new Heartbeat(options.clock, {
      ping: () => this.#ws.ping(),
      lost: () => {
        this.#lost = true;
        this.#ws.terminate();
      },
    });
    this.#listen();
  }

  /**
   * Sends a message, after those before it and no sooner than the far end takes it. Throws a RangeError for one that the far
   * end would drop for its length; where a token is the cause, it ends the socket instead.
   */
  send(message: ClientMessage): void {
    const frame = this.#encode(message);
    if (frame !== undefined && this.#ws.readyState === WebSocket.OPEN) this.#outbox.send(frame);
  }

  // A command is its caller's to keep short. A token is the panel's, and what a panel says must never throw in here.
  #encode(message: ClientMessage): string | undefined {
    try {
      return encodeMessage(message);
    } catch (error) {
      if (message.event !== 'auth') throw error;
      this.#unusable = (error as Error).message;
      this.#ws.terminate();
      return undefined;
    }
  }

  /** Ends the socket with a close frame; the listener hears no more. Resolves when the connection is gone. */
  close(): Promise<void> {
    this.#detach();
    const gone = this.#gone();
    if (this.#ws.readyState === WebSocket.OPEN) {
      this.#ws.close(1000);
      const cancel = this.#clock.schedule(CLOSE_TIMEOUT_MS, () => this.#ws.terminate());
      void gone.then(cancel);
    } else {
      this.#ws.terminate();
    }
    return gone;
  }

  /** Cuts the connection; the listener hears no more. */
  terminate(): void {
    this.#detach();
    this.#ws.terminate();
  }

  #gone(): Promise<void> {
    if (this.#ws.readyState === WebSocket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#ws.once('close', () => resolve()));
  }

  #detach(): void {
    this.#detached = true;
    this.#heartbeat.stop();
    this.#outbox.stop();
  }

  #listen(): void {
    const ws = this.#ws;
    ws.on('open', () => {
      this.#opened = true;
      if (this.#detached) return;
      this.#heartbeat.start();
      this.#listener.opened();
    });
    ws.on('message', (data, isBinary) => {
      if (this.#detached) return;
      this.#heartbeat.heard();
      this.#listener.message(data as Buffer, isBinary);
    });
    ws.on('pong', () => this.#heartbeat.heard());
    ws.on('unexpected-response', (_request, response: IncomingMessage) => {
      this.#status = response.statusCode;
      response.destroy();
      ws.terminate();
    });
    // ws reports every failure here first and closes after; the close is the one place that reports on.
    ws.on('error', (error) => {
      this.#error ??= error;
      // Otherwise a node that broke the protocol could keep us waiting for its close.
      if (this.#opened) ws.terminate();
    });
    ws.on('close', (code, reason) => this.#onClose(code, reason));
  }

  #onClose(code: number, reason: Buffer): void {
    if (this.#detached) return;
    this.#detach();
    if (!this.#opened) {
      const error = this.#error ?? new Error('the connection ended before the upgrade');
      this.#listener.refused({ ...(this.#status === undefined ? {} : { status: this.#status }), error });
      return;
    }
    this.#listener.closed({
      code,
      text: this.#unusable ?? reason.toString('utf8'),
      reason: this.#lost ? 'pong_timeout' : 'closed',
      oversize: this.#error?.code === OVERSIZE,
    });
  }
}

function agentOption(agent: Agent | undefined): object {
  return agent === undefined ? {} : { agent };
}
