// What a server sends in response to a query: limited in size, and decoded within a limit on CPU
// time.

import type { Socket as UdpSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../domain/time.ts';
import { stopwatch, TOO_MUCH } from './cpu-stopwatch.ts';
import { QueryError } from './query-model.ts';

/**
 * After this time without a datagram, the request is sent again, because datagrams get lost, or an
 * optional response counts as omitted.
 */
const SILENCE_MS = 800;

/**
 * The most bytes that are read in one way. The longest status of Minecraft has 32,767 characters of
 * up to three bytes.
 */
const MAX_BYTES = 128 * 1024;

/**
 * The bytes that each datagram and each piece of a stream count in addition to their own. The
 * system buffers about 250 datagrams.
 */
const [DATAGRAM_COST, PIECE_COST] = [1_024, 128];

/** A response that takes more CPU time to decode than this is rejected. */
const MAX_DECODE_MS = 50;

const INCOMPLETE = 'the connection was closed without a complete response';

/** The dependencies of queries in one way. */
export interface ResponseReaderOptions {
  readonly clock: Clock;
  /** Is told when the decoding of a response begins, and when it ends. */
  readonly decoding: (isBusy: boolean) => void;
}

/** Everything received in one query, until its scope aborts. */
export class ResponseReader {
  /** Rejects at the end, with why the query fails. */
  readonly failure: Promise<never>;
  readonly #scope: AbortController;
  readonly #options: ResponseReaderOptions;
  #hasDatagrams = false;
  #isConnected = false;
  #isUnderstood = false;
  #received = 0;
  #cancelSilence: Cancel = () => {};
  /** Takes what is received next; undefined stands for silence, or the end of a connection. */
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

  /** Counts what a connection receives, and whether it was established. */
  followConnection(connection: Socket): void {
    connection.once('connect', () => {
      this.#isConnected = true;
    });
    connection.on('data', (bytes: Buffer) => this.#count(bytes.length + PIECE_COST));
  }

  fail(message: string, failure?: QueryError['failure']): void {
    this.#scope.abort(new QueryError(message, failure));
  }

  /** The connection or the datagram socket reported an error. */
  broken({ code = 'closed' }: NodeJS.ErrnoException): void {
    if (this.#received > 0) this.fail(INCOMPLETE);
    else if (code === 'ECONNREFUSED') this.fail('nothing listens on the port', 'query_refused');
    else this.fail(`unreachable (${code})`, 'query_no_answer');
  }

  /**
   * Decodes in a turn of its own, which includes what the protocol does with the result, so that
   * the time that it takes is known.
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

  /** Resolves with what `decode` returns for what is received, once that isn't undefined. */
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

  /** Passes undefined to the decoder unless a datagram arrives in time. */
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
