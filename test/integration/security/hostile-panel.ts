import type { IncomingMessage, ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { yamlOf } from '../../support/stage.ts';
import { CREDENTIALS, json, RESOURCES, scriptedServer } from '../panel/scripted-server.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server with attacks. Undefined parts behave correctly. */
export interface HostileServer {
  readonly name: string;
  /** The address of the socket in the credentials. */
  readonly socket?: string;
  readonly credentials?: Answer;
  readonly resources?: Answer;
  /** The node's behavior after a socket has opened. */
  readonly node?: (socket: WebSocket) => void;
}

/** A hostile panel, and its node at the same address. */
export interface HostilePanel {
  readonly port: number;
  /** The requests of all calls and all upgrades. */
  readonly calls: IncomingMessage[];
  readonly upgrades: IncomingMessage[];
  /** A configuration with all servers, and with further settings of the panel. */
  yaml(url: string, ...settings: readonly string[]): string;
  stop(): Promise<void>;
}

/** The key in the configuration. */
export const KEY = 'ptlc_TopSecretKeyOfTheTests';

/** Starts a panel on a free port of the loopback interface. With a certificate, it uses TLS. */
export async function startHostilePanel(
  servers: readonly HostileServer[],
  certificate?: { readonly key: string; readonly cert: string },
): Promise<HostilePanel> {
  const upgrades: IncomingMessage[] = [];
  const serverOf = ({ url = '' }: IncomingMessage) => servers[Number.parseInt(idIn(url), 16)];

  const panel = await scriptedServer((response, request) => {
    const server = serverOf(request);
    const { host } = request.headers;
    const socket = server?.socket ?? `ws://${host}/${idIn(request.url ?? '')}/ws`;
    const credentials = json(200, { data: { ...CREDENTIALS.data, socket } });
    const answer = request.url?.endsWith('/websocket')
      ? (server?.credentials ?? credentials)
      : server?.resources;
    (answer ?? json(200, RESOURCES))(response, request);
  }, certificate);
  const acceptor = new WebSocketServer({ noServer: true });
  panel.server.on('upgrade', (request, socket, head) => {
    upgrades.push(request);
    acceptor.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => undefined);
      (serverOf(request)?.node ?? behave)(ws);
    });
  });

  return {
    port: panel.port,
    calls: panel.requests,
    upgrades,
    yaml: (url, ...settings) =>
      yamlOf({ url, apiKey: KEY }, [
        'requests_per_minute: 6000',
        ...settings,
        'servers:',
        ...servers.map(({ name }, index) => `  - { id: "${idOf(index)}", name: "${name}" }`),
      ]),
    stop: () => panel.close(),
  };
}

const idOf = (index: number) => index.toString(16).padStart(8, '0');

const idIn = (url: string) => /[0-9a-f]{8}/.exec(url)?.[0] ?? '';

let uptimeMs = 0;

/** The uptime grows with each response, as for a running server. */
const stats = () =>
  '{"memory_bytes":1,"memory_limit_bytes":2,"cpu_absolute":100,"network":{"rx_bytes":1,"tx_bytes":2},' +
  `"uptime":${(uptimeMs += 1_000)},"state":"running","disk_bytes":1}`;

/** The text of a frame. */
export const frame = (event: string, ...args: readonly unknown[]) => JSON.stringify({ event, args });

/** Accepts every token and responds with stats. After the first response, calls `more`. */
export function behave(socket: WebSocket, more: () => void = () => undefined): void {
  let greeted = false;
  socket.on('message', (data: Buffer) => {
    const { event } = JSON.parse(data.toString()) as { event: string };
    if (event === 'auth') socket.send(frame('auth success'));
    socket.send(frame('stats', stats()));
    if (!greeted) more();
    greeted = true;
  });
}
