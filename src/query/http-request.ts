import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type HttpParameters, Unreadable } from './network.ts';

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * The body of one HTTP request as an attempt may make it, instead of the library's own client: over a connection to the attempt's
 * address, wherever the URL points. Redirects are not followed, and nothing is decompressed; the attempt limits what is received.
 *
 * @throws Unreadable if the response is anything but a 200 in plain text
 */
export async function requestOver(
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
