// A panel with many nodes that needs less CPU time than the measured clients.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { eventFrame, statsPayload } from '../../src/simulator/frames.ts';
import { ConsoleSocket } from './console-socket.ts';
import { type StormServer, stormFleet } from './fleet.ts';
import { switchingProtocols, textFrame } from './frames.ts';
import { gameUsage } from './game-usage.ts';
import { Listener, type Tls } from './listener.ts';
import { type CallCounts, PanelApi } from './panel-api.ts';

export interface StormPanelOptions {
  readonly servers: number;
  readonly nodes: number;
  readonly limitPerMinute: number;
  readonly tokenLifetimeSeconds: number;
  readonly tls?: Tls | undefined;
}

export type StormPanelProgram = Awaited<ReturnType<typeof start>>;

/** The panel's counts since its start. */
export interface PanelCounts extends CallCounts {
  /** Requests for a console socket that reached a node. */
  readonly upgrades: number;
  readonly streaming: number;
}

/** The nodes that respond to upgrades with 502, like a proxy whose daemon is down. */
export type Refusing = 'none' | 'one' | 'all';

const SECOND_MS = 1_000;
/**
 * The number of slices of a second in which stats are sent, because real nodes don't send all of
 * them at once.
 */
const SLICES = 50;

const REFUSED =
  'HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\nBad Gateway';

export async function start(options: StormPanelOptions) {
  const servers = stormFleet(options.servers, options.nodes);
  const byPath = new Map(servers.map((server) => [`/api/servers/${server.uuid}/ws`, server]));
  /** The open sockets, by the slice of a second in which they get their stats. */
  const slices = Array.from({ length: SLICES }, () => new Map<StormServer, ConsoleSocket>());
  const sliceOf = new Map(servers.map((server, place) => [server, slices[place % SLICES] ?? new Map()]));
  const unreachable = new Set<StormServer>();
  let refusing: Refusing = 'none';
  let validSinceMs = 0;
  let upgrades = 0;

  const stats = () =>
    textFrame(
      eventFrame('stats', [
        statsPayload('running', gameUsage(), { panel: 'pterodactyl', statsDiskIo: true }),
      ]),
    );
  const upgrade = (node: number) => (request: IncomingMessage, stream: Duplex) => {
    upgrades += 1;
    stream.on('error', () => stream.destroy());
    const server = byPath.get(request.url ?? '');
    if (refusing === 'all' || (refusing === 'one' && node === 0)) stream.end(REFUSED);
    else if (server === undefined || server.node !== node) stream.destroy();
    // The node of an unreachable server never responds.
    else if (!unreachable.has(server)) {
      stream.write(switchingProtocols(request.headers['sec-websocket-key'] ?? ''));
      const sockets = sliceOf.get(server) ?? new Map();
      sockets.get(server)?.drop();
      const socket: ConsoleSocket = new ConsoleSocket(stream, {
        server: server.uuid,
        validSinceMs,
        stats,
        closed: () => {
          if (sockets.get(server) === socket) sockets.delete(server);
        },
      });
      sockets.set(server, socket);
    }
  };

  const api = new PanelApi(options.limitPerMinute, {
    servers,
    tokenLifetimeSeconds: options.tokenLifetimeSeconds,
    socketUrl: ({ uuid, node }) => `${nodes[node]?.url('ws')}/api/servers/${uuid}/ws`,
  });
  const panel = new Listener(options.tls, (request, response) => api.handle(request, response));
  const nodes = Array.from({ length: options.nodes }, (_, node) => {
    const listener = new Listener(options.tls, (_request, response) => void response.writeHead(404).end());
    listener.server.on('upgrade', upgrade(node));
    return listener;
  });
  const listeners = [panel, ...nodes];
  await Promise.all(listeners.map((listener) => listener.open()));

  let turn = 0;
  setInterval(() => {
    turn += 1;
    const [frame, now] = [stats(), Date.now()];
    for (const socket of slices[turn % SLICES]?.values() ?? []) socket.tick(frame, now);
  }, SECOND_MS / SLICES);

  const drop = (isMeant: (server: StormServer) => boolean): void => {
    for (const sockets of slices) for (const [server, socket] of sockets) if (isMeant(server)) socket.drop();
  };
  return {
    address: () => ({ url: panel.url('http'), apiKey: api.apiKey }),
    counts: (): PanelCounts => ({
      ...api.counts,
      upgrades,
      streaming: streamingIn(slices),
    }),
    dropAll: (): void => drop(() => true),
    /** Lets these nodes drop their sockets and refuse new ones. */
    refuse: (which: Refusing): void => {
      refusing = which;
      drop(({ node }) => which === 'all' || (which === 'one' && node === 0));
    },
    /**
     * Cuts off half of the first node's servers, or connects them again. Their sockets are lost,
     * and new ones get no response.
     */
    cutHalfOfNode: (isCut: boolean): void => {
      const ofNode = servers.filter(({ node }) => node === 0);
      unreachable.clear();
      if (!isCut) return;
      for (const server of ofNode.slice(0, Math.ceil(ofNode.length / 2))) unreachable.add(server);
      drop((server) => unreachable.has(server));
    },
    /** Closes the panel, the nodes and all connections. Tokens from before `reopen` are invalid. */
    close: async (): Promise<void> => void (await Promise.all(listeners.map((listener) => listener.close()))),
    reopen: async (): Promise<void> => {
      validSinceMs = Date.now();
      await Promise.all(listeners.map((listener) => listener.open()));
    },
    setKeyValid: (isValid: boolean): void => {
      api.isKeyValid = isValid;
    },
    setLimit: (perMinute: number): void => {
      api.limitPerMinute = perMinute;
    },
    rename: (count: number): void => api.rename(count),
  };
}

function streamingIn(slices: readonly ReadonlyMap<StormServer, ConsoleSocket>[]): number {
  let count = 0;
  for (const sockets of slices) for (const { isStreaming } of sockets.values()) if (isStreaming) count += 1;
  return count;
}
