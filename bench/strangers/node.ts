// The node and the web client of the benchmark `strangers`, which send any amount of anything.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { acceptance } from '../../test/support/websocket-wire.ts';
import { amountOf, FRAMES, REQUESTS } from './amounts.ts';

export type StrangerProgram = Awaited<ReturnType<typeof start>>;

/** A kind of data, and how many bytes of it to send. */
export interface Amount {
  readonly kind: string;
  readonly bytes: number;
}

export async function start() {
  let open: Duplex | undefined;
  const node = createServer();
  node.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    open = socket.on('error', () => undefined);
    socket.write(acceptance(request));
  });
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  return {
    port: () => (node.address() as AddressInfo).port,
    stop: () => {
      open?.destroy();
      node.close();
    },
    /** Sends frames on the last opened socket, and ends it. Resolves when the socket is closed. */
    frames: async ({ kind, bytes }: Amount): Promise<void> => {
      const { first, next = Buffer.alloc(0) } = FRAMES[kind] ?? {};
      const socket = open;
      if (socket === undefined) throw new Error('no socket is open');
      const gone = new Promise<void>((resolve) => void socket.once('close', resolve));
      socket.resume();
      socket.end(Buffer.concat(amountOf(bytes, [next], first)));
      await gone;
    },
    /** Sends requests on a new connection. Resolves when the connection is closed. */
    requests: async ({ kind, bytes, port }: Amount & { readonly port: number }): Promise<void> => {
      const { first = '', next = '' } = REQUESTS[kind] ?? {};
      const socket: Socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      const gone = new Promise<void>((resolve) => void socket.once('close', resolve));
      socket.resume();
      socket.end(Buffer.concat(amountOf(bytes, [Buffer.from(next, 'latin1')], Buffer.from(first, 'latin1'))));
      await gone;
    },
  };
}
