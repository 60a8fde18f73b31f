// Game servers that answer queries, as a program of the benchmarks.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Game servers in one process, each on its own port of the loopback interface. */
export type AnswerersProgram = {
  /** The servers' ports. */
  readonly ports: () => readonly number[];
};

export interface AnswerersOptions {
  readonly type: 'valve' | 'minecraft';
  readonly servers: number;
}

const HOST = '127.0.0.1';

/** The info response of a Source server. Its name, map, version and tags have typical lengths. */
const INFO = Buffer.concat([
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0x49, 17]),
  Buffer.from('A server of a usual name, monthly wipe\0Procedural Map\0rust\0Rust\0'),
  Buffer.from([0, 0, 12, 100, 0]),
  Buffer.from('dl\0\u0001'),
  Buffer.from('2591\0'),
  Buffer.from([0x20]),
  Buffer.from('mp100,cp12,ptrak,qp0,v2591,born1700000000,gmrust\0'),
]);

const CHALLENGE = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x41, 1, 2, 3, 4]);

/** The length of a request without the challenge. Longer requests repeat it. */
const REQUEST_BYTES = 25;

async function answerValve(): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (request, { port, address }) =>
    socket.send(request.length > REQUEST_BYTES ? INFO : CHALLENGE, port, address),
  );
  socket.bind(0, HOST);
  await once(socket, 'listening');
  return socket.address().port;
}

/** The status of a Minecraft server. Most of it is a picture. */
const STATUS = JSON.stringify({
  version: { name: '1.21.8', protocol: 772 },
  players: {
    max: 100,
    online: 12,
    sample: Array.from({ length: 12 }, () => ({ name: 'A name', id: 'b'.repeat(36) })),
  },
  description: { text: 'A Minecraft Server' },
  favicon: `data:image/png;base64,${'A'.repeat(6_000)}`,
});

function varint(value: number): Buffer {
  return value < 0x80
    ? Buffer.from([value])
    : Buffer.concat([Buffer.from([(value & 0x7f) | 0x80]), varint(value >> 7)]);
}

async function answerMinecraft(): Promise<number> {
  const packet = Buffer.concat([Buffer.from([0]), varint(STATUS.length), Buffer.from(STATUS)]);
  const answer = Buffer.concat([varint(packet.length), packet]);
  const server = createServer((connection) => {
    connection.on('error', () => {});
    connection.once('data', () => connection.write(answer));
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}

export async function start({ type, servers }: AnswerersOptions): Promise<AnswerersProgram> {
  const answer = type === 'valve' ? answerValve : answerMinecraft;
  const ports: number[] = [];
  for (let server = 0; server < servers; server += 1) ports.push(await answer());
  return { ports: () => ports };
}
