import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, isIPv6, type Socket } from 'node:net';
import type { HttpParameters } from 'gamedig';
import type { Cancel, Clock } from '../domain/clock.ts';
import { AttemptError, MAX_ANSWER_BYTES, type QueryFailure, type QueryTarget } from './client.ts';
import { requestOver } from './http-request.ts';

/** Limits on what one attempt accepts from a server. */
const ANSWER_BOUNDS = {
  bytes: MAX_ANSWER_BYTES,
  /** The system buffers about 250. */
  datagrams: 128,
  /** Pieces of a stream: protocols examine everything received so far whenever more arrives. */
  pieces: 1_024,
} as const;

/** An accepted connection counts as silent after this time. */
const SILENT_AFTER_MS = 500;

/** What an attempt does with its sockets; it has at most one connection at a time. */
export type WireOrder =
  | { readonly do: 'send' | 'write'; readonly bytes: Uint8Array }
  /** Connects to the attempt's port, or to another one of the same host. */
  | { readonly do: 'connect'; readonly port?: number | undefined }
  | { readonly do: 'request'; readonly parameters: HttpParameters }
  | { readonly do: 'disconnect' | 'close' };

/** What its sockets report. */
export type WireEvent =
  | { readonly on: 'received'; readonly bytes: Uint8Array; readonly isDatagram: boolean }
  /** The connection was accepted, and nothing has been received for some time. */
  | { readonly on: 'silent' }
  /** The body of an HTTP response. */
  | { readonly on: 'response'; readonly text: string }
  /** A socket failed, or, without a code, the other end closed the connection. */
  | { readonly on: 'closed'; readonly isConnected: boolean; readonly code?: string | undefined }
  | { readonly on: 'failed'; readonly failure: QueryFailure; readonly message: string };

type WireTarget = Pick<QueryTarget, 'ip' | 'takenPorts'>;

/** Opens the wire of an attempt. */
export type OpenWire = (port: number, hear: (event: WireEvent) => void) => (order: WireOrder) => void;

/**
 * The sockets of one attempt: one address, no name, and bounded answers. The library's own would accept datagrams of any sender,
 * size and number, and unlimited bytes of a connection, and wouldn't notice that a port is closed.
 *
 * A UDP socket is connected to the server, so that the kernel drops datagrams from any other address or port.
 */
export class Wire {
  readonly #target: WireTarget;
  readonly #port: number;
  readonly #hear: (event: WireEvent) => void;
  readonly #clock: Clock;
  #udp: Promise<UdpSocket> | undefined;
  #connection: Socket | undefined;
  #closeUdp: () => void = () => {};
  #cancelSilence: Cancel = () => {};
  #isConnected = false;
  #bytes = 0;
  #datagrams = 0;
  #pieces = 0;
  #isClosed = false;

  constructor(target: WireTarget, port: number, clock: Clock, hear: (event: WireEvent) => void) {
    this.#target = target;
    this.#port = port;
    this.#clock = clock;
    this.#hear = hear;
  }

  /** Carries out an order; none has an effect after `close`. */
  obey(order: WireOrder): void {
    if (this.#isClosed) return;
    const port = order.do === 'connect' ? (order.port ?? this.#port) : this.#port;
    if (this.#target.takenPorts?.includes(port) === true && order.do !== 'close')
      this.#fail(new AttemptError('query_no_answer', `port ${port} belongs to another server`));
    else if (order.do === 'send') void this.#send(order.bytes);
    else if (order.do === 'connect') this.#talk(order.port);
    else if (order.do === 'write') this.#connection?.write(order.bytes);
    else if (order.do === 'request') void this.#request(order.parameters);
    else if (order.do === 'disconnect') this.#disconnect();
    else this.close();
  }

  /** Closes the sockets; nothing is reported afterwards. */
  close(): void {
    this.#isClosed = true;
    this.#closeUdp();
    this.#disconnect();
  }

  #report(event: WireEvent): void {
    if (!this.#isClosed) this.#hear(event);
  }

  #fail({ failure, message }: AttemptError): void {
    this.#report({ on: 'failed', failure, message });
    this.close();
  }

  async #send(bytes: Uint8Array): Promise<void> {
    this.#udp ??= this.#openUdp();
    const socket = await this.#udp;
    if (!this.#isClosed) socket.send(bytes, (error) => error !== null && this.#broken(error));
  }

  #openUdp(): Promise<UdpSocket> {
    return new Promise((resolve) => {
      const socket = createSocket(isIPv6(this.#target.ip) ? 'udp6' : 'udp4');
      this.#closeUdp = () => {
        socket.close();
        this.#closeUdp = () => {};
      };
      socket.on('error', (error) => this.#broken(error));
      socket.on('message', (bytes) => {
        this.#datagrams += 1;
        if (this.count(bytes)) this.#report({ on: 'received', bytes, isDatagram: true });
      });
      socket.once('connect', () => resolve(socket));
      socket.connect(this.#port, this.#target.ip);
    });
  }

  #talk(port: number | undefined): void {
    const connection = this.#connect(port);
    connection.on('data', (bytes) => {
      this.#pieces += 1;
      if (this.count(bytes)) this.#report({ on: 'received', bytes, isDatagram: false });
    });
    connection.once('close', () => this.#connection === connection && this.#closed());
  }

  async #request(parameters: HttpParameters): Promise<void> {
    const connection = this.#connect();
    try {
      const text = await requestOver(connection, parameters, (piece) => {
        this.#pieces += 1;
        return this.count(piece);
      });
      this.#disconnect();
      this.#report({ on: 'response', text });
    } catch (error) {
      if (this.#connection === connection) this.#fail(error as AttemptError);
    }
  }

  #connect(port = this.#port): Socket {
    const connection = connect({ host: this.#target.ip, port, noDelay: true });
    this.#connection = connection;
    connection.once('connect', () => {
      this.#isConnected = true;
      this.#cancelSilence = this.#clock.schedule(SILENT_AFTER_MS, () => this.#report({ on: 'silent' }));
    });
    // A connection that is no longer needed can still fail.
    connection.on('error', (error) => this.#connection === connection && this.#broken(error));
    return connection;
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#cancelSilence();
    connection?.destroy();
  }

  /** Counts what was received; if it is too much, ends the attempt and returns false. */
  count({ length }: Uint8Array): boolean {
    if (this.#isClosed) return false;
    this.#bytes += length;
    const { bytes, datagrams, pieces } = ANSWER_BOUNDS;
    if (this.#bytes <= bytes && this.#datagrams <= datagrams && this.#pieces <= pieces) return true;
    this.#fail(new AttemptError('query_wrong_protocol', 'the answer is too long'));
    return false;
  }

  #broken(error: Error): void {
    this.#closed('code' in error ? String(error.code) : undefined);
    this.close();
  }

  #closed(code?: string): void {
    this.#report({ on: 'closed', code, isConnected: this.#isConnected });
  }
}
