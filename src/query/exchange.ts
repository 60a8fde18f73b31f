import type { HttpParameters } from 'gamedig';
import type { Cancel, Clock } from '../domain/clock.ts';
import { AttemptError, MAX_ANSWER_BYTES } from './client.ts';
import type { OpenWire, WireEvent, WireOrder } from './wire.ts';

/** A UDP request without an answer is sent again after this time, because datagrams get lost. */
const RESEND_MS = 1_000;
const RESENDS = 2;

/**
 * After this time without a datagram, an answer of any number of datagrams counts as complete, and an optional answer as omitted.
 */
const SILENCE_MS = 800;

/** The rejection of an attempt that is over; created once, since an error costs more than everything else in a query. */
const OVER = new AttemptError('query_no_answer', 'the query is over');

/** Codes of errors that mean that nothing listens on the port. */
const REFUSALS: ReadonlySet<string> = new Set(['ECONNREFUSED']);

/** What exchanges depend on. */
export interface ExchangeOptions {
  readonly clock: Clock;
  readonly open: OpenWire;
  /** Called before each answer is decoded. */
  readonly decoding?: () => void;
}

/** What one attempt may do: everything that a protocol of the library requests from the network goes through here. */
export class Exchange {
  readonly #clock: Clock;
  readonly #decoding: () => void;
  readonly #order: (order: WireOrder) => void;
  readonly #failed = withResolvers<never>();
  #take: ((bytes: Buffer) => void) | undefined;
  #responded: ((text: string) => void) | undefined;
  #failure: AttemptError | undefined;
  #datagrams = 0;
  #steps = 0;
  #hasBytes = false;
  #isConnected = false;
  #isTalking = false;

  constructor(port: number, { clock, open, decoding = () => {} }: ExchangeOptions) {
    this.#clock = clock;
    this.#decoding = decoding;
    this.#order = open(port, (event) => this.#hear(event));
    // Pending waits get the error from a race; if nothing is waiting, nobody handles it.
    this.#failed.promise.catch(() => {});
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
    if (this.#hasBytes) return new AttemptError('query_timed_out', 'the answer was not complete in time');
    if (this.#isConnected) return new AttemptError('query_timed_out', 'connected, but received no answer');
    return new AttemptError('query_no_answer', 'no answer');
  }

  /** Ends the attempt: closes its sockets, and rejects pending waits with what is known so far. */
  close(error = this.#overdue()): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#take = undefined;
    this.#failed.reject(error);
    this.#order({ do: 'close' });
  }

  #hear(event: WireEvent): void {
    if (this.#failure !== undefined) return;
    if (event.on === 'received') {
      if (event.isDatagram) this.#datagrams += 1;
      this.#hasBytes = true;
      const { buffer, byteOffset, byteLength } = event.bytes;
      this.#take?.(Buffer.from(buffer, byteOffset, byteLength));
    } else if (event.on === 'silent') this.#isConnected = true;
    else if (event.on === 'response') this.#responded?.(event.text);
    else if (event.on === 'failed') this.close(new AttemptError(event.failure, event.message));
    else if (event.code !== undefined || this.#isTalking) this.close(this.#judge(event));
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
    this.#expectOpen();
    const send = () => this.#order({ do: 'send', bytes: bytesOf(request, 'binary') });
    send();
    if (onDatagram === undefined) return null;
    const timers = new Set<Cancel>();
    let cancelSilence: Cancel | undefined;
    const answer = this.#decoded(onDatagram);
    const awaitSilence = () => {
      cancelSilence?.();
      if (onSilence !== undefined)
        cancelSilence = this.#clock.schedule(SILENCE_MS, () => answer.decide(onSilence));
    };
    let unanswered = true;
    for (let time = 1; time <= RESENDS; time += 1)
      timers.add(this.#clock.schedule(time * RESEND_MS, () => unanswered && send()));
    this.#take = (datagram) => {
      unanswered = false;
      awaitSilence();
      answer.take(datagram);
    };
    awaitSilence();
    try {
      return await this.#answer(answer.promise);
    } finally {
      cancelSilence?.();
      for (const cancel of timers) cancel();
    }
  }

  /** Connects, by default to the attempt's port, and closes the connection when `talk` is done. */
  async withTcp<Result>(talk: (connection: never) => Promise<Result>, port?: number): Promise<Result> {
    this.#expectOpen();
    this.#isTalking = true;
    this.#order({ do: 'connect', port });
    try {
      // The library only hands it back to `tcpSend`.
      return await this.#race(talk(undefined as never));
    } finally {
      this.#isTalking = false;
      this.#order({ do: 'disconnect' });
    }
  }

  /** Sends bytes; resolves with what `onBytes` returns for all bytes received so far, once that isn't undefined. */
  async tcpSend<Result>(
    request: Buffer | string,
    onBytes: (bytes: Buffer) => Result | undefined,
  ): Promise<Result> {
    this.#expectOpen();
    const received = Buffer.allocUnsafe(MAX_ANSWER_BYTES);
    let length = 0;
    const answer = this.#decoded((piece) => {
      length += piece.copy(received, length);
      return onBytes(received.subarray(0, length));
    });
    this.#take = answer.take;
    this.#order({ do: 'write', bytes: bytesOf(request, 'utf8') });
    return this.#answer(answer.promise);
  }

  /** The body of an HTTP response, decoded if it is JSON. */
  async request(parameters: HttpParameters): Promise<unknown> {
    this.#expectOpen();
    const response = withResolvers<string>();
    this.#responded = response.resolve;
    const { responseType, ...rest } = parameters;
    this.#order({ do: 'request', parameters: rest });
    const text = await this.#race(response.promise);
    this.#decoding();
    return responseType === 'json' ? JSON.parse(text) : text;
  }

  /** What `decode` returns for the bytes taken, once that isn't undefined. */
  #decoded<Result>(decode: (bytes: Buffer) => Result | undefined) {
    const { promise, resolve, reject } = withResolvers<Result>();
    const decide = (work: () => Result | undefined) => {
      this.#decoding();
      try {
        const result = work();
        if (result !== undefined) resolve(result);
      } catch (error) {
        reject(error as Error);
      }
    };
    return { promise, decide, take: (bytes: Buffer) => decide(() => decode(bytes)) };
  }

  async #answer<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      const result = await this.#race(answer);
      this.#steps += 1;
      return result;
    } finally {
      this.#take = undefined;
    }
  }

  #judge({ code, isConnected }: Extract<WireEvent, { on: 'closed' }>): AttemptError {
    if (code !== undefined && REFUSALS.has(code) && !this.#hasBytes)
      return new AttemptError('query_refused', 'nothing listens on the port');
    if (isConnected || this.#hasBytes)
      return new AttemptError('query_wrong_protocol', 'the connection was closed without a complete answer');
    return new AttemptError('query_no_answer', `unreachable (${code ?? 'closed'})`);
  }

  #expectOpen(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #race<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.#failed.promise]);
  }
}

/** A copy, because a message between threads contains all of the memory that the bytes are part of. */
function bytesOf(request: Buffer | string, encoding: BufferEncoding): Uint8Array {
  return new Uint8Array(typeof request === 'string' ? Buffer.from(request, encoding) : request);
}

interface Resolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

function withResolvers<Value>(): Resolvers<Value> {
  let resolve: Resolvers<Value>['resolve'] = () => {};
  let reject: Resolvers<Value>['reject'] = () => {};
  const promise = new Promise<Value>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { promise, resolve, reject };
}
