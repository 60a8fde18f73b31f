// Handles the WebSocket handshake of console sockets on a simulated node.

import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { ConsoleConnection, type ConsoleHost } from './connection.ts';
import { PANEL_BEHAVIORS } from './panel-behavior.ts';
import type { SimulatedServer } from './simulated-server.ts';

/** The part of a node that an upgrade uses in addition to a console socket. */
export interface UpgradeHost extends ConsoleHost {
  readonly webSockets: WebSocketServer;
  /** The only `Origin` that may open a socket for a client that reached the node at `host:port`. */
  expectedOrigin(node: 0 | 1, reachedAt: string | undefined): string;
  findByUuid(uuid: string): SimulatedServer | undefined;
}

const SOCKET_PATH = /^\/api\/servers\/([0-9a-f-]{36})\/ws$/;

/** Opens a console socket on one node's port, or rejects it as a real node does. */
export function handleUpgrade(
  host: UpgradeHost,
  node: 0 | 1,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const uuid = SOCKET_PATH.exec(new URL(request.url ?? '/', 'http://node').pathname)?.[1];
  const server = uuid === undefined ? undefined : host.findByUuid(uuid);
  const { checksOrigin, maxUnauthenticated, forgetsTokens } = PANEL_BEHAVIORS[host.settings.panel];
  if (server === undefined || server.node !== node) {
    const message = forgetsTokens
      ? '{"errors":["server not found"]}'
      : '{"error":"The requested resource does not exist on this instance."}';
    refuse(socket, 404, message);
    return;
  }
  if (server.nodeDown) {
    socket.destroy();
    return;
  }
  if (applyUpgradeFault(host, server, socket)) return;
  const { origin, host: reachedAt } = request.headers;
  if (checksOrigin && origin !== host.expectedOrigin(node, reachedAt)) {
    host.recorder.count('wrongOrigin');
    refuse(socket, 403, 'Forbidden\n');
    return;
  }
  if (host.unauthenticated[node].size >= maxUnauthenticated) {
    host.recorder.count('socketsLimited');
    refuse(socket, 429, '{"errors":["too many connections"]}');
    return;
  }
  if (!forgetsTokens && server.connections.size >= host.settings.maxSocketsPerServer) {
    refuse(socket, 400, '{"error":"Too many open websocket connections."}');
    return;
  }
  host.webSockets.handleUpgrade(request, socket, head, (ws) => {
    const connection = new ConsoleConnection(ws, server, host);
    connection.start();
    greet(host, server, connection);
  });
}

/** Applies an active fault to the upgrade. Returns whether there was one. */
function applyUpgradeFault(host: UpgradeHost, server: SimulatedServer, socket: Duplex): boolean {
  const fault = host.faults.takeSocket(server, ['refuse-upgrade', 'hang-upgrade', 'drop-upgrade']);
  if (fault?.kind === 'refuse-upgrade') {
    const { status, body = 'refused\n', location, headers } = fault;
    refuse(socket, status, body, { ...headers, ...(location !== undefined && { Location: location }) });
  } else if (fault?.kind === 'drop-upgrade') {
    socket.destroy();
  }
  return fault !== undefined;
}

/** Ends connections for which there is a fault right after opening. */
function greet(host: UpgradeHost, server: SimulatedServer, connection: ConsoleConnection): void {
  if (server.conflict === 'suspended' && PANEL_BEHAVIORS[host.settings.panel].closesSuspended) {
    connection.close(4409, 'server is suspended');
    return;
  }
  const fault = host.faults.takeSocket(server, ['close-on-open', 'half-open-on-open']);
  if (fault?.kind === 'close-on-open') connection.close(fault.code, fault.reason ?? '');
  if (fault?.kind === 'half-open-on-open') connection.freeze();
}

function refuse(
  socket: Duplex,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    `Content-Type: ${contentType(body)}; charset=utf-8`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function contentType(body: string): string {
  if (body.startsWith('<')) return 'text/html';
  return body.startsWith('{') ? 'application/json' : 'text/plain';
}
