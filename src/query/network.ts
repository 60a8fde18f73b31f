// Network access for query protocols, to nothing but the server that is queried.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { connect, isIPv6, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Cancel, Clock } from '../domain/time.ts';
import { QueryError, type Way } from './ways.ts';

/**
 * After this time without a datagram, the request is sent again, because datagrams get lost, or an
 * optional response counts as omitted.
 */
const SILENCE_MS = 800;
const RESENDS = 2;

/**
 * What is read in one way. The longest status of Minecraft has 32,767 characters of up to three
 * bytes.
 */
const MAX_BYTES = 128 * 1024;

/**
 * What a datagram and a piece of a stream count in addition to their bytes. The system buffers
 * about 250 datagrams.
 */
const [DATAGRAM_COST, PIECE_COST] = [1_024, 128];

/** A response that takes more CPU time to decode than this is rejected. */
const MAX_DECODE_MS = 50;
export const TOO_MUCH = 'decoding the response takes too much';

/** What queries in one way depend on. */
export interface NetworkOptions {
  readonly clock: Clock;
  /** Is told when the decoding of a response begins, and when it ends. */
  readonly decoding: (isBusy: boolean) => void;
}

export type Network = ReturnType<typeof networkTo>;

/**
 * The network as a protocol sees it, until the scope aborts: with the methods of the library's base
 * class, whose parameters these are. The library's own would accept datagrams of any size and
 * number, follow redirects, and not notice that a port is closed.
 */
export function networkTo(
  { ip, port: ownPort, queryPort }: Way,
  scope: AbortController,
  { clock, decoding }: NetworkOptions,
) {
  const { signal } = scope;
  let where = `port ${ownPort}`;
  let udp: Promise<UdpSocket> | undefined;
  let [isConnected, isUnderstood, received] = [false, false, 0];
  let stopWaiting: Cancel = () => {};
  /** Takes what is received next; undefined stands for silence, or the end of a connection. */
  let hear: (bytes: Buffer | undefined) => void = () => {};

  const fail = (words: string, cause?: QueryError['failure']) => scope.abort(new QueryError(words, cause));

  /** Rejects at the end, with why the query fails. */
  const failure = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      stopWaiting();
      reject(signal.reason instanceof QueryError ? signal.reason : unanswered());
    });
  });

  const unanswered = () => {
    if (received === 0 && !isConnected) return new QueryError('no response', 'query_no_answer');
    if (udp !== undefined && !isUnderstood)
      return new QueryError("responded, but not in the game's protocol");
    const words =
      received === 0 ? 'connected, but received no response' : 'the response was not complete in time';
    return new QueryError(words, 'query_timed_out');
  };

  const broken = ({ code = 'closed' }: NodeJS.ErrnoException) => {
    if (received > 0) fail(INCOMPLETE);
    else if (code === 'ECONNREFUSED') fail('nothing listens on the port', 'query_refused');
    else fail(`unreachable (${code})`, 'query_no_answer');
  };

  const begin = (kind: 'UDP' | 'TCP', port = ownPort) => {
    if (signal.aborted || (port !== ownPort && port !== queryPort)) throw new QueryError();
    where = `${kind} port ${port}`;
  };

  const count = (bytes: number) => {
    received += bytes;
    if (received > MAX_BYTES) fail('the response is too long');
  };

  const watch = (connection: Socket) => {
    connection.once('connect', () => (isConnected = true));
    connection.on('data', (bytes: Buffer) => count(bytes.length + PIECE_COST));
  };

  /**
   * Decodes in a turn of its own, which includes what the protocol does with the result, so that
   * the time that it takes is known.
   */
  const tell = (bytes: Buffer | undefined) => {
    let busyMs = stopwatch();
    setImmediate(() => {
      busyMs = stopwatch();
      decoding(true);
      if (!signal.aborted) hear(bytes);
    });
    setImmediate(() => {
      decoding(false);
      if (busyMs() > MAX_DECODE_MS) fail(TOO_MUCH);
    });
  };

  const until = <Result>(decode: (bytes: Buffer | undefined) => Result | undefined) =>
    new Promise<Result>((resolve, reject) => {
      hear = (bytes) => {
        try {
          const result = decode(bytes);
          if (result === undefined) return;
          isUnderstood ||= bytes !== undefined;
          stopWaiting();
          resolve(result);
        } catch (error) {
          reject(error);
        }
      };
    });

  /** Connected to the server, so that the kernel drops datagrams from any other address or port. */
  const openUdp = async () => {
    const socket = createSocket({ type: isIPv6(ip) ? 'udp6' : 'udp4', signal });
    socket.on('error', broken);
    socket.on('message', (bytes) => {
      count(bytes.length + DATAGRAM_COST);
      tell(bytes);
    });
    socket.connect(ownPort, ip);
    await once(socket, 'connect');
    return socket;
  };

  return {
    failure,
    place: () => `${ip}, ${where}`,

    /**
     * Sends a datagram; resolves with what `onDatagram` returns for a datagram, or `onSilence`
     * without one, once that isn't undefined. Without either, nothing is waited for.
     */
    udpSend: async <Result>(
      request: Buffer | string,
      onDatagram?: (datagram: Buffer) => Result | undefined,
      onSilence?: () => Result | undefined,
    ): Promise<Result> => {
      begin('UDP');
      const socket = await (udp ??= openUdp());
      const bytes = typeof request === 'string' ? Buffer.from(request, 'latin1') : request;
      const send = () => socket.send(bytes, (error) => error !== null && broken(error));
      const wait = () => {
        stopWaiting();
        stopWaiting = clock.schedule(SILENCE_MS, () => tell(undefined));
      };
      let resends = RESENDS;
      send();
      if (onDatagram === undefined) return null as Result;
      wait();
      return until((datagram) => {
        const result = datagram === undefined ? onSilence?.() : onDatagram(datagram);
        if (datagram === undefined && result === undefined && resends-- > 0) send();
        if (result === undefined) wait();
        return result;
      });
    },

    /** Connects, by default to the server's port. */
    withTcp: async <Result>(
      talk: (connection: Socket) => Promise<Result>,
      port = ownPort,
    ): Promise<Result> => {
      begin('TCP', port);
      const connection = connect({ host: ip, port, noDelay: true, signal });
      watch(connection);
      connection.on('data', tell);
      // An established connection is closed after the error.
      connection.on('error', (error) => isConnected || broken(error));
      connection.once('close', () => tell(undefined));
      return talk(connection);
    },

    /**
     * Sends bytes; resolves with what `onBytes` returns for all bytes received since, once that
     * isn't undefined.
     */
    tcpSend: <Result>(
      connection: Socket,
      request: Buffer | string,
      onBytes: (bytes: Buffer) => Result | undefined,
    ): Promise<Result> => {
      connection.write(request);
      let all = Buffer.alloc(0);
      return until((bytes) => {
        all = Buffer.concat([all, complete(bytes)]);
        return onBytes(all);
      });
    },

    /**
     * The JSON of an HTTP response. Redirects are not followed, nothing is decompressed, and the
     * request goes to the server's address wherever its URL points.
     */
    request: (parameters: http.RequestOptions & { readonly url: string; readonly json?: unknown }) => {
      begin('TCP');
      const { method, headers, json } = parameters;
      const { protocol, host, pathname, search } = new URL(parameters.url);
      const sent = (protocol === 'https:' ? https : http).request({
        host: ip,
        port: ownPort,
        path: `${pathname}${search}`,
        method,
        headers: { ...(headers as http.OutgoingHttpHeaders), host, 'accept-encoding': 'identity' },
        agent: false,
        // Game servers use self-signed certificates. Nothing secret is sent.
        rejectUnauthorized: false,
        signal,
      });
      sent.on('socket', watch);
      sent.on('error', (error) => (isConnected ? fail('the response is not HTTP') : broken(error)));
      sent.on('response', (response) => {
        const { statusCode, headers: given } = response;
        if (statusCode !== 200) fail(`HTTP status ${statusCode}`);
        if ((given['content-encoding'] ?? 'identity') !== 'identity') fail('the response is compressed');
        buffer(response).then(tell, () => tell(undefined));
      });
      sent.end(json === undefined ? undefined : JSON.stringify(json));
      return until<unknown>((bytes) => JSON.parse(complete(bytes).toString()));
    },
  };
}

const INCOMPLETE = 'the connection was closed without a complete response';

function complete(bytes: Buffer | undefined): Buffer {
  if (bytes === undefined) throw new QueryError(INCOMPLETE);
  return bytes;
}

/**
 * How long something is busy, in milliseconds, at most: it may wait for a core, and other threads
 * use CPU time, too.
 */
export function stopwatch(): () => number {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1_000);
  };
}
