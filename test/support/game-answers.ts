// Fake game servers, and the encodings of their responses.
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** The address on which all fake games listen. */
export const LOOPBACK = '127.0.0.1';

/** A received datagram, and a function to reply. */
export interface Incoming {
  readonly datagram: Buffer;
  readonly from: RemoteInfo;
  readonly socket: UdpSocket;
  readonly reply: (...datagrams: readonly Buffer[]) => void;
}

/** A fake game server with its own port. */
export class Answerer implements AsyncDisposable {
  readonly port: number;
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.port = port;
    this.#close = close;
  }

  /** Responds to datagrams. Without `port`, on a free port. */
  static async udp(answer: (incoming: Incoming) => void, host = LOOPBACK, port = 0): Promise<Answerer> {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.on('message', (datagram, from) =>
      answer({
        datagram,
        from,
        socket,
        reply: (...datagrams) => {
          for (const reply of datagrams) socket.send(reply, from.port, from.address);
        },
      }),
    );
    // Ignores errors, because the client may be gone.
    socket.on('error', () => {});
    socket.bind(port, host);
    await once(socket, 'listening');
    return new Answerer(socket.address().port, async () => {
      socket.close();
      await once(socket, 'close');
    });
  }

  /** Responds to connections. */
  static async tcp(serve: (connection: Socket) => void, host = LOOPBACK, port = 0): Promise<Answerer> {
    const connections = new Set<Socket>();
    const server: Server = createServer((connection) => {
      connections.add(connection);
      connection.on('error', () => {}).on('close', () => connections.delete(connection));
      serve(connection);
    });
    server.listen(port, host);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('expected a port');
    return new Answerer(address.port, async () => {
      for (const connection of connections) connection.destroy();
      server.close();
      await once(server, 'close');
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}

/** A text with a zero byte at its end. */
export const text = (value: string) => Buffer.from(`${value}\0`, 'latin1');

/** A text with its length before it. */
export const pascal = (value: string, adjustment = 0) =>
  Buffer.concat([Buffer.from([value.length + adjustment]), Buffer.from(value, 'latin1')]);

export const uint8 = (...values: readonly number[]) => Buffer.from(values);

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function uint16BE(value: number): Buffer {
  return uint16(value).swap16();
}

export function uint32BE(value: number): Buffer {
  return uint32(value).swap32();
}

/** An integer of variable length, as in Minecraft's protocol. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return Buffer.from(bytes);
}

const SIMPLE = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/** Valve's response to A2S_INFO (https://developer.valvesoftware.com/wiki/Server_queries). */
export function valveInfo(players: number, maxPlayers: number): Buffer {
  return Buffer.concat([
    SIMPLE,
    uint8(0x49, 17),
    ...['a name', 'a map', 'folder', 'a game'].map(text),
    uint16(440),
    uint8(players, maxPlayers, 0),
    Buffer.from('dl'),
    uint8(0, 1),
    text('1.0.0.0'),
    uint8(0),
  ]);
}

/**
 * Responds to a request with these bytes. The last two follow after the client had time to read the
 * others.
 */
export function answerLate(connection: Socket, bytes: Buffer): void {
  connection.setNoDelay().once('data', () => {
    connection.write(bytes.subarray(0, -2), () =>
      setImmediate(() => setImmediate(() => connection.write(bytes.subarray(-2)))),
    );
  });
}

/**
 * The status of Minecraft's Java Edition
 * (https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping).
 */
export function minecraftStatus(status: unknown): Buffer {
  const json = Buffer.from(typeof status === 'string' ? status : JSON.stringify(status));
  const packet = Buffer.concat([varint(0), varint(json.length), json]);
  return Buffer.concat([varint(packet.length), packet]);
}

/**
 * A response in GameSpy's first protocol that keeps the library's decoder busy. The decoder removes
 * each field from the beginning of a list, which moves all others.
 */
export const MANY_FIELDS = Buffer.from(`${'\\'.repeat(59_999)}final\\\\queryid\\1.1`);

/** The response of Minecraft's Bedrock Edition to a ping (https://minecraft.wiki/w/RakNet). */
export function bedrockPong(
  ping: Buffer,
  players: number | string,
  maxPlayers: number,
  motd = 'a name',
): Buffer {
  const status = Buffer.from(
    `MCPE;${motd};800;1.21.80;${players};${maxPlayers};1234;a world;Survival;1;19132;19133;`,
  );
  const magic = ping.subarray(9, 25);
  return Buffer.concat([
    uint8(0x1c),
    ping.subarray(1, 9),
    Buffer.alloc(8),
    magic,
    uint16BE(status.length),
    status,
  ]);
}
