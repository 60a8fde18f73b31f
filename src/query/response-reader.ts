// Reads a server's response to a query, within limits on size and CPU time.

import type { Socket as UdpSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../domain/clock.ts';
import { stopwatch, TOO_MUCH } from './cpu-stopwatch.ts';
import { QueryError } from './query-model.ts';

/**
 * After this time without a datagram, the request is repeated, because datagrams get lost; an
 * optional response counts as omitted.
 */
const SILENCE_MS = 800;

/**
 * The maximum number of bytes read in one way. The longest Minecraft status has 32,767 characters
 * of up to three bytes.
 */
const MAX_BYTES = 128 * 1024;

/**
 * Bytes that each datagram, and each piece of a stream, count in addition to its length. The system
 * buffers about 250 datagrams.
 */
const [DATAGRAM_COST, PIECE_COST] = [1_024, 128];

/** The maximum CPU time for decoding a response. */
const MAX_DECODE_MS = 50;

const INCOMPLETE = 'the connection was closed without a complete response';

/** The dependencies of queries in one way. */
export interface ResponseReaderOptions {
  readonly clock: Clock;
  /** Called when the decoding of a response begins and ends. */
  readonly decoding: (isBusy: boolean) => void;
}

/** Everything received in one query, until its scope aborts. */
export class ResponseReader {
  /** Rejects when the query fails, with the reason. */
  readonly failure: Promise<never>;
  readonly #scope: AbortController;
  readonly #options: ResponseReaderOptions;
  #hasDatagrams = false;
  #isConnected = false;
  #isUnderstood = false;
  #received = 0;
  #cancelSilence: Cancel = () => {};
  /** Handles the next bytes. Undefined stands for silence, or for the end of a connection. */
  #decoder: (bytes: Buffer | undefined) => void = () => {};

  constructor(scope: AbortController, options: ResponseReaderOptions) {
    this.#scope = scope;
    this.#options = options;
    const { signal } = scope;
    this.failure = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        this.#cancelSilence();
        reject(signal.reason instanceof QueryError ? signal.reason : this.#timeout());
      });
    });
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Decodes every datagram. */
  readDatagrams(socket: UdpSocket): void {
    this.#hasDatagrams = true;
    socket.on('error', (error) => this.broken(error));
    socket.on('message', (bytes) => {
      this.#count(bytes.length + DATAGRAM_COST);
      this.decode(bytes);
    });
  }

  /** Counts the bytes from a connection, and notes whether it was established. */
  followConnection(connection: Socket): void {
    connection.once('connect', () => {
      this.#isConnected = true;
    });
    connection.on('data', (bytes: Buffer) => this.#count(bytes.length + PIECE_COST));
  }

  fail(message: string, failure?: QueryError['failure']): void {
    this.#scope.abort(new QueryError(message, failure));
  }

  /** Handles an error of the connection or the datagram socket. */
  broken({ code = 'closed' }: NodeJS.ErrnoException): void {
    if (this.#received > 0) this.fail(INCOMPLETE);
    else if (code === 'ECONNREFUSED') this.fail('nothing listens on the port', 'query_refused');
    else this.fail(`unreachable (${code})`, 'query_no_answer');
  }

  /**
   * Decodes in a separate turn, which includes what the protocol does with the result, so that its
   * duration is known.
   */
  decode(bytes: Buffer | undefined): void {
    let busyMs = stopwatch();
    setImmediate(() => {
      busyMs = stopwatch();
      this.#options.decoding(true);
      if (!this.#scope.signal.aborted) this.#decoder(bytes);
    });
    setImmediate(() => {
      this.#options.decoding(false);
      if (busyMs() > MAX_DECODE_MS) this.fail(TOO_MUCH);
    });
  }

  /** Resolves with the result of `decode` for the received bytes, once that isn't undefined. */
  until<Result>(decode: (bytes: Buffer | undefined) => Result | undefined): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#decoder = (bytes) => {
        try {
          const result = decode(bytes);
          if (result === undefined) return;
          this.#isUnderstood ||= bytes !== undefined;
          this.#cancelSilence();
          resolve(result);
        } catch (error) {
          reject(error);
        }
      };
    });
  }

  /** Passes undefined to the decoder if no datagram arrives in time. */
  awaitDatagram(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#options.clock.schedule(SILENCE_MS, () => this.decode(undefined));
  }

  #count(bytes: number): void {
    this.#received += bytes;
    if (this.#received > MAX_BYTES) this.fail('the response is too long');
  }

  #timeout(): QueryError {
    const hasReceived = this.#received > 0;
    if (!hasReceived && !this.#isConnected) return new QueryError('no response', 'query_no_answer');
    if (this.#hasDatagrams && !this.#isUnderstood)
      return new QueryError("responded, but not in the game's protocol");
    return new QueryError(
      hasReceived ? 'the response was not complete in time' : 'connected, but received no response',
      'query_timed_out',
    );
  }
}

/** Throws if the connection ended. */
export function complete(bytes: Buffer | undefined): Buffer {
  if (bytes === undefined) throw new QueryError(INCOMPLETE);
  return bytes;
}
