import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { OpenSockets } from './open-sockets.ts';

/** A proxy behind a proxy, for which every name leads to the loopback interface. */
export interface NameProxy {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Lets a real proxy reach names that no name server knows, by asking this one for them: the files in which the system keeps
 * names can't be changed for a test.
 */
export async function startNameProxy(): Promise<NameProxy> {
  const sockets = new OpenSockets();
  const server = createServer(forward);
  server.on('connection', (socket) => sockets.keep(socket));
  server.on('connect', (message, client: Socket, head: Buffer) => {
    const target = connect(portOf(`http://${message.url ?? ''}`), '127.0.0.1');
    sockets.keep(target);
    target.once('error', () => client.destroy());
    target.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      sockets.join(client, target);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => sockets.close(server),
  };
}

const portOf = (url: string) => Number(new URL(url).port);

function forward(message: IncomingMessage, response: ServerResponse): void {
  const { url = '', method = 'GET', headers } = message;
  const { pathname, search } = new URL(url);
  const onwards = request({
    host: '127.0.0.1',
    port: portOf(url),
    method,
    path: `${pathname}${search}`,
    headers,
  });
  onwards.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onwards.on('error', () => response.destroy());
  message.pipe(onwards);
}
