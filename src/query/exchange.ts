import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { connect, isIPv6, type Socket } from 'node:net';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { QueryFailure } from './client.ts';

/** Limits on what one attempt accepts from a server. */
export const ANSWER_BOUNDS = {
  /** Quake 3 sends up to 16 KiB at once, and no other game sends more. */
  datagramBytes: 16 * 1024,
  /** Several times what the longest answers need; the system buffers about 250. */
  datagrams: 128,
  /** Of all datagrams: a player list of several hundred names needs a quarter of it. */
  datagramBytesInAll: 64 * 1024,
  /** Minecraft's status has at most 32,767 characters, which is less than 128 KiB. */
  bytes: 256 * 1024,
  /** Pieces of a stream: protocols examine everything received so far whenever more arrives. */
  pieces: 1_024,
} as const;

/** A UDP request without an answer is sent again after this time, because datagrams get lost. */
const RESEND_MS = 1_000;
const RESENDS = 2;

/**
 * After this time without a datagram, an answer of any number of datagrams counts as complete, and an optional answer as omitted.
 */
const SILENCE_MS = 800;

/** Why an attempt failed. The message is in the exporter's own words: nothing that the server sent. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly failure: QueryFailure;

  constructor(failure: QueryFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** The rejection of an attempt that is over; created once, since an error costs more than everything else in a query. */
const OVER = new AttemptError('query_no_answer', 'the query is over');

/** Codes of errors that mean that nothing listens on the port. */
const REFUSALS: ReadonlySet<string> = new Set(['ECONNREFUSED']);

/**
 * The network as one attempt may use it: one address, bounded answers. Everything that a protocol of the library requests goes
 * through here instead of the library's own sockets: its UDP socket is shared, accepts datagrams of any size and number, and
 * doesn't notice that a port is closed; its TCP connections accept unlimited bytes.
 *
 * A UDP socket is connected to the server, so that the kernel drops datagrams from any other address or port.
 */
export class Exchange {
  readonly #ip: string;
  readonly #port: number;
  readonly #clock: Clock;
  readonly #closers = new Set<() => void>();
  #udp: Promise<UdpSocket> | undefined;
  #takeDatagram: ((datagram: Buffer) => void) | undefined;
  #failure: AttemptError | undefined;
  #datagrams = 0;
  #bytes = 0;
  #pieces = 0;
  #steps = 0;
  #isConnected = false;
  readonly #failed: Promise<never>;
  #reject: (error: AttemptError) => void = () => {};

  constructor(ip: string, port: number, clock: Clock) {
    this.#ip = ip;
    this.#port = port;
    this.#clock = clock;
    this.#failed = new Promise((_, reject) => {
      this.#reject = reject;
    });
    // Pending waits get the error from a race; if nothing is waiting, nobody handles it.
    this.#failed.catch(() => {});
  }

  /**
   * Runs the query, and closes the sockets when it is done.
   *
   * @throws AttemptError if there is no answer, whatever went wrong
   */
  async run<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#race(ask());
    } catch (error) {
      // The error's message may contain what the server sent.
      throw (
        this.#failure ??
        (error instanceof AttemptError
          ? error
          : new AttemptError('query_wrong_protocol', "the answer can't be read"))
      );
    } finally {
      this.close(OVER);
    }
  }

  /** The error at the deadline, from what is known by then. */
  #overdue(): AttemptError {
    if (this.#steps > 0) return new AttemptError('query_timed_out', 'the answer was not complete in time');
    if (this.#datagrams > 0)
      return new AttemptError('query_wrong_protocol', "answered, but not in the game's protocol");
    if (this.#bytes > 0) return new AttemptError('query_timed_out', 'the answer was not complete in time');
    if (this.#isConnected) return new AttemptError('query_timed_out', 'connected, but received no answer');
    return new AttemptError('query_no_answer', 'no answer');
  }

  /** Ends the attempt: closes its sockets, and rejects pending waits with what is known so far. */
  close(error = this.#overdue()): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#takeDatagram = undefined;
    this.#reject(error);
    for (const close of this.#closers) close();
    this.#closers.clear();
  }

  /**
   * Sends a datagram; resolves with what `onDatagram` returns for the datagrams received, once that isn't undefined. After a
   * silence, `onSilence` may end it instead. Without either, nothing is waited for.
   */
  async udpSend<Result>(
    request: Buffer | string,
    onDatagram?: (datagram: Buffer) => Result | undefined,
    onSilence?: () => Result | undefined,
  ): Promise<Result | null> {
    const bytes = typeof request === 'string' ? Buffer.from(request, 'binary') : request;
    const socket = await this.#race(this.#udpSocket());
    const send = () => socket.send(bytes, (error) => error !== null && this.#fail(error));
    send();
    if (onDatagram === undefined) return null;
    const timers = new Set<Cancel>();
    let cancelSilence: Cancel | undefined;
    const answer = new Promise<Result>((resolve, reject) => {
      const settle = (decide: () => Result | undefined) => {
        try {
          const result = decide();
          if (result !== undefined) resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      const awaitSilence = () => {
        cancelSilence?.();
        if (onSilence !== undefined)
          cancelSilence = this.#clock.schedule(SILENCE_MS, () => settle(onSilence));
      };
      let unanswered = true;
      for (let time = 1; time <= RESENDS; time += 1)
        timers.add(this.#clock.schedule(time * RESEND_MS, () => unanswered && send()));
      this.#takeDatagram = (datagram) => {
        unanswered = false;
        awaitSilence();
        settle(() => onDatagram(datagram));
      };
      awaitSilence();
    });
    try {
      const result = await this.#race(answer);
      this.#steps += 1;
      return result;
    } finally {
      this.#takeDatagram = undefined;
      cancelSilence?.();
      for (const cancel of timers) cancel();
    }
  }

  /** Connects, by default to the attempt's port, and closes the connection when `talk` is done. */
  async withTcp<Result>(talk: (connection: Socket) => Promise<Result>, port = this.#port): Promise<Result> {
    this.#expectOpen();
    const socket = connect({ host: this.#ip, port, noDelay: true });
    const close = () => socket.destroy();
    this.#closers.add(close);
    const onError = (error: Error) => this.#fail(error);
    socket.on('error', onError);
    try {
      await this.#race(new Promise<void>((resolve) => socket.once('connect', () => resolve())));
      this.#isConnected = true;
      return await this.#race(talk(socket));
    } finally {
      this.#closers.delete(close);
      // The connection is no longer needed, however it ends.
      socket.off('error', onError).on('error', () => {});
      socket.destroy();
    }
  }

  /** Sends bytes; resolves with what `onBytes` returns for all bytes received so far, once that isn't undefined. */
  async tcpSend<Result>(
    connection: Socket,
    request: Buffer | string,
    onBytes: (bytes: Buffer) => Result | undefined,
  ): Promise<Result> {
    this.#expectOpen();
    const received = new ReceivedBytes();
    const onEnd = () => this.#fail();
    let onData: ((piece: Buffer) => void) | undefined;
    const answer = new Promise<Result>((resolve, reject) => {
      onData = (piece) => {
        if (!this.count(piece)) return;
        try {
          const result = onBytes(received.with(piece));
          if (result !== undefined) resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      connection.on('data', onData).once('close', onEnd);
      connection.write(request);
    });
    try {
      const result = await this.#race(answer);
      this.#steps += 1;
      return result;
    } finally {
      connection.off('close', onEnd);
      if (onData !== undefined) connection.off('data', onData);
    }
  }

  /** Counts a piece of an answer; if it is one too many, ends the attempt and returns false. */
  count(piece: Buffer): boolean {
    this.#bytes += piece.length;
    this.#pieces += 1;
    if (this.#bytes <= ANSWER_BOUNDS.bytes && this.#pieces <= ANSWER_BOUNDS.pieces) return true;
    this.close(new AttemptError('query_wrong_protocol', 'the answer is too long'));
    return false;
  }

  async #udpSocket(): Promise<UdpSocket> {
    this.#expectOpen();
    this.#udp ??= new Promise((resolve) => {
      const socket = createSocket(isIPv6(this.#ip) ? 'udp6' : 'udp4');
      this.#closers.add(() => socket.close());
      socket.on('error', (error) => this.#fail(error));
      socket.on('message', (datagram) => this.#onDatagram(datagram));
      socket.once('connect', () => resolve(socket));
      socket.connect(this.#port, this.#ip);
    });
    return this.#udp;
  }

  #onDatagram(datagram: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#datagrams += 1;
    this.#bytes += datagram.length;
    if (
      datagram.length > ANSWER_BOUNDS.datagramBytes ||
      this.#datagrams > ANSWER_BOUNDS.datagrams ||
      this.#bytes > ANSWER_BOUNDS.datagramBytesInAll
    )
      this.close(new AttemptError('query_wrong_protocol', 'the answer is too long'));
    else this.#takeDatagram?.(datagram);
  }

  /** Handles a socket's error, or its close by the server if there is no error. */
  #fail(error?: Error): void {
    const code = error !== undefined && 'code' in error ? String(error.code) : undefined;
    this.close(this.#judge(code));
  }

  #judge(code: string | undefined): AttemptError {
    if (code !== undefined && REFUSALS.has(code) && this.#bytes === 0)
      return new AttemptError('query_refused', 'nothing listens on the port');
    if (this.#isConnected || this.#bytes > 0)
      return new AttemptError('query_wrong_protocol', 'the connection was closed without a complete answer');
    return new AttemptError('query_no_answer', `unreachable (${code ?? 'closed'})`);
  }

  #expectOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #race<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#failed]);
  }
}

/** Bytes that arrive in pieces, copied a bounded number of times. */
class ReceivedBytes {
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** All bytes up to and including this piece. */
  with(piece: Buffer): Buffer {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    piece.copy(this.#buffer, this.#length);
    this.#length = length;
    return this.#buffer.subarray(0, length);
  }
}
