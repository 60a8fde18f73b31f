import type { Players, QueryTarget } from './client.ts';

/** What is read of a server's responses to one attempt. A player list of several hundred names needs a quarter of it. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** The server that a protocol queries. */
export type Server = Pick<QueryTarget, 'ip' | 'hostname' | 'port'>;

/** An HTTP request, in the library's words. */
export interface HttpParameters {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly responseType?: string;
}

/** What a protocol requests from the network, and how it ends. */
export type Order =
  /** Sends a datagram. An awaited one is repeated, and silence is reported if the protocol can do without more datagrams. */
  | {
      readonly do: 'send';
      readonly bytes: Uint8Array;
      readonly awaits: boolean;
      readonly hasSilence: boolean;
    }
  /** Connects to the attempt's port, or to another one of the same host, instead of the connection before. */
  | { readonly do: 'connect'; readonly port: number | undefined }
  | { readonly do: 'write'; readonly bytes: Uint8Array }
  | { readonly do: 'request'; readonly parameters: HttpParameters }
  | { readonly do: 'answer'; readonly players: Players }
  | { readonly do: 'fail'; readonly words: string }
  /** The protocol's thread was replaced: it starts from the beginning. */
  | { readonly do: 'restart' }
  /** Queries are impossible. */
  | { readonly do: 'crash' };

/** The events of the network that a protocol receives. */
export type News =
  /** A datagram, or another piece of what a connection receives. */
  | { readonly on: 'received'; readonly bytes: Uint8Array }
  | { readonly on: 'silence' }
  /** The body of an HTTP response. */
  | { readonly on: 'body'; readonly text: string }
  /** The connection was closed, or the attempt is over. */
  | { readonly on: 'closed' | 'end' };

/** What a protocol is run for. */
export interface Start {
  readonly on: 'start';
  readonly protocol: string;
  readonly server: Server;
}

/** Runs a protocol where a response can't harm the program; the returned function passes these events to the protocol. */
export type RunProtocol = (start: Start, hear: (order: Order) => void) => (news: News) => void;

/** The response isn't in the game's protocol. The message is in the exporter's own words: nothing that the server sent. */
export class Unreadable extends Error {
  constructor(words = "the response can't be read") {
    super(words);
  }
}

type Decode<Input, Result> = (input: Input) => Result | undefined;

/**
 * The network as a protocol sees it: with the methods of the library's base class, whose parameters these are. Everything that a
 * protocol requests goes through here, to the main thread, and what it waits for comes in through `hear`.
 */
export class Network {
  readonly #order: (order: Order) => void;
  hear: (news: News) => void = () => {};

  constructor(order: (order: Order) => void) {
    this.#order = order;
  }

  /**
   * Sends a datagram; resolves with what `onDatagram` returns for the datagrams received, once that isn't undefined. After a
   * silence, `onSilence` may end it instead. Without either, nothing is waited for.
   */
  readonly udpSend = async <Result>(
    request: Buffer | string,
    onDatagram?: Decode<Buffer, Result>,
    onSilence?: () => Result | undefined,
  ): Promise<Result | null> => {
    const awaits = onDatagram !== undefined;
    const bytes = bytesOf(request, 'binary');
    this.#order({ do: 'send', bytes, awaits, hasSilence: onSilence !== undefined });
    if (!awaits) return null;
    return this.#until((news) => (news.on === 'silence' ? onSilence?.() : onDatagram(receivedIn(news))));
  };

  /** Connects, by default to the attempt's port. The library only hands the connection back to `tcpSend`. */
  readonly withTcp = <Result>(
    talk: (connection: undefined) => Promise<Result>,
    port?: number,
  ): Promise<Result> => {
    this.#order({ do: 'connect', port });
    return talk(undefined);
  };

  /** Sends bytes; resolves with what `onBytes` returns for all bytes received so far, once that isn't undefined. */
  readonly tcpSend = <Result>(
    _connection: unknown,
    request: Buffer | string,
    onBytes: Decode<Buffer, Result>,
  ): Promise<Result> => {
    const all = Buffer.allocUnsafe(MAX_ANSWER_BYTES);
    let length = 0;
    this.#order({ do: 'write', bytes: bytesOf(request, 'utf8') });
    return this.#until((news) => {
      length += receivedIn(news).copy(all, length);
      return onBytes(all.subarray(0, length));
    });
  };

  /** The body of an HTTP response, decoded if it is JSON. */
  readonly request = (parameters: HttpParameters): Promise<unknown> => {
    this.#order({ do: 'request', parameters });
    return this.#until((news) => {
      if (news.on !== 'body') return undefined;
      return parameters.responseType === 'json' ? JSON.parse(news.text) : news.text;
    });
  };

  #until<Result>(decode: Decode<News, Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.hear = (news) => {
        try {
          const result = decode(news);
          if (result === undefined) return;
          this.hear = () => {};
          resolve(result);
        } catch (error) {
          reject(error);
        }
      };
    });
  }
}

function receivedIn(news: News): Buffer {
  if (news.on !== 'received') throw new Unreadable('the connection was closed without a complete response');
  const { buffer, byteOffset, byteLength } = news.bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A copy, because a message between threads contains all of the memory that the bytes are part of. */
function bytesOf(request: Buffer | string, encoding: BufferEncoding): Uint8Array {
  return new Uint8Array(typeof request === 'string' ? Buffer.from(request, encoding) : request);
}
