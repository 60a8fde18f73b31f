import { randomBytes } from 'node:crypto';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import http from 'node:http';
import https from 'node:https';
import { connect, isIPv6, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { QueryReading } from '../domain/reading.ts';
import type { QueryFailure, Way } from './client.ts';
import {
  type HttpParameters,
  MAX_ANSWER_BYTES,
  type News,
  type Order,
  type Players,
  type Server,
  type Step,
} from './protocol.ts';

/** A datagram without a response is sent again after this time, because datagrams get lost. */
const RESEND_MS = 1_000;
const RESENDS = 2;

/** After this time without a datagram, a response of any number of datagrams counts as complete, and an optional one as omitted. */
const SILENCE_MS = 800;

/** What one exchange accepts of each kind, besides its bytes. The system buffers about 250 datagrams. */
const MAX_RECEIVED = { datagrams: 128, pieces: 1_024 } as const;

/** What exchanges depend on. */
export interface ExchangeOptions {
  readonly clock: Clock;
  /** Runs the protocol with the news so far; rejects only if queries are impossible. */
  readonly run: (
    protocol: string,
    server: Server,
    news: readonly News[],
    signal: AbortSignal,
  ) => Promise<Step>;
  /** Does this port of the address belong to another server? Nothing is sent there. */
  readonly isTaken?: ((port: number) => boolean) | undefined;
}

type Answer = Players & Pick<QueryReading, 'answeredAt'>;

/** Queries a server in one way, until its protocol ends, the network fails or the signal aborts. */
export async function exchange(
  { protocol, ...server }: Way & Pick<Server, 'hostname'>,
  options: ExchangeOptions,
  signal: AbortSignal,
): Promise<Answer | QueryFailure> {
  const asked = { ...server, token: randomBytes(4) };
  const sockets = new Sockets(asked, options);
  const abort = () => sockets.abort();
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const talk = async (): Promise<Answer> => {
    for (let done = 0; ; ) {
      const { length } = sockets.news;
      const step = await options.run(protocol, asked, sockets.news.slice(), signal);
      if (step.unreadable !== undefined) sockets.fail('query_wrong_protocol', step.unreadable);
      if (step.players !== undefined)
        return { ...step.players, answeredAt: `${sockets.place} (${protocol})` };
      sockets.obey(step.orders.slice(done));
      done = step.orders.length;
      await sockets.newsAfter(length);
    }
  };
  try {
    return await Promise.race([sockets.failure, talk()]);
  } finally {
    signal.removeEventListener('abort', abort);
    sockets.close();
  }
}

/**
 * Sockets to one address, with bounded responses. The library's own would accept datagrams of any sender, size and number, follow
 * redirects, and not notice that a port is closed. So nothing that runs a protocol has a socket.
 *
 * A UDP socket is connected to the server, so that the kernel drops datagrams from any other address or port.
 */
class Sockets {
  readonly news: News[] = [];
  readonly failure: Promise<QueryFailure>;
  readonly #server: Server;
  readonly #options: ExchangeOptions;
  #end: (failure: QueryFailure) => void = () => {};
  #wake = () => {};
  #udp: { readonly socket: UdpSocket; readonly isReady: Promise<unknown> } | undefined;
  /** A connection, or an HTTP request. */
  #tcp: { readonly destroy: () => void; readonly write: (bytes: Uint8Array) => void } | undefined;
  #timers: Cancel[] = [];
  #hasSilence = false;
  readonly #received = { bytes: 0, datagrams: 0, pieces: 0 };
  #isConnected = false;
  /** The protocol understood a response, and went on. */
  #isRead = false;
  #isClosed = false;
  /** Where the protocol asks, in words. */
  #where: string;

  constructor(server: Server, options: ExchangeOptions) {
    this.#server = server;
    this.#options = options;
    this.#where = `port ${server.port}`;
    this.failure = new Promise((resolve) => (this.#end = resolve));
  }

  get place(): string {
    return `${this.#server.ip}, ${this.#where}`;
  }

  fail(cause: QueryFailure['cause'], words: string): void {
    this.#end({ cause, detail: `${this.place}: ${words}` });
    this.close();
  }

  /** Ends the exchange, with what is known by then. */
  abort(): void {
    const { bytes, datagrams } = this.#received;
    if (datagrams > 0 && !this.#isRead)
      this.fail('query_wrong_protocol', "responded, but not in the game's protocol");
    else if (bytes > 0) this.fail('query_timed_out', 'the response was not complete in time');
    else if (this.#isConnected) this.fail('query_timed_out', 'connected, but received no response');
    else this.fail('query_no_answer', 'no response');
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimers();
    this.#udp?.socket.close();
    this.#udp = undefined;
    this.#tcp?.destroy();
  }

  /** Resolves when there is more news than this; never after the end. */
  async newsAfter(count: number): Promise<void> {
    if (this.news.length <= count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  obey(orders: readonly Order[]): void {
    for (const order of orders) {
      if (this.#isClosed) return;
      this.#isRead ||= this.#received.bytes > 0 && this.news.at(-1)?.on !== 'silence';
      const port = order.do === 'connect' ? (order.port ?? this.#server.port) : this.#server.port;
      if (order.do !== 'write') this.#where = `${order.do === 'send' ? 'UDP' : 'TCP'} port ${port}`;
      if (this.#options.isTaken?.(port) === true) this.fail('query_no_answer', 'belongs to another server');
      else if (order.do === 'send') this.#send(order);
      else if (order.do === 'connect') this.#connect(port);
      else if (order.do === 'request') this.#request(order.parameters);
      else this.#tcp?.write(order.bytes);
    }
  }

  #send({ bytes, awaits, hasSilence }: Extract<Order, { do: 'send' }>): void {
    this.#cancelTimers();
    this.#udp ??= this.#openUdp();
    const { socket, isReady } = this.#udp;
    const write = () => socket.send(bytes, (error) => error !== null && this.#broken(error));
    const send = () => void isReady.then(() => this.#isClosed || write());
    send();
    this.#hasSilence = hasSilence;
    const resends = awaits ? RESENDS : 0;
    for (let time = 1; time <= resends; time += 1) this.#after(time * RESEND_MS, send);
    this.#awaitSilence();
  }

  #openUdp() {
    const { ip, port } = this.#server;
    const socket = createSocket(isIPv6(ip) ? 'udp6' : 'udp4');
    const isReady = new Promise((resolve) => socket.once('connect', resolve));
    socket.on('error', (error) => this.#broken(error));
    socket.on('message', (bytes) => {
      this.#cancelTimers();
      this.#count('datagrams', bytes);
      this.#tell({ on: 'received', bytes });
      this.#awaitSilence();
    });
    socket.connect(port, ip);
    return { socket, isReady };
  }

  #connect(port: number): void {
    this.#tcp?.destroy();
    const connection = connect({ host: this.#server.ip, port, noDelay: true });
    this.#tcp = connection;
    this.#watch(connection);
    connection.on('data', (bytes) => this.#tcp === connection && this.#tell({ on: 'received', bytes }));
    // An established connection is closed after the error, and one that is no longer needed can still fail.
    connection.on('error', (error) => {
      if (this.#tcp === connection && !this.#isConnected) this.#broken(error);
    });
    connection.once('close', () => this.#tcp === connection && this.#tell({ on: 'closed' }));
  }

  /** Redirects are not followed, nothing is decompressed, and the request goes to the server's address wherever its URL points. */
  #request({ url, method = 'GET', headers = {}, json }: HttpParameters): void {
    const { protocol, host, pathname, search } = new URL(url);
    const { ip, port } = this.#server;
    const path = `${pathname}${search}`;
    const sent = (protocol === 'https:' ? https : http).request({
      host: ip,
      port,
      path,
      method,
      agent: false,
      headers: { ...headers, host, 'accept-encoding': 'identity' },
      // Game servers use self-signed certificates. Nothing secret is sent.
      rejectUnauthorized: false,
    });
    this.#tcp = sent;
    const unreadable = (words: string) => this.#tcp === sent && this.fail('query_wrong_protocol', words);
    sent.on('socket', (socket) => this.#watch(socket));
    sent.on('error', (error) =>
      this.#isConnected ? unreadable('the response is not HTTP') : this.#broken(error),
    );
    sent.on('response', (response) => {
      const { statusCode, headers: given } = response;
      if (statusCode !== 200) unreadable(`HTTP status ${statusCode}`);
      if ((given['content-encoding'] ?? 'identity') !== 'identity') unreadable('the response is compressed');
      text(response).then(
        (body) => this.#tell({ on: 'body', text: body }),
        () => unreadable('the connection was closed without a complete response'),
      );
    });
    sent.end(json === undefined ? undefined : JSON.stringify(json));
  }

  #watch(connection: Socket): void {
    connection.once('connect', () => (this.#isConnected = true));
    connection.on('data', (bytes: Buffer) => this.#count('pieces', bytes));
  }

  #tell(news: News): void {
    if (this.#isClosed) return;
    this.news.push(news);
    this.#wake();
  }

  /** Counts what was received; if it is too much, the exchange ends. */
  #count(kind: keyof typeof MAX_RECEIVED, { length }: Uint8Array): void {
    const received = this.#received;
    received.bytes += length;
    received[kind] += 1;
    if (received.bytes > MAX_ANSWER_BYTES || received[kind] > MAX_RECEIVED[kind])
      this.fail('query_wrong_protocol', 'the response is too long');
  }

  #broken({ code = 'closed' }: NodeJS.ErrnoException): void {
    if (this.#received.bytes > 0)
      this.fail('query_wrong_protocol', 'the connection was closed without a complete response');
    else if (code === 'ECONNREFUSED') this.fail('query_refused', 'nothing listens on the port');
    else this.fail('query_no_answer', `unreachable (${code})`);
  }

  #awaitSilence(): void {
    if (this.#hasSilence) this.#after(SILENCE_MS, () => this.#tell({ on: 'silence' }));
  }

  #after(delayMs: number, run: () => void): void {
    if (!this.#isClosed) this.#timers.push(this.#options.clock.schedule(delayMs, run));
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers.splice(0)) cancel();
  }
}
