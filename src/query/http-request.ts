import { type IncomingMessage, request as requestHttp } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HttpParameters } from 'gamedig';
import { AttemptError } from './client.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/** Interim answers (1xx) accepted before the final answer. */
const MAX_INTERIM = 8;

/** Counts a piece of the body; false if it is one too many. */
type Count = (piece: Buffer) => boolean;

/**
 * The body of one HTTP request as an attempt may make it, instead of the library's own client: over a connection to the attempt's
 * address, wherever the URL points; redirects are not followed, nothing is decompressed, and headers and body are bounded.
 *
 * @throws AttemptError if the answer is anything but a 200 in plain text
 */
export async function requestOver(
  connection: Socket,
  { url, method = 'GET', headers = {}, json }: HttpParameters,
  count: Count,
): Promise<string> {
  const { protocol, host, pathname, search } = new URL(url);
  const body = json === undefined ? undefined : JSON.stringify(json);
  // Game servers use self-signed certificates. Nothing secret is sent.
  const isEncrypted = protocol === 'https:';
  const channel = isEncrypted ? connectTls({ socket: connection, rejectUnauthorized: false }) : connection;
  const options = {
    path: `${pathname}${search}`,
    method,
    headers: { ...headers, host, 'accept-encoding': 'identity', connection: 'close' },
  };
  return readBody(await answerTo(channel, options, body), count);
}

interface RequestOptions {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

function answerTo(
  channel: Socket,
  options: RequestOptions,
  body: string | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    const request = requestHttp({
      ...options,
      createConnection: () => channel,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    request.on('error', () => reject(wrong('the answer is not HTTP')));
    request.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM) reject(wrong('the answer is not HTTP'));
    });
    request.on('response', (response) => {
      const { statusCode, headers } = response;
      // A response that is no longer read can still fail.
      response.on('error', () => {});
      if (statusCode !== 200) reject(wrong(`HTTP status ${statusCode}`));
      else if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
        reject(wrong('the answer is compressed'));
      else resolve(response);
    });
    request.end(body);
  });
}

function readBody(response: IncomingMessage, count: Count): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => {
      if (count(piece)) pieces.push(piece);
    });
    response.on('end', () => resolve(Buffer.concat(pieces).toString('utf8')));
    response.on('close', () => reject(wrong('the connection was closed without a complete answer')));
  });
}

function wrong(message: string): AttemptError {
  return new AttemptError('query_wrong_protocol', message);
}
