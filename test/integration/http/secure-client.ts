import { type Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import type { SecureVersion } from 'node:tls';

/** The properties of a client. */
export interface Client {
  readonly ca?: string;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly version?: SecureVersion;
  readonly ciphers?: string;
  readonly method?: string;
  /** An exact path, instead of the one in the URL. */
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly agent?: Agent | HttpAgent;
}

/** A complete response. */
export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The body as it was sent, without decompression. */
  readonly bytes: Buffer;
}

/** Sends a request. Without an agent, it uses a new connection. */
export function get(url: string, client: Client = {}): Promise<Answer> {
  const { version, headers = {}, agent = false, ...rest } = client;
  return new Promise((resolve, reject) => {
    const versions = version === undefined ? {} : { minVersion: version, maxVersion: version };
    const options = { ...rest, ...versions, headers, agent };
    const sent = (url.startsWith('https:') ? request : httpRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: response.statusCode, headers: response.headers, body: bytes.toString(), bytes });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The status of the response, or `refused` if there is none. */
export async function statusOf(url: string, client: Client = {}): Promise<number | 'refused' | undefined> {
  try {
    return (await get(url, client)).status;
  } catch {
    return 'refused';
  }
}

/** The Authorization header of the Basic scheme. */
export function basic(user: string, password: string): { readonly Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
