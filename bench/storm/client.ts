// The baseline of the benchmark `storm`: a bare client that streams all servers, and reconnects.

import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { readToken } from './token.ts';

/** The maximum number of concurrent calls, as in the exporter. */
const CONCURRENCY = 8;

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
const HANDSHAKE_MS = 10_000;

interface ClientOptions {
  readonly url: string;
  readonly apiKey: string;
}

interface Credentials {
  readonly token: string;
  readonly socket: string;
}

/**
 * Opens a socket to every listed server, reads from it, renews tokens, and reconnects with
 * exponential back-off.
 */
export async function start({ url, apiKey }: ClientOptions) {
  const call = callerOf(url, apiKey);
  const latest = new Map<string, unknown>();
  const keep = async (uuid: string): Promise<never> => {
    let credentials: Credentials | undefined;
    for (let failures = 0; ; failures += 1) {
      const wasStreaming = await (async () => {
        try {
          credentials ??= await credentialsOf(call, uuid);
          return await stream(
            credentials,
            url,
            async () => (await credentialsOf(call, uuid)).token,
            (stats) => latest.set(uuid, stats),
          );
        } catch {
          return false;
        }
      })();
      if (wasStreaming) failures = 0;
      // A token isn't used again if the node may have refused it.
      else credentials = undefined;
      const gapMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
      await delay(gapMs * (0.5 + Math.random() / 2));
      if (credentials !== undefined && (readToken(credentials.token)?.expiresAtMs ?? 0) <= Date.now())
        credentials = undefined;
    }
  };
  for (const uuid of await listedServers(call)) void keep(uuid);
  return {};
}

type Call = (path: string) => Promise<unknown>;

async function credentialsOf(call: Call, uuid: string): Promise<Credentials> {
  return ((await call(`/api/client/servers/${uuid}/websocket`)) as { data: Credentials }).data;
}

interface ListPage {
  readonly data: readonly { readonly attributes: { readonly uuid: string } }[];
  readonly meta: { readonly pagination: { readonly total_pages: number } };
}

async function listedServers(call: Call): Promise<readonly string[]> {
  const servers: string[] = [];
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const { data, meta } = (await call(`/api/client?per_page=100&page=${page}`)) as ListPage;
    servers.push(...data.map(({ attributes }) => attributes.uuid));
    pages = meta.pagination.total_pages;
  }
  return servers;
}

/** Streams until the socket is closed. Resolves with whether it received stats. */
function stream(
  { token, socket }: Credentials,
  origin: string,
  renew: () => Promise<string>,
  take: (stats: unknown) => void,
): Promise<boolean> {
  const ws = new WebSocket(socket, {
    origin,
    perMessageDeflate: false,
    followRedirects: false,
    skipUTF8Validation: true,
    handshakeTimeout: HANDSHAKE_MS,
    rejectUnauthorized: false,
  });
  return new Promise((resolve) => {
    let isStreaming = false;
    let renewal: NodeJS.Timeout | undefined;
    const send = (sent: string) => {
      ws.send(JSON.stringify({ event: 'auth', args: [sent] }));
      const leftMs = (readToken(sent)?.expiresAtMs ?? 0) - Date.now();
      const again = () => void renew().then(send, () => undefined);
      renewal = setTimeout(again, Math.min(leftMs * (0.75 + 0.15 * Math.random()), 2 ** 31 - 1));
    };
    ws.on('open', () => send(token));
    ws.on('message', (data: Buffer) => {
      const { event, args } = JSON.parse(data.toString()) as { event: string; args: readonly [string] };
      if (event === 'stats') {
        isStreaming = true;
        take(JSON.parse(args[0]));
      } else if (event === 'jwt error') ws.terminate();
    });
    ws.on('error', () => undefined);
    ws.on('close', () => {
      clearTimeout(renewal);
      resolve(isStreaming);
    });
  });
}

/**
 * Makes up to eight calls at a time, and waits after a 429 as long as the response says. Rejects on
 * any other failure.
 */
function callerOf(url: string, apiKey: string): Call {
  const isSecure = url.startsWith('https:');
  const sockets = { keepAlive: true, maxSockets: CONCURRENCY };
  const agent = isSecure ? new HttpsAgent({ ...sockets, rejectUnauthorized: false }) : new HttpAgent(sockets);
  const get = isSecure ? httpsGet : httpGet;
  const headers = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` };
  let pausedUntil = 0;
  const waiting: (() => void)[] = [];
  let running = 0;
  const seat = async () => {
    if (running >= CONCURRENCY) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const free = () => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return async (path) => {
    await seat();
    try {
      for (;;) {
        await delay(Math.max(0, pausedUntil - Date.now()));
        const response = await new Promise<IncomingMessage>((resolve, reject) => {
          get(`${url}${path}`, { agent, headers }, resolve).on('error', reject);
        });
        const body = await text(response);
        if (response.statusCode === 200) return JSON.parse(body);
        if (response.statusCode !== 429) throw new Error(`status ${response.statusCode}`);
        pausedUntil = Date.now() + Number(response.headers['retry-after'] ?? 60) * 1_000;
      }
    } finally {
      free();
    }
  };
}
