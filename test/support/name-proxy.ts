// A proxy that resolves names which no name server knows.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { OpenSockets } from './open-sockets.ts';

type Headers = IncomingMessage['headers'];

/** A proxy that resolves every name to the loopback interface. */
export interface NameProxy {
  readonly port: number;
  /**
   * The status with which a request for this `host:port` is rejected; undefined if it is allowed.
   */
  refusal: (target: string) => number | undefined;
  /** Changes the headers of responses without a tunnel, that is, of a panel without TLS. */
  rewrite: (headers: Headers, path: string) => Headers;
  stop(): Promise<void>;
}

/**
 * Starts a name proxy. As the upstream of a real proxy, it makes names of tests resolvable, because
 * a test can't change the system's hosts file.
 */
export async function startNameProxy(): Promise<NameProxy> {
  const sockets = new OpenSockets();
  const server = createServer((message, response) => forward(proxy, message, response));
  server.on('connection', (socket) => sockets.keep(socket));
  server.on('connect', (message, client: Socket, head: Buffer) => {
    const status = proxy.refusal(message.url ?? '');
    if (status !== undefined) {
      client.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
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
  const proxy: NameProxy = {
    port: (server.address() as AddressInfo).port,
    refusal: () => undefined,
    rewrite: (headers) => headers,
    stop: () => sockets.close(server),
  };
  return proxy;
}

const portOf = (url: string) => Number(new URL(url).port);

function forward(proxy: NameProxy, message: IncomingMessage, response: ServerResponse): void {
  const { url = '', method = 'GET', headers } = message;
  const { host, pathname, search } = new URL(url);
  const status = proxy.refusal(host);
  if (status !== undefined) {
    response.writeHead(status).end();
    return;
  }
  const onwards = request({
    host: '127.0.0.1',
    port: portOf(url),
    method,
    path: `${pathname}${search}`,
    headers,
  });
  onwards.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, proxy.rewrite(answer.headers, pathname));
    answer.pipe(response);
  });
  onwards.on('error', () => response.destroy());
  message.pipe(onwards);
}
