// The node of the benchmark `connect`: accepts every token, and sends `stats` on request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

export type NodeProgram = Awaited<ReturnType<typeof start>>;

export interface NodeOptions {
  /** PEM certificate and key; without them, connections are unencrypted. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

const STATS = {
  memory_bytes: 1_887_436_800,
  memory_limit_bytes: 4_294_967_296,
  cpu_absolute: 42.317,
  network: { rx_bytes: 123_456_789, tx_bytes: 987_654_321 },
  uptime: 3_600_000,
  state: 'running',
  disk_bytes: 5_368_709_120,
};

const FRAMES = {
  authenticated: JSON.stringify({ event: 'auth success' }),
  status: JSON.stringify({ event: 'status', args: ['running'] }),
  stats: JSON.stringify({ event: 'stats', args: [JSON.stringify(STATS)] }),
};

/** The maximum number of connections that wait to be accepted. All servers connect at once. */
const BACKLOG = 16_384;

export async function start({ tls }: NodeOptions) {
  const http = tls === undefined ? createServer() : createTlsServer(tls);
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false });
  sockets.on('connection', (ws) => {
    ws.on('message', (data: Buffer) => {
      if (data.includes('send stats')) return ws.send(FRAMES.stats);
      ws.send(FRAMES.authenticated);
      ws.send(FRAMES.status);
    });
    ws.on('error', () => undefined);
  });
  http.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG });
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  return {
    url: () => `${tls === undefined ? 'ws' : 'wss'}://localhost:${port}`,
    /** Ends all connections without a close frame. */
    drop: () => {
      for (const ws of sockets.clients) ws.terminate();
    },
  };
}
