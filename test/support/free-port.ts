// Free ports for programs under test.
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The range of ports that Linux assigns only to programs that name them. Thus no other test gets
 * one of them by chance.
 */
const [FIRST, END] = [20_000, 32_768];

/** A free port of the loopback interface, for programs that can't choose a port themselves. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
