import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, isIPv6, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Players, QueryFailure, QueryTarget } from './client.ts';
import {
  type HttpParameters,
  MAX_ANSWER_BYTES,
  type News,
  type Order,
  type RunProtocol,
  Unreadable,
} from './network.ts';
import type { Way } from './types.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * The body of one HTTP request as an attempt may make it, instead of the library's own client: over a connection to the attempt's
 * address, wherever the URL points. Redirects are not followed, and nothing is decompressed; the attempt limits what is received.
 *
 * @throws Unreadable if the response is anything but a 200 in plain text
 */
async function requestOver(
  connection: Socket,
  { url, method = 'GET', headers = {}, json }: HttpParameters,
): Promise<string> {
  const { host, pathname, search } = new URL(url);
  const sent = request({
    path: `${pathname}${search}`,
    method,
    headers: { ...headers, host, 'accept-encoding': 'identity', connection: 'close' },
    createConnection: () => connection,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  // A request that is no longer needed can still fail.
  sent.on('error', () => {});
  sent.end(json === undefined ? undefined : JSON.stringify(json));
  const [response] = (await once(sent, 'response').catch(() => {
    throw new Unreadable('the response is not HTTP');
  })) as [IncomingMessage];
  response.on('error', () => {});
  const { 'content-encoding': encoding = 'identity' } = response.headers;
  if (response.statusCode !== 200) throw new Unreadable(`HTTP status ${response.statusCode}`);
  if (encoding !== 'identity') throw new Unreadable('the response is compressed');
  return text(response).catch(() => {
    throw new Unreadable('the connection was closed without a complete response');
  });
}

/** A datagram without a response is sent again after this time, because datagrams get lost. */
const RESEND_MS = 1_000;
const RESENDS = 2;

/** After this time without a datagram, a response of any number of datagrams counts as complete, and an optional one as omitted. */
const SILENCE_MS = 800;

/** What one attempt accepts from a server. */
const MAX_RECEIVED = {
  bytes: MAX_ANSWER_BYTES,
  /** The system buffers about 250. */
  datagrams: 128,
  /** Protocols examine everything that a connection received whenever more arrives. */
  pieces: 1_024,
} as const;

/** What attempts depend on. */
export interface AttemptOptions {
  readonly clock: Clock;
  readonly run: RunProtocol;
}

type Result = Players | QueryFailure;

/**
 * Queries a server in one way: carries out what the protocol orders, with sockets to one address, no names, and bounded responses. The
 * library's own sockets would accept datagrams of any sender, size and number, and wouldn't notice that a port is closed. They would
 * also belong to the decoding thread, and a thread that ends while one of its sockets receives data would end the process.
 *
 * A UDP socket is connected to the server, so that the kernel drops datagrams from any other address or port.
 */
export class Attempt {
  /** Rejects only if queries are impossible. */
  readonly result: Promise<Result>;
  readonly #target: QueryTarget;
  readonly #port: number;
  readonly #protocol: string;
  readonly #clock: Clock;
  readonly #tell: (news: News) => void;
  #resolve: (result: Result | Promise<never>) => void = () => {};
  #udp: UdpSocket | undefined;
  #isUdpReady = false;
  #connection: Socket | undefined;
  #timers: Cancel[] = [];
  #hasSilence = false;
  #received = { bytes: 0, datagrams: 0, pieces: 0 };
  #isConnected = false;
  /** The protocol understood a response, and went on. */
  #isRead = false;
  #isOver = false;
  /** Where the protocol asks, in words. */
  #where: string;

  constructor(
    target: QueryTarget,
    { protocol, port }: Way,
    { clock, run }: AttemptOptions,
    signal: AbortSignal,
  ) {
    this.#target = target;
    this.#protocol = protocol;
    this.#port = port;
    this.#where = `port ${port}`;
    this.#clock = clock;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const { ip, hostname } = target;
    const start = { on: 'start', protocol, server: { ip, hostname, port } } as const;
    this.#tell = run(start, (order) => this.#isOver || this.#obey(order));
    signal.addEventListener('abort', () => this.#abort());
    if (signal.aborted) this.#abort();
  }

  /** Ends the attempt, with what is known by then. */
  #abort(): void {
    const { bytes, datagrams } = this.#received;
    if (datagrams > 0 && !this.#isRead)
      this.#fail('query_wrong_protocol', "responded, but not in the game's protocol");
    else if (bytes > 0) this.#fail('query_timed_out', 'the response was not complete in time');
    else if (this.#isConnected) this.#fail('query_timed_out', 'connected, but received no response');
    else this.#fail('query_no_answer', 'no response');
  }

  #obey(order: Order): void {
    if (order.do === 'answer')
      this.#end({ ...order.players, answeredAt: `${this.#place} (${this.#protocol})` });
    else if (order.do === 'fail') this.#fail('query_wrong_protocol', order.words);
    else if (order.do === 'crash') this.#end(Promise.reject(new Error('the thread for queries ended')));
    else if (order.do === 'restart') this.#close();
    else this.#use(order);
  }

  #use(order: Extract<Order, { do: 'send' | 'connect' | 'write' | 'request' }>): void {
    this.#cancelTimers();
    this.#isRead ||= this.#received.bytes > 0;
    const port = order.do === 'connect' ? (order.port ?? this.#port) : this.#port;
    if (order.do !== 'write') this.#where = `${order.do === 'send' ? 'UDP' : 'TCP'} port ${port}`;
    if (this.#target.isTaken?.(port) === true) this.#fail('query_no_answer', 'belongs to another server');
    else if (order.do === 'send') this.#send(order);
    else if (order.do === 'connect') this.#talk(port);
    else if (order.do === 'request') void this.#request(order.parameters);
    else if (this.#connection === undefined) this.#tell({ on: 'closed' });
    else this.#connection.write(order.bytes);
  }

  #send({ bytes, awaits, hasSilence }: Extract<Order, { do: 'send' }>): void {
    const socket = this.#udp ?? this.#openUdp();
    const send = () => {
      if (this.#udp === socket) socket.send(bytes, (error) => error !== null && this.#broken(error));
    };
    if (this.#isUdpReady) send();
    else socket.once('connect', send);
    this.#hasSilence = hasSilence;
    const resends = awaits ? RESENDS : 0;
    for (let time = 1; time <= resends; time += 1) this.#after(time * RESEND_MS, send);
    this.#awaitSilence();
  }

  #openUdp(): UdpSocket {
    const socket = createSocket(isIPv6(this.#target.ip) ? 'udp6' : 'udp4');
    this.#udp = socket;
    this.#isUdpReady = false;
    socket.on('error', (error) => this.#broken(error));
    socket.on('message', (bytes) => {
      this.#cancelTimers();
      this.#awaitSilence();
      if (this.#count('datagrams', bytes)) this.#tell({ on: 'received', bytes });
    });
    socket.once('connect', () => {
      this.#isUdpReady = true;
    });
    socket.connect(this.#port, this.#target.ip);
    return socket;
  }

  #talk(port: number): void {
    const connection = this.#connect(port);
    connection.on('data', (bytes) => this.#count('pieces', bytes) && this.#tell({ on: 'received', bytes }));
    connection.once('close', () => {
      if (this.#connection !== connection) return;
      this.#connection = undefined;
      this.#tell({ on: 'closed' });
    });
  }

  async #request(parameters: HttpParameters): Promise<void> {
    const connection = this.#connect(this.#port);
    // Game servers use self-signed certificates. Nothing secret is sent.
    const channel = parameters.url.startsWith('https:')
      ? connectTls({ socket: connection, rejectUnauthorized: false })
      : connection;
    channel.on('data', (bytes: Buffer) => this.#count('pieces', bytes));
    try {
      const text = await requestOver(channel, parameters);
      if (this.#connection !== connection) return;
      this.#disconnect();
      this.#tell({ on: 'body', text });
    } catch (error) {
      if (this.#connection === connection) this.#fail('query_wrong_protocol', (error as Error).message);
    }
  }

  #connect(port: number): Socket {
    this.#disconnect();
    const connection = connect({ host: this.#target.ip, port, noDelay: true });
    this.#connection = connection;
    connection.once('connect', () => {
      this.#isConnected = true;
    });
    // An established connection is closed after the error, and one that is no longer needed can still fail.
    connection.on('error', (error) => {
      if (this.#connection === connection && !this.#isConnected) this.#broken(error);
    });
    return connection;
  }

  /** Counts what was received; if it is too much, ends the attempt and returns false. */
  #count(kind: 'datagrams' | 'pieces', { length }: Uint8Array): boolean {
    if (this.#isOver) return false;
    const received = this.#received;
    received.bytes += length;
    received[kind] += 1;
    const isBounded = received.bytes <= MAX_RECEIVED.bytes && received[kind] <= MAX_RECEIVED[kind];
    if (!isBounded) this.#fail('query_wrong_protocol', 'the response is too long');
    return isBounded;
  }

  #broken(error: NodeJS.ErrnoException): void {
    const { code = 'closed' } = error;
    if (this.#received.bytes > 0)
      this.#fail('query_wrong_protocol', 'the connection was closed without a complete response');
    else if (code === 'ECONNREFUSED') this.#fail('query_refused', 'nothing listens on the port');
    else this.#fail('query_no_answer', `unreachable (${code})`);
  }

  #awaitSilence(): void {
    if (this.#hasSilence) this.#after(SILENCE_MS, () => this.#tell({ on: 'silence' }));
  }

  #after(delayMs: number, run: () => void): void {
    this.#timers.push(this.#clock.schedule(delayMs, run));
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers.splice(0)) cancel();
  }

  get #place(): string {
    return `${this.#target.ip}, ${this.#where}`;
  }

  #fail(cause: QueryFailure['cause'], detail: string): void {
    this.#end({ cause, detail: `${this.#place}: ${detail}` });
  }

  #end(result: Result | Promise<never>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#close();
    this.#tell({ on: 'end' });
    this.#resolve(result);
  }

  /** Closes the sockets, and forgets what was received. */
  #close(): void {
    this.#cancelTimers();
    this.#udp?.close();
    this.#udp = undefined;
    this.#disconnect();
    this.#received = { bytes: 0, datagrams: 0, pieces: 0 };
    this.#isConnected = false;
    this.#isRead = false;
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.destroy();
  }
}
