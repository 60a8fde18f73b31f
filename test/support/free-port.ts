import { once } from 'node:events';
import { createServer } from 'node:net';

/** A free port of the loopback interface, for programs that can't choose one themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}
