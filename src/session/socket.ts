// One console socket, from its connect to its end.

import type { ClientRequestArgs, IncomingMessage } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { WebSocket } from 'ws';
import type { Clock } from '../domain/clock.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { ClientMessage, SocketCodec, UpgradeRefusal } from '../panel/socket-codec.ts';
import { atOnce, type InTurn } from './connect-pacer.ts';
import type { RefusedUpgrade } from './failure.ts';
import { FrameReader, MAX_MESSAGE_BYTES } from './frame-reader.ts';
import { Outbox } from './outbox.ts';
import type { OpenTunnel } from './socket-proxy.ts';
import type { SocketTls } from './socket-tls.ts';
import type { TlsSessions } from './tls-sessions.ts';
import type { UnfinishedBytes } from './unfinished-bytes.ts';

/** How long to wait for the response to a close frame before the connection is terminated. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Options that the types of ws don't contain yet: how long to wait after a close by the far end,
 * and how many pieces of a frame and fragments of a message ws keeps, because each is an object of
 * more than a hundred bytes.
 */
const NEWER_OPTIONS = { closeTimeout: CLOSE_TIMEOUT_MS, maxBufferedChunks: 1_024, maxFragments: 1_024 };

/**
 * How many bytes of the response to a refused upgrade are read, and for how long, because it may
 * never end.
 */
const MAX_ANSWER_BYTES = 4_096;

const ANSWER_TIMEOUT_MS = 1_000;

/** The error codes of ws for a violation of the protocol by the far end. */
const BROKEN_PROTOCOL = /^WS_ERR_/;

/** The error code for a frame over `maxPayload`. */
const OVERSIZE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

/** How to open the sockets of one panel. */
export interface SocketOptions {
  readonly codec: SocketCodec;
  readonly origin: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly tls: SocketTls;
  /** Returns the tunnel to an address through its proxy; undefined without a proxy. */
  readonly tunnelFor?: (url: string) => OpenTunnel | undefined;
  /** Resolves the names of nodes; `dns.lookup` by default. */
  readonly lookup?: LookupFunction;
  /** The limit on unfinished messages of all sockets; by default, of this socket alone. */
  readonly unfinished?: UnfinishedBytes;
  /** Closes connections in turn; by default, at once. */
  readonly inTurn?: InTurn;
}

/** Handles a socket's events: `refused` or `opened`, and after `opened` one `closed`. */
export interface SocketListener {
  opened(): void;
  refused(problem: RefusedUpgrade): void;
  /**
   * A frame in these bytes, or in a part of them. They are valid only during the call. Returns
   * whether the bytes that follow may wait a moment.
   */
  message(bytes: Buffer, isBinary: boolean, from?: number, to?: number): boolean;
  /** A message was skipped because it is too long. */
  oversize(): void;
  closed(closing: SocketClosing): void;
}

/** The end of a socket. */
export interface SocketClosing {
  readonly code: number;
  /**
   * The far end's text as raw bytes, which must be sanitized before it is shown. If the exporter
   * ended the connection, its own reason.
   */
  readonly text: string;
  readonly oversize: boolean;
}

/** One console socket. It sends frames at the far end's pace, and reports its end exactly once. */
export class ConsoleSocket {
  readonly #listener: SocketListener;
  readonly #reader: FrameReader;
  readonly #ws: WebSocket;
  readonly #clock: Clock;
  readonly #codec: SocketCodec;
  readonly #outbox: Outbox;
  #opened = false;
  #detached = false;
  #error: (Error & { code?: string }) | undefined;
  #response: UpgradeRefusal | undefined;
  /** Why the token can't be sent; undefined if it can. */
  #unusable: string | undefined;

  /** Starts to connect. The caller enforces the timeout by calling `close`. */
  constructor(url: string, options: SocketOptions, listener: SocketListener) {
    this.#listener = listener;
    this.#clock = options.clock;
    this.#codec = options.codec;
    this.#reader = new FrameReader(listener, options.clock, options.unfinished);
    this.#ws = connect(url, options, this.#reader);
    // A buffer is written together with its header, but a text separately.
    const write = (frame: string) => this.#ws.send(Buffer.from(frame), { binary: false });
    this.#outbox = new Outbox(options.clock, write);
    this.#listen(options.inTurn ?? atOnce);
  }

  /**
   * Sends a message after those before it, and not before the far end accepts it. Throws a
   * RangeError if the far end would drop the message because of its length. If that message is a
   * token, the socket is closed instead.
   */
  send(message: ClientMessage): void {
    const frame = this.#encode(message);
    if (frame !== undefined && this.#ws.readyState === WebSocket.OPEN) this.#outbox.send(frame);
  }

  // The caller is responsible for the length of a command. A token comes from the panel, whose data
  // must never cause an exception here.
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

  /**
   * Closes the socket with a close frame. The listener gets no further events. Resolves when the
   * connection is gone.
   */
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

  #gone(): Promise<void> {
    if (this.#ws.readyState === WebSocket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#ws.once('close', () => resolve()));
  }

  #detach(): void {
    this.#detached = true;
    this.#reader.stop();
    this.#outbox.stop();
  }

  #listen(inTurn: InTurn): void {
    const ws = this.#ws;
    ws.on('open', () => {
      this.#opened = true;
      if (!this.#detached) INTERNAL_ERRORS.contain(() => this.#listener.opened());
      this.#reader.opened(inTurn);
    });
    ws.on('message', (data, isBinary) => {
      if (!this.#detached) this.#listener.message(data as Buffer, isBinary);
    });
    ws.on('unexpected-response', (_request, response: IncomingMessage) => this.#readAnswer(response));
    // ws reports every failure here before it closes. Only the close event is passed on.
    ws.on('error', (error) => {
      this.#error ??= error;
      // Otherwise, a node that violated the protocol could delay its close indefinitely.
      if (this.#opened) ws.terminate();
    });
    ws.on('close', (code, reason) => INTERNAL_ERRORS.contain(() => this.#onClose(code, reason)));
  }

  /**
   * Reads the relevant part of an HTTP response in place of a socket, and closes the connection.
   */
  #readAnswer(response: IncomingMessage): void {
    const { statusCode: status = 0, headers } = response;
    const refusal = {
      status,
      contentType: headers['content-type'],
      isChallenge: headers['cf-mitigated'] === 'challenge',
    };
    this.#response = refusal;
    // The text of any other response identifies its sender.
    if (status >= 300 && status < 400) return this.#ws.terminate();
    let body = Buffer.alloc(0);
    response.on('data', (chunk: Buffer) => {
      body = Buffer.concat([body, chunk.subarray(0, MAX_ANSWER_BYTES - body.length)]);
      this.#response = { ...refusal, body: body.toString() };
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
      this.#listener.refused({ response: this.#response, error });
      return;
    }
    const { code: sign = '', message = '' } = this.#error ?? {};
    const broken = BROKEN_PROTOCOL.test(sign) ? message : undefined;
    this.#listener.closed({
      code,
      text: this.#unusable ?? broken ?? reason.toString('utf8'),
      oversize: sign === OVERSIZE,
    });
  }
}

function connect(url: string, options: SocketOptions, reader: FrameReader): WebSocket {
  const open = options.tunnelFor?.(url);
  const closing = open && new AbortController();
  const { sessions, ...tls } = options.tls();
  const ws = new WebSocket(url, {
    origin: options.origin,
    headers: { 'User-Agent': options.userAgent },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    ...NEWER_OPTIONS,
    followRedirects: false,
    // The exporter's JSON parser replaces invalid UTF-8. Validating each console line first would
    // cost more than everything else.
    skipUTF8Validation: true,
    ...tls,
    createConnection:
      open === undefined || closing === undefined
        ? (node: ClientRequestArgs) =>
            connectDirectly(node, reader, url.startsWith('wss:') ? sessions : undefined)
        : connectionBy(open, reader, closing.signal),
    lookup: options.lookup,
  });
  if (closing !== undefined) ws.once('close', () => closing.abort());
  return ws;
}

/** Without `sessions`, the connection isn't encrypted. */
function connectDirectly(
  node: ClientRequestArgs,
  reader: FrameReader,
  sessions: TlsSessions | undefined,
): Socket {
  if (sessions === undefined) return reader.connect(node, false);
  const socket = reader.connect(node, true);
  sessions.use(socket as TLSSocket, `${node.host}:${node.port}`);
  return socket;
}

/** The form in which Node.js accepts a connection that isn't open yet. */
function connectionBy(
  open: OpenTunnel,
  reader: FrameReader,
  signal: AbortSignal,
): ClientRequestArgs['createConnection'] {
  const begin = callbackify(async (node: ConnectionOptions) => reader.through(await open(node, signal)));
  return (node, done) => {
    begin(node as ConnectionOptions, done);
    return undefined;
  };
}
