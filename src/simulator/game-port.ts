// A simulated game that responds to player count queries.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { AcceptedConnections } from './accepted-connections.ts';

/** The players on a game server. */
export interface PlayerCount {
  readonly online: number;
  readonly max: number;
}

/** A client that sends more bytes than this without a status request isn't a client of the game. */
const MAX_REQUEST_BYTES = 1_024;

/**
 * The port of a simulated game. While its server is running, it reports its number of players like
 * Minecraft (Java Edition).
 */
export class GamePort {
  readonly #server: Server;
  readonly #connections = new AcceptedConnections();
  readonly #players: () => PlayerCount | undefined;

  /** `players` returns the current count, or undefined while the server isn't running. */
  constructor(players: () => PlayerCount | undefined) {
    this.#players = players;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Listens on a free port of the loopback interface. */
  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Undefined while the port is closed. */
  get port(): number | undefined {
    return (this.#server.address() as AddressInfo | null)?.port;
  }

  async close(): Promise<void> {
    await this.#connections.close(this.#server);
  }

  #serve(socket: Socket): void {
    this.#connections.add(socket);
    let received = Buffer.alloc(0);
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      const players = this.#players();
      if (players === undefined || received.length > MAX_REQUEST_BYTES) socket.destroy();
      else if (asksForStatus(received)) socket.end(statusPacket(players));
    });
  }
}

/**
 * Whether the bytes are a status handshake followed by a status request: length-prefixed packets,
 * both with the id 0.
 */
function asksForStatus(bytes: Buffer): boolean {
  const handshake = packetAt(bytes, 0);
  const request = handshake && packetAt(bytes, handshake.end);
  return handshake?.id === 0 && request?.id === 0;
}

// Client packets are shorter than 128 bytes unless they contain a long host name, so lengths take
// one or two bytes.
function packetAt(bytes: Buffer, at: number): { readonly id: number; readonly end: number } | undefined {
  const [first, second = 0] = bytes.subarray(at, at + 2);
  if (first === undefined) return undefined;
  const isLong = first >= 0x80;
  const length = isLong ? (first & 0x7f) | (second << 7) : first;
  const start = at + (isLong ? 2 : 1);
  const id = bytes[start];
  return id === undefined || start + length > bytes.length ? undefined : { id, end: start + length };
}

function statusPacket({ online, max }: PlayerCount): Buffer {
  const status = JSON.stringify({
    version: { name: 'simulated', protocol: 47 },
    players: { online, max },
    description: { text: 'a simulated game' },
  });
  const text = Buffer.from(status);
  const body = Buffer.concat([Buffer.from([0]), lengthField(text), text]);
  return Buffer.concat([lengthField(body), body]);
}

/** A length below 16,384 as a varint. */
function lengthField({ length }: Buffer): Buffer {
  return Buffer.from(length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7]);
}

/** The period of the player count, from few to many and back, in milliseconds. */
const WAVE_MS = 10 * 60_000;

/**
 * How many of `max` players are online at a monotonic instant. `phase`, from 0 to 1, shifts servers
 * against each other.
 */
export function playersAt(now: number, max: number, phase: number): number {
  return Math.round(max * (0.45 + 0.4 * Math.sin(2 * Math.PI * (now / WAVE_MS + phase))));
}
