import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';
import { MAX_FRAME_BYTES } from '../../src/session/socket.ts';
import { type ProcessUsage, type UsageWindow, watchProcess } from '../fleet/process-usage.ts';
import type { PanelAddress } from '../fleet/simulated-panel.ts';
import { type Lateness, lateness } from './lateness.ts';

export type BareClientProgram = Awaited<ReturnType<typeof start>>;

/** The same number of concurrent calls as the exporter's. */
const CONCURRENCY = 8;

interface Credentials {
  readonly token: string;
  readonly socket: string;
}

/**
 * The baseline: the minimum work needed to get these samples with these libraries. It opens sockets like the exporter,
 * authenticates, parses each frame and its payload, and keeps the last one. It has no pings, deadlines, refreshes, checks,
 * counts or metrics.
 */
export async function start({ addressFile }: { readonly addressFile: string }) {
  const address = JSON.parse(await readFile(addressFile, 'utf8')) as PanelAddress;
  const { servers } = address;
  const latest: unknown[] = servers.map(() => undefined);
  const receivedAt = new Float64Array(servers.length);
  let frames = 0;
  const fetchCredentials = credentialsClient(address);

  const open = async (index: number, uuid: string): Promise<void> => {
    const { token, socket } = await fetchCredentials(uuid);
    const ws = new WebSocket(socket, {
      origin: address.url,
      perMessageDeflate: false,
      maxPayload: MAX_FRAME_BYTES,
      followRedirects: false,
      skipUTF8Validation: true,
      rejectUnauthorized: false,
    });
    await new Promise<void>((resolve, reject) => {
      ws.on('error', reject);
      ws.on('open', () => ws.send(JSON.stringify({ event: 'auth', args: [token] })));
      ws.on('message', (data: Buffer) => {
        const { event, args } = JSON.parse(data.toString()) as { event: string; args: [string] };
        if (event === 'stats') {
          latest[index] = JSON.parse(args[0]);
          receivedAt[index] = performance.now();
          frames += 1;
        } else if (event === 'auth success') resolve();
      });
    });
  };

  const streaming = inTurn(servers.entries(), ([index, { uuid }]) => open(index, uuid));
  return {
    streaming: () => streaming,
    watch: async (window: UsageWindow): Promise<ProcessUsage & { readonly framesPerSecond: number }> => {
      const before = frames;
      const usage = await watchProcess(window);
      return { ...usage, framesPerSecond: (frames - before) / usage.seconds };
    },
    lateness: (): Lateness => {
      const now = performance.now();
      return lateness(
        latest.map((sample, index) => (sample === undefined ? Infinity : now - (receivedAt[index] ?? 0))),
      );
    },
  };
}

function credentialsClient({ url, apiKey }: PanelAddress): (uuid: string) => Promise<Credentials> {
  const secure = url.startsWith('https:');
  const sockets = { keepAlive: true, maxSockets: CONCURRENCY };
  const agent = secure ? new HttpsAgent({ ...sockets, rejectUnauthorized: false }) : new HttpAgent(sockets);
  const get = secure ? httpsGet : httpGet;
  const headers = { Accept: 'application/json', Authorization: `Bearer ${apiKey}` };
  return async (uuid) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}/api/client/servers/${uuid}/websocket`, { agent, headers }, resolve).on('error', reject);
    });
    return (JSON.parse(await text(response)) as { data: Credentials }).data;
  };
}

async function inTurn<Item>(items: Iterator<Item>, run: (item: Item) => Promise<void>): Promise<void> {
  const work = async () => {
    for (let next = items.next(); next.done !== true; next = items.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}
