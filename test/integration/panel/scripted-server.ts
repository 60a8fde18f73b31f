import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { OpenSockets } from '../../support/open-sockets.ts';

/** A server on a free port of 127.0.0.1, with responses of the test. */
export interface ScriptedServer {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  readonly requests: IncomingMessage[];
  close(): Promise<void>;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Starts a server. With a certificate, it uses TLS. */
export async function scriptedServer(
  answer: Answer,
  certificate?: { readonly key: string; readonly cert: string },
): Promise<ScriptedServer> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    answer(response, request);
  };
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  const open = new OpenSockets();
  server.on('connection', (socket: Socket) => open.keep(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    close: () => open.close(server),
  };
}

/** Responds with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** Responds with an HTML page, like a proxy in front of the panel. */
export function page(status: number, title = `${status} of a proxy`): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(`<html><head><title>${title}</title></head></html>`);
  };
}

/** An error in the panel's own form. */
export const envelope = (detail: string, code = 'HttpException') => ({
  errors: [{ code, status: '500', detail }],
});

/** A valid response of the resources endpoint. */
export const RESOURCES = {
  object: 'stats',
  attributes: {
    current_state: 'running',
    is_suspended: false,
    resources: {
      memory_bytes: 7,
      cpu_absolute: 100,
      disk_bytes: 1,
      network_rx_bytes: 2,
      network_tx_bytes: 3,
    },
  },
};

/** A valid response of the credentials endpoint. */
export const CREDENTIALS = { data: { token: 'opaque-token', socket: 'wss://node.example.com/ws' } };
