// Network access for query protocols, restricted to the queried server.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { connect, isIPv6, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { QueryError, type Way } from './query-model.ts';
import { complete, ResponseReader, type ResponseReaderOptions } from './response-reader.ts';

const RESENDS = 2;

/**
 * The network for a protocol, until the scope aborts. It has the methods and parameters of the
 * library's base class. The library's own methods accept datagrams of any size and number, follow
 * redirects, and don't notice that a port is closed.
 */
export class Network {
  /** Rejects when the query fails, with the reason. */
  readonly failure: Promise<never>;
  readonly #way: Way;
  readonly #signal: AbortSignal;
  readonly #reader: ResponseReader;
  #where: string;
  #udp: Promise<UdpSocket> | undefined;

  constructor(way: Way, scope: AbortController, options: ResponseReaderOptions) {
    this.#way = way;
    this.#signal = scope.signal;
    this.#reader = new ResponseReader(scope, options);
    this.#where = `port ${way.port}`;
    this.failure = this.#reader.failure;
  }

  /** The address and the port used last, for messages. */
  place(): string {
    return `${this.#way.ip}, ${this.#where}`;
  }

  /**
   * Sends a datagram. Resolves with the result of `onDatagram` for a received datagram, or of
   * `onSilence` if there is none, once that isn't undefined. Without either, it doesn't wait.
   */
  async udpSend<Result>(
    request: Buffer | string,
    onDatagram?: (datagram: Buffer) => Result | undefined,
    onSilence?: () => Result | undefined,
  ): Promise<Result> {
    this.#begin('UDP');
    const socket = await (this.#udp ??= this.#openUdp());
    const reader = this.#reader;
    const bytes = typeof request === 'string' ? Buffer.from(request, 'latin1') : request;
    const send = () => socket.send(bytes, (error) => error !== null && reader.broken(error));
    let resends = RESENDS;
    send();
    if (onDatagram === undefined) return null as Result;
    reader.awaitDatagram();
    return reader.until((datagram) => {
      const result = datagram === undefined ? onSilence?.() : onDatagram(datagram);
      if (datagram === undefined && result === undefined && resends-- > 0) send();
      if (result === undefined) reader.awaitDatagram();
      return result;
    });
  }

  /** Connects, by default to the server's port. */
  async withTcp<Result>(
    talk: (connection: Socket) => Promise<Result>,
    port = this.#way.port,
  ): Promise<Result> {
    this.#begin('TCP', port);
    const reader = this.#reader;
    const connection = connect({ host: this.#way.ip, port, noDelay: true, signal: this.#signal });
    reader.followConnection(connection);
    connection.on('data', (bytes: Buffer) => reader.decode(bytes));
    // An established connection is closed after the error.
    connection.on('error', (error) => reader.isConnected || reader.broken(error));
    connection.once('close', () => reader.decode(undefined));
    return talk(connection);
  }

  /**
   * Sends bytes. Resolves with the result of `onBytes` for all bytes received since, once that
   * isn't undefined.
   */
  tcpSend<Result>(
    connection: Socket,
    request: Buffer | string,
    onBytes: (bytes: Buffer) => Result | undefined,
  ): Promise<Result> {
    connection.write(request);
    let all = Buffer.alloc(0);
    return this.#reader.until((bytes) => {
      all = Buffer.concat([all, complete(bytes)]);
      return onBytes(all);
    });
  }

  /**
   * The JSON of an HTTP response. Redirects are not followed, nothing is decompressed, and the
   * request is sent to the server's address regardless of the host in its URL.
   */
  request(
    parameters: http.RequestOptions & { readonly url: string; readonly json?: unknown },
  ): Promise<unknown> {
    this.#begin('TCP');
    const reader = this.#reader;
    const { method, headers, json } = parameters;
    const { protocol, host, pathname, search } = new URL(parameters.url);
    const sent = (protocol === 'https:' ? https : http).request({
      host: this.#way.ip,
      port: this.#way.port,
      path: `${pathname}${search}`,
      method,
      headers: { ...(headers as http.OutgoingHttpHeaders), host, 'accept-encoding': 'identity' },
      agent: false,
      // Game servers use self-signed certificates, and nothing secret is sent.
      rejectUnauthorized: false,
      signal: this.#signal,
    });
    sent.on('socket', (connection) => reader.followConnection(connection));
    sent.on('error', (error) =>
      reader.isConnected ? reader.fail('the response is not HTTP') : reader.broken(error),
    );
    sent.on('response', (response) => {
      const { statusCode, headers: given } = response;
      if (statusCode !== 200) reader.fail(`HTTP status ${statusCode}`);
      if ((given['content-encoding'] ?? 'identity') !== 'identity') reader.fail('the response is compressed');
      buffer(response).then(
        (bytes) => reader.decode(bytes),
        () => reader.decode(undefined),
      );
    });
    sent.end(json === undefined ? undefined : JSON.stringify(json));
    return reader.until<unknown>((bytes) => JSON.parse(complete(bytes).toString()));
  }

  #begin(kind: 'UDP' | 'TCP', port = this.#way.port): void {
    const { port: own, queryPort } = this.#way;
    if (this.#signal.aborted || (port !== own && port !== queryPort)) throw new QueryError();
    this.#where = `${kind} port ${port}`;
  }

  /**
   * A socket that is connected to the server, so that the kernel drops datagrams from other
   * addresses and ports.
   */
  async #openUdp(): Promise<UdpSocket> {
    const { ip, port } = this.#way;
    const socket = createSocket({ type: isIPv6(ip) ? 'udp6' : 'udp4', signal: this.#signal });
    this.#reader.readDatagrams(socket);
    socket.connect(port, ip);
    await once(socket, 'connect');
    return socket;
  }
}
