import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { MAX_MESSAGE_BYTES } from '../../../src/session/frame-reader.ts';
import { ConsoleSocket, type SocketOptions } from '../../../src/session/socket.ts';
import { socketTls } from '../../../src/session/socket-tls.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { acceptance, wireFrame } from '../../support/websocket-wire.ts';
import { selfSigned } from '../panel/certificate.ts';

type Upgrade = (request: IncomingMessage, socket: Duplex) => void;

interface ReportedEvent {
  readonly what: 'opened' | 'refused' | 'closed' | 'message' | 'oversize';
  readonly error?: Error & { readonly code?: string };
  readonly bytes?: number;
  readonly text?: string;
}

let server: Server | undefined;
let sockets: ConsoleSocket[];
let connections: Set<Duplex>;
let upgrades: IncomingMessage[];

beforeEach(() => {
  sockets = [];
  connections = new Set();
  upgrades = [];
});

afterEach(async () => {
  for (const socket of sockets) void socket.close();
  for (const connection of connections) connection.destroy();
  if (server === undefined) return;
  server.close();
  await once(server, 'close');
  server = undefined;
});

/** Starts a node that responds to upgrades in this way. Returns its port. */
async function startNode(upgrade: Upgrade, certificate?: { key: string; cert: string }): Promise<number> {
  server = certificate === undefined ? createServer() : createTlsServer(certificate);
  server.on('connection', (socket: Duplex) => {
    connections.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('upgrade', (request, socket) => {
    upgrades.push(request);
    socket.on('error', () => undefined);
    upgrade(request, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Accepts the upgrade without a library, and then sends these bytes. */
const sending =
  (...bytes: readonly Uint8Array[]): Upgrade =>
  (request, socket) => {
    socket.write(acceptance(request));
    for (const each of bytes) socket.write(each);
  };

function connect(url: string, options: Partial<SocketOptions> = {}): readonly ReportedEvent[] {
  const events: ReportedEvent[] = [];
  const socket = new ConsoleSocket(
    url,
    {
      codec: PTERODACTYL.socket,
      origin: 'https://panel.example.com',
      userAgent: 'test',
      clock: new ManualClock(),
      tls: socketTls(),
      ...options,
    },
    {
      opened: () => events.push({ what: 'opened' }),
      refused: ({ error }) => events.push({ what: 'refused', error }),
      message: (frame) => {
        events.push({ what: 'message', bytes: frame.length });
        return false;
      },
      oversize: () => events.push({ what: 'oversize' }),
      closed: ({ text }) => events.push({ what: 'closed', text }),
    },
  );
  sockets.push(socket);
  return events;
}

const kindsOf = (events: readonly ReportedEvent[]) => events.map(({ what }) => what);

const TEXT = 0x81;
const TEXT_BEGINS = 0x01;
const MORE = 0x00;
const CLOSE = 0x88;
const PING = 0x89;
const COMPRESSED_TEXT = 0xc1;

describe('a node that breaks the protocol loses only its socket', () => {
  it.each<[string, Buffer]>([
    ['a compressed frame, which was not negotiated', wireFrame(COMPRESSED_TEXT, 'x')],
    ['a frame of an unknown kind', wireFrame(0x83, 'x')],
    ['a masked frame', Buffer.from([TEXT, 0x81, 1, 2, 3, 4, 5])],
    ['a continuation without a start', wireFrame(0x80, 'x')],
    [
      'a frame within a fragmented message',
      Buffer.concat([wireFrame(TEXT_BEGINS, 'a'), wireFrame(TEXT, 'b')]),
    ],
    ['a fragmented ping', wireFrame(0x09, 'x')],
    ['a ping that is too long', wireFrame(PING, 'x'.repeat(200))],
    ['a close frame with half a code', wireFrame(CLOSE, Buffer.from([0x03]))],
    ['a close frame with an invalid code', wireFrame(CLOSE, Buffer.from([0xff, 0xff]))],
    [
      'a length beyond all safe integers',
      Buffer.from([TEXT, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    ],
    ['a length beyond the limit', Buffer.from([TEXT, 127, 0, 0, 0, 0, 0, 0x10, 0, 1])],
    [
      'a message in a hundred thousand fragments',
      Buffer.concat([wireFrame(TEXT_BEGINS, 'a'), Buffer.alloc(300_000, wireFrame(MORE, 'a'))]),
    ],
  ])('by %s', async (_what, bytes) => {
    const events = connect(`ws://127.0.0.1:${await startNode(sending(bytes))}/ws`);
    await eventually(() => expect(kindsOf(events)).toEqual(['opened', 'closed']));
    // The report says what the node did, not only that the socket closed.
    expect(events[1]?.text).not.toBe('');
  });

  it('by arbitrary bytes, which result in frames, a close, or nothing', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc
        .array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.string({ maxLength: 130 })), { maxLength: 6 })
        .map((frames) => Buffer.concat(frames.map(([first, content]) => wireFrame(first, content)))),
    );
    let next: Uint8Array = Buffer.alloc(0);
    const port = await startNode((request, socket) => {
      sending(next)(request, socket);
      socket.end();
    });
    await fc.assert(
      fc.asyncProperty(bytes, async (sample) => {
        next = sample;
        const events = connect(`ws://127.0.0.1:${port}/ws`);
        await eventually(() => expect(events.at(-1)?.what).toBe('closed'));
        expect(kindsOf(events).filter((what) => what !== 'message')).toEqual(['opened', 'closed']);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a node that sends a close frame and keeps the connection', () => {
  it('is disconnected anyway', async () => {
    const goodbye = wireFrame(CLOSE, Buffer.from([0x03, 0xe8]));
    const events = connect(`ws://127.0.0.1:${await startNode(sending(goodbye))}/ws`);
    await eventually(() => expect(kindsOf(events)).toEqual(['opened', 'closed']));
  });
});

describe("a token that doesn't fit into a frame", () => {
  it('closes the socket with the reason, and throws nothing', async () => {
    const events = connect(`ws://127.0.0.1:${await startNode(sending())}/ws`);
    await eventually(() => expect(kindsOf(events)).toEqual(['opened']));
    expect(() => sockets[0]?.send({ event: 'auth', token: 'x'.repeat(5_000) })).not.toThrow();
    await eventually(() => expect(kindsOf(events)).toEqual(['opened', 'closed']));
    expect(events[1]?.text).toBe('expected a "auth" frame of at most 4095 bytes, got 5028');
  });
});

describe('a node that sends too much', () => {
  it('loses its socket for a message in fragments that exceeds 128 KiB as a whole', async () => {
    const part = wireFrame(MORE, 'a'.repeat(60_000));
    const parts = Array.from({ length: Math.ceil(MAX_MESSAGE_BYTES / 60_000) }, () => part);
    const events = connect(`ws://127.0.0.1:${await startNode(sending(wireFrame(TEXT_BEGINS), ...parts))}/ws`);
    await eventually(() => expect(kindsOf(events)).toEqual(['opened', 'closed']));
  });

  it("can't fill the heap with pings whose responses it doesn't read", async () => {
    const pings = Buffer.concat(Array.from({ length: 20_000 }, () => wireFrame(PING, 'x'.repeat(125))));
    const port = await startNode((request, socket) => {
      sending()(request, socket);
      socket.pause();
      let rounds = 0;
      const more = () => {
        while (rounds++ < 40 && socket.write(pings));
      };
      socket.on('drain', more);
      more();
    });
    const before = process.memoryUsage().arrayBuffers;
    const events = connect(`ws://127.0.0.1:${port}/ws`);
    // 100 MB of pings, so their responses don't fit into the buffers between two sockets.
    await eventually(() => expect(kindsOf(events)).toEqual(['opened', 'closed']));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60 * 1_048_576);
  });

  it.each([
    ['one header of 1 MB', `HTTP/1.1 101 So\r\nX-A: ${'a'.repeat(1_000_000)}\r\n\r\n`],
    [
      '50,000 headers',
      `HTTP/1.1 101 So\r\n${Array.from({ length: 50_000 }, (_, n) => `X-${n}: a\r\n`).join('')}\r\n`,
    ],
    ["bytes that aren't HTTP", '\u0000\u0001\u0002'.repeat(1_000)],
  ])('is refused if its response to the upgrade is %s', async (_what, answer) => {
    const events = connect(
      `ws://127.0.0.1:${await startNode((_request, socket) => void socket.write(answer))}/ws`,
    );
    await eventually(() => expect(kindsOf(events)).toEqual(['refused']));
    expect(events[0]?.error?.code).toMatch(/^HPE_/);
  });
});

describe('a machine in the middle between the exporter and the node', () => {
  it.each([
    ['for another name', 'DNS:other.example.com'],
    ['of an unknown CA', 'IP:127.0.0.1'],
  ])('with a certificate %s is refused before anything is sent', async (_what, name) => {
    const port = await startNode(sending(), await selfSigned(name));
    const events = connect(`wss://127.0.0.1:${port}/ws`);
    await eventually(() => expect(kindsOf(events)).toEqual(['refused']));
    expect(upgrades).toEqual([]);
  });
});
