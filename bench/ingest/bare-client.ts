// The baseline of the benchmark `ingest`: a client that consists of ws and `JSON.parse`.

import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { connect as connectPlain, type NetConnectOpts } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { MAX_FRAME_BYTES } from '../../src/session/frame-reader.ts';
import { type ProcessUsage, type UsageWindow, watchProcess } from '../fleet/process-usage.ts';
import type { PanelAddress } from '../fleet/simulated-panel.ts';
import { type Lateness, lateness } from './lateness.ts';

export type BareClientProgram = Awaited<ReturnType<typeof start>>;

/** The maximum number of concurrent calls, as in the exporter. */
const CONCURRENCY = 8;

interface Credentials {
  readonly token: string;
  readonly socket: string;
}

interface BareClientOptions {
  readonly addressFile: string;
  /** Whether tokens live ten minutes, and are renewed like the exporter's. */
  readonly renewals: boolean;
  /** Whether received bytes are dropped instead of parsed. */
  readonly drops: boolean;
}

const TOKEN_LIVES_MS = 600_000;

/**
 * Does the minimum work to get the same samples with the same libraries: opens sockets like the
 * exporter, authenticates, renews tokens, parses each frame and its payload, and keeps the last
 * sample. There are no deadlines, checks, counts or metrics.
 */
export async function start({ addressFile, renewals, drops }: BareClientOptions) {
  const address = JSON.parse(await readFile(addressFile, 'utf8')) as PanelAddress;
  const { servers } = address;
  const latest: unknown[] = servers.map(() => undefined);
  const receivedAt = new Float64Array(servers.length);
  const fetchCredentials = credentialsClient(address);

  /** Renews the token after this share of its life. */
  const renewAfter = (share: number, ws: WebSocket, uuid: string): void => {
    if (renewals) setTimeout(() => void renew(ws, uuid), share * TOKEN_LIVES_MS);
  };
  const renew = async (ws: WebSocket, uuid: string): Promise<void> => {
    const { token } = await fetchCredentials(uuid);
    ws.send(authOf(token));
    renewAfter(0.75 + 0.15 * Math.random(), ws, uuid);
  };
  const open = async (index: number, uuid: string): Promise<void> => {
    const { token, socket } = await fetchCredentials(uuid);
    const reader = drops ? new DroppingReader(socket.startsWith('wss:')) : undefined;
    const ws = new WebSocket(socket, {
      origin: address.url,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      followRedirects: false,
      skipUTF8Validation: true,
      rejectUnauthorized: false,
      ...(reader !== undefined && { createConnection: (to: object) => reader.connect(to) }),
    });
    await new Promise<void>((resolve, reject) => {
      ws.on('error', reject);
      ws.on('open', () => {
        ws.send(authOf(token));
        if (reader !== undefined) {
          reader.opened();
          resolve();
        }
      });
      ws.on('message', (data: Buffer) => {
        const { event, args } = JSON.parse(data.toString()) as { event: string; args: [string] };
        if (event === 'stats') {
          latest[index] = JSON.parse(args[0]);
          receivedAt[index] = performance.now();
        } else if (event === 'auth success') resolve();
      });
    });
    renewAfter(0.1 + 0.8 * Math.random(), ws, uuid);
  };

  const streaming = inTurn(servers.entries(), ([index, { uuid }]) => open(index, uuid));
  return {
    streaming: () => streaming,
    watch: (window: UsageWindow): Promise<ProcessUsage> => watchProcess(window),
    lateness: (): Lateness => {
      const now = performance.now();
      return lateness(
        latest.map((sample, index) => (sample === undefined ? Infinity : now - (receivedAt[index] ?? 0))),
      );
    },
  };
}

const authOf = (token: string): string => JSON.stringify({ event: 'auth', args: [token] });

/** The buffer into which all sockets are read. */
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Drops everything that a socket receives after the handshake. This measures Node's own part of the
 * work.
 */
class DroppingReader {
  readonly #isSecure: boolean;
  #isOpen = false;

  constructor(isSecure: boolean) {
    this.#isSecure = isSecure;
  }

  /** The function for the option `createConnection` of ws. */
  connect(options: object) {
    const callback = (size: number, buffer: Uint8Array): boolean => {
      if (!this.#isOpen) socket.push(Buffer.from(buffer.subarray(0, size)));
      return true;
    };
    const own = { ...options, path: undefined, onread: { buffer: BUFFER, callback } };
    const socket = this.#isSecure
      ? connectTls(own as ConnectionOptions)
      : connectPlain(own as unknown as NetConnectOpts);
    return socket;
  }

  /** Is called when the handshake is over. */
  opened(): void {
    this.#isOpen = true;
  }
}

function credentialsClient({ url, apiKey }: PanelAddress): (uuid: string) => Promise<Credentials> {
  const secure = url.startsWith('https:');
  const sockets = { keepAlive: true, maxSockets: CONCURRENCY };
  const agent = secure ? new HttpsAgent({ ...sockets, rejectUnauthorized: false }) : new HttpAgent(sockets);
  const get = secure ? httpsGet : httpGet;
  const headers = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` };
  const respond = (uuid: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const path = `/api/client/servers/${uuid}/websocket`;
      const request = get(`${url}${path}`, { agent, headers }, resolve).on('error', (error) => {
        // The panel may close an idle connection at the moment in which it is used again.
        if (request.reusedSocket) resolve(respond(uuid));
        else reject(error);
      });
    });
  return async (uuid) => (JSON.parse(await text(await respond(uuid))) as { data: Credentials }).data;
}

async function inTurn<Item>(items: Iterator<Item>, run: (item: Item) => Promise<void>): Promise<void> {
  const work = async () => {
    for (let next = items.next(); next.done !== true; next = items.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}
