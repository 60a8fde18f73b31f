// A hostile proxy whose responses never end.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { OpenSockets } from './open-sockets.ts';

/**
 * The maximum number of bytes per connection. It is far more than any client may accept, and ends
 * the attack if a client accepts it.
 */
const MAX_BYTES = 8 * 1_048_576;

/** A hostile proxy whose responses to CONNECT never end. */
export interface EndlessProxy {
  readonly url: string;
  readonly connections: OpenSockets;
  stop(): Promise<void>;
}

/**
 * Starts a proxy. Its responses begin with `start` and continue with `more`, as fast as the client
 * reads them.
 */
export async function startEndlessProxy(start: string, more: string): Promise<EndlessProxy> {
  const connections = new OpenSockets();
  const chunk = Buffer.from(more.repeat(Math.ceil(65_536 / more.length)));
  const server = createServer((socket) => {
    connections.keep(socket);
    socket.once('data', () => {
      socket.write(start);
      pump(socket, chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, connections, stop: () => connections.close(server) };
}

function pump(socket: Socket, chunk: Buffer): void {
  const write = () => {
    while (socket.writable && socket.bytesWritten < MAX_BYTES) {
      if (!socket.write(chunk)) {
        socket.once('drain', write);
        return;
      }
    }
  };
  write();
}
