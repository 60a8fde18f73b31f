import type { Agent, IncomingMessage } from 'node:http';
import { createSecureContext, type SecureContext } from 'node:tls';
import { WebSocket } from 'ws';
import type { RefusedUpgrade } from '../diagnosis/node-answer.ts';
import type { Clock } from '../domain/clock.ts';
import type { ReconnectReason } from '../domain/telemetry.ts';
import type { ClientMessage, SocketCodec } from '../panel/dialect.ts';
import type { socketLookup } from './socket-address.ts';
import { Heartbeat, Outbox, ReadReceipts } from './socket-pacing.ts';

/** No frame of the contract comes near; a longer one is an attack or a fault. */
export const MAX_FRAME_BYTES = 1_048_576;

/** How long a close frame may take to be answered before the connection is cut. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The same for a close that the far end began; the option is newer than the types of ws. */
const CLOSING = { closeTimeout: CLOSE_TIMEOUT_MS };

/** How much of the answer to a refused upgrade is read, and for how long: it may never end. */
const MAX_ANSWER_BYTES = 512;
const ANSWER_TIMEOUT_MS = 1_000;

/** Code of ws for a frame over `maxPayload`. */
const OVERSIZE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

/** Material for TLS towards the nodes; PEM texts. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly insecureSkipVerify?: boolean;
}

/** What `tls.connect` needs to know of a panel's nodes; throws where the material is none. */
export type SocketTls = () => {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
};

/** How sockets of one panel are opened. */
export interface SocketOptions {
  readonly codec: SocketCodec;
  readonly origin: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly tls: SocketTls;
  /** The proxy to go through for an address; undefined for none. */
  readonly agentFor?: (url: string) => Agent | undefined;
  /** Takes a place among the sockets of the process, and gives what frees it; throws where there is none. Unlimited where absent. */
  readonly admit?: () => () => void;
  /** Resolves the names of nodes; `dns.lookup` if absent. */
  readonly lookup?: NonNullable<ReturnType<typeof socketLookup>>;
}

/** Where a socket tells what happens to it: `refused` or `opened`, and after `opened` once `closed`. */
export interface SocketListener {
  opened(): void;
  refused(problem: RefusedUpgrade): void;
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
  readonly #codec: SocketCodec;
  readonly #heartbeat: Heartbeat;
  readonly #outbox: Outbox;
  readonly #receipts: ReadReceipts;
  #opened = false;
  #detached = false;
  #lost = false;
  #error: (Error & { code?: string }) | undefined;
  #answer: Pick<RefusedUpgrade, 'status' | 'body'> = {};
  /** What made the token one that can't be sent. */
  #unusable: string | undefined;

  /** Begins to connect; the caller holds the deadline and calls `terminate`. */
  constructor(url: string, options: SocketOptions, listener: SocketListener) {
    this.#listener = listener;
    this.#clock = options.clock;
    this.#codec = options.codec;
    const free = options.admit?.();
    this.#ws = connect(url, options, free);
    if (free !== undefined) this.#ws.once('close', free);
    this.#outbox = new Outbox(options.clock, (frame) => this.#ws.send(frame));
    this.#receipts = new ReadReceipts((mark) => this.#ws.ping(mark));
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

  /** Sends a message as `send` does; resolves with true once the far end has read it, with false if the socket ends before. */
  deliver(message: ClientMessage): Promise<boolean> {
    const frame = this.#encode(message);
    if (frame === undefined || this.#ws.readyState !== WebSocket.OPEN) return Promise.resolve(false);
    const { written, isRead } = this.#receipts.expect();
    this.#outbox.send(frame, written);
    return isRead;
  }

  // A command is its caller's to keep short. A token is the panel's, and what a panel says must never throw in here.
  #encode(message: ClientMessage): string | undefined {
    try {
      return this.#codec.encode(message);
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
    this.#receipts.stop();
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
    ws.on('pong', (mark) => {
      this.#heartbeat.heard();
      this.#receipts.answered(mark.toString());
    });
    ws.on('unexpected-response', (_request, response: IncomingMessage) => this.#readAnswer(response));
    // ws reports every failure here first and closes after; the close is the one place that reports on.
    ws.on('error', (error) => {
      this.#error ??= error;
      // Otherwise a node that broke the protocol could keep us waiting for its close.
      if (this.#opened) ws.terminate();
    });
    ws.on('close', (code, reason) => this.#onClose(code, reason));
  }

  /** Reads the HTTP answer that came instead of a socket, as far as it matters, and ends the connection. */
  #readAnswer(response: IncomingMessage): void {
    const { statusCode: status = 0 } = response;
    this.#answer = { status };
    // Only a daemon that doesn't know the server is recognized by its words.
    if (status !== 404) return this.#ws.terminate();
    let body = Buffer.alloc(0);
    response.on('data', (chunk: Buffer) => {
      body = Buffer.concat([body, chunk.subarray(0, MAX_ANSWER_BYTES - body.length)]);
      this.#answer = { status, body: body.toString() };
      if (body.length === MAX_ANSWER_BYTES) this.#ws.terminate();
    });
    const cancel = this.#clock.schedule(ANSWER_TIMEOUT_MS, () => this.#ws.terminate());
    response.once('close', () => {
      cancel();
      this.#ws.terminate();
    });
  }

  #onClose(code: number, reason: Buffer): void {
    if (this.#detached) return;
    this.#detach();
    if (!this.#opened) {
      const error = this.#error ?? new Error('the connection ended before the upgrade');
      this.#listener.refused({ ...this.#answer, error });
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

/** Begins to connect; what can't even begin gives its place back. */
function connect(url: string, options: SocketOptions, free: (() => void) | undefined): WebSocket {
  try {
    return new WebSocket(url, {
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
      ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    });
  } catch (error) {
    free?.();
    throw error;
  }
}

/** TLS for the sockets of one panel, which share one context: of its own it would cost each of them some 40 kB. */
export function socketTls({ insecureSkipVerify, ...material }: TlsMaterial = {}): SocketTls {
  let secureContext: SecureContext | undefined;
  return () => {
    secureContext ??= createSecureContext(material);
    return { secureContext, rejectUnauthorized: insecureSkipVerify !== true };
  };
}

function agentOption(agent: Agent | undefined): object {
  return agent === undefined ? {} : { agent };
}
