import type { QueryReading } from '../domain/reading.ts';

/** What is read of a server's responses to one exchange. The longest status of Minecraft has 32,767 characters of up to three bytes. */
export const MAX_ANSWER_BYTES = 128 * 1024;

/** The server that a protocol queries. */
export interface Server {
  readonly ip: string;
  /** Minecraft proxies and web servers distinguish servers by it. */
  readonly hostname?: string | undefined;
  readonly port: number;
  /** The port of the query interface, if it is a separate one and known. */
  readonly controlPort?: number | undefined;
  /** Random bytes by which its responses are recognized. */
  readonly token: Uint8Array;
}

/** An HTTP request, in the library's words. */
export interface HttpParameters {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly responseType?: string;
}

/** What a protocol requests from the network. */
export type Order =
  /** Sends a datagram. An awaited one is repeated, and silence is reported if the protocol can do without more datagrams. */
  | {
      readonly do: 'send';
      readonly bytes: Uint8Array;
      readonly awaits: boolean;
      readonly hasSilence: boolean;
    }
  /** Connects to the server's port, or to another one of the same host, instead of the connection before. */
  | { readonly do: 'connect'; readonly port: number | undefined }
  | { readonly do: 'write'; readonly bytes: Uint8Array }
  | { readonly do: 'request'; readonly parameters: HttpParameters };

/** What happened on the network. */
export type News =
  /** A datagram, or another piece of what a connection receives. */
  | { readonly on: 'received'; readonly bytes: Uint8Array }
  /** The body of an HTTP response. */
  | { readonly on: 'body'; readonly text: string }
  | { readonly on: 'silence' | 'closed' };

/** What a game responded. */
export type Players = Pick<QueryReading, 'players' | 'bots' | 'playersMax'>;

/** How far a protocol gets with the news so far: all orders from the beginning, and its end if it has ended. */
export interface Step {
  readonly orders: readonly Order[];
  readonly players?: Players;
  /** Why the responses can't be read. */
  readonly unreadable?: string;
}

/** The response isn't in the game's protocol. The message is in the exporter's own words: nothing that the server sent. */
export class Unreadable extends Error {
  constructor(words = "the response can't be read") {
    super(words);
  }
}

/** Numbers of players as a protocol returned them, with any type. */
export interface Counts {
  /** Includes the bots, if their number is known. */
  readonly players?: unknown;
  readonly bots?: unknown;
  readonly maxPlayers?: unknown;
  /** The server responded, but hides its players. */
  readonly isHidden?: boolean;
}

/** Queries a server with one protocol, only through the network. */
export type AskProtocol = (network: Network, server: Server) => Promise<Counts>;

/**
 * Runs a protocol from its beginning with all news so far. It keeps nothing: what happens next depends only on the news, wherever and
 * however often it runs.
 */
export function replay(ask: AskProtocol, server: Server, news: readonly News[]): Promise<Step> {
  const orders: Order[] = [];
  return new Promise((resolve) => {
    const network = new Network(orders, news, () => resolve({ orders }));
    ask(network, server)
      .then((counts) => resolve({ orders, players: playersOf(counts) }))
      // An error of the library may contain what the server sent.
      .catch((error: unknown) =>
        resolve({
          orders,
          unreadable: (error instanceof Unreadable ? error : new Unreadable()).message,
        }),
      );
  });
}

type Decode<Input, Result> = (input: Input) => Result | undefined;

/** The network as a protocol sees it: with the methods of the library's base class, whose parameters these are. */
export class Network {
  readonly #orders: Order[];
  readonly #news: Iterator<News>;
  readonly #wait: () => void;

  constructor(orders: Order[], news: Iterable<News>, wait: () => void) {
    this.#orders = orders;
    this.#news = news[Symbol.iterator]();
    this.#wait = wait;
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
    this.#orders.push({ do: 'send', bytes, awaits, hasSilence: onSilence !== undefined });
    if (!awaits) return null;
    return this.#until((news) => (news.on === 'silence' ? onSilence?.() : onDatagram(receivedIn(news))));
  };

  /** Connects, by default to the server's port. The library only hands the connection back to `tcpSend`. */
  readonly withTcp = <Result>(
    talk: (connection: undefined) => Promise<Result>,
    port?: number,
  ): Promise<Result> => {
    this.#orders.push({ do: 'connect', port });
    return talk(undefined);
  };

  /** Sends bytes; resolves with what `onBytes` returns for all bytes received so far, once that isn't undefined. */
  readonly tcpSend = async <Result>(
    _connection: unknown,
    request: Buffer | string,
    onBytes: Decode<Buffer, Result>,
  ): Promise<Result> => {
    const all = Buffer.allocUnsafe(MAX_ANSWER_BYTES);
    let length = 0;
    this.#orders.push({ do: 'write', bytes: bytesOf(request, 'utf8') });
    return this.#until((news) => {
      length += receivedIn(news).copy(all, length);
      return onBytes(all.subarray(0, length));
    });
  };

  /** The body of an HTTP response, decoded if it is JSON. */
  readonly request = async (parameters: HttpParameters): Promise<unknown> => {
    this.#orders.push({ do: 'request', parameters });
    return this.#until((news) => {
      if (news.on !== 'body') return undefined;
      return parameters.responseType === 'json' ? JSON.parse(news.text) : news.text;
    });
  };

  async #until<Result>(decode: Decode<News, Result>): Promise<Result> {
    for (let next = this.#news.next(); next.done !== true; next = this.#news.next()) {
      const result = decode(next.value);
      if (result !== undefined) return result;
    }
    this.#wait();
    return new Promise(() => {});
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

/** Protocols use at most 32 bits for counts. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined if it isn't one. Some protocols return numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/** The maximum number of players; undefined if it isn't a limit. Servers without one report 0, -1 or something huge. */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}

function playersOf({ players, bots: given, maxPlayers, isHidden = false }: Counts): Players {
  if (isHidden) return {};
  const count = toCount(players);
  const bots = toCount(given);
  const limit = toLimit(maxPlayers);
  if (count === undefined) throw new Unreadable('the response contains no player count');
  // Some servers don't count their bots as players.
  const people = bots === undefined || bots > count ? count : count - bots;
  return {
    players: people,
    ...(bots !== undefined && { bots }),
    ...(limit !== undefined && { playersMax: limit }),
  };
}
