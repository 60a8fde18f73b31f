import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Clock } from '../../../src/domain/clock.ts';
import { FrameReader, MAX_MESSAGE_BYTES } from '../../../src/session/frame-reader.ts';
import { UnfinishedBytes } from '../../../src/session/unfinished-bytes.ts';
import { type Random, seededRandom } from '../../../src/simulator/random.ts';
import { eventually } from '../../support/eventually.ts';
import { fastClock } from '../../support/exporter.ts';
import { fuzzRuns } from '../../support/fuzz.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { acceptance, wireFrame } from '../../support/websocket-wire.ts';
import { selfSigned } from '../panel/certificate.ts';

const [CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG] = [0x0, 0x1, 0x2, 0x8, 0x9, 0xa];

/** The maximum length of a fragment, so that a message of five fragments isn't too long. */
const MAX_FRAGMENT = MAX_MESSAGE_BYTES / 5;

interface Header {
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  readonly reserved?: number;
}

function frame(opcode: number, content: Buffer, header: Header = {}): Buffer {
  const { isFinal = true, isMasked = false, reserved = 0 } = header;
  return wireFrame((isFinal ? 0x80 : 0) | reserved | opcode, content, isMasked);
}

/** The data that the node sends, and its pieces. */
class Script {
  readonly pieces: readonly Buffer[];
  /** Whether the first piece arrives together with the end of the handshake. */
  readonly isEarly: boolean;
  /** The number of turns of the event loop between two pieces. */
  readonly turns: number;
  readonly #random: Random;

  constructor(seed: number, isGood: boolean) {
    this.#random = seededRandom(seed);
    const frames = Array.from({ length: 1 + this.#below(30) }, () => (isGood ? this.#good() : this.#any()));
    this.pieces = this.#cut(Buffer.concat(frames));
    this.isEarly = this.#below(5) === 0;
    this.turns = 1 + this.#below(4);
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #content(maxBytes = 200_000): Buffer {
    const lengths = [200 + this.#below(100), this.#below(126), this.#below(5_000), this.#below(maxBytes)];
    // The content may look like frames.
    const looks = [Buffer.from([97 + this.#below(26)]), frame(TEXT, Buffer.from('no'))];
    return Buffer.alloc(lengths[Math.min(3, this.#below(6))] ?? 0, looks[this.#below(2)]);
  }

  #good(): Buffer {
    const kind = this.#below(10);
    if (kind === 0) return frame(PING, Buffer.alloc(this.#below(126), 1));
    if (kind === 1) return frame(PONG, Buffer.alloc(this.#below(126), 2));
    return frame(TEXT, this.#content());
  }

  #any(): Buffer {
    const kind = this.#below(44);
    if (kind < 26) return this.#good();
    if (kind < 28) return frame(BINARY, this.#content());
    if (kind < 32) {
      const parts = Array.from({ length: this.#below(4) }, () =>
        frame(CONTINUATION, this.#content(MAX_FRAGMENT), { isFinal: false }),
      );
      const between = this.#below(3) === 0 ? [frame(PING, Buffer.from('in'))] : [];
      const begin = frame(this.#below(2) === 0 ? TEXT : BINARY, this.#content(MAX_FRAGMENT), {
        isFinal: false,
      });
      return Buffer.concat([begin, ...between, ...parts, frame(CONTINUATION, this.#content(MAX_FRAGMENT))]);
    }
    const odd = [
      () => frame(TEXT, this.#content(), { isMasked: true }),
      () => frame(TEXT, this.#content(), { reserved: 0x40 }),
      () => frame(3 + this.#below(5), this.#content()),
      () => frame(CONTINUATION, this.#content()),
      () => Buffer.concat([frame(TEXT, this.#content(), { isFinal: false }), frame(TEXT, this.#content())]),
      // Invalid lengths.
      () => Buffer.from([0x81, 127, 0, 0, 0, 9, 0, 0, 0, 0]),
      () => Buffer.from([0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 5]),
      () => frame(CLOSE, Buffer.from([3, 232, 98, 121, 101])),
      // Lengths in a longer form than necessary, which is only allowed for messages.
      () => Buffer.concat([Buffer.from([0x89, 126, 0, 5]), Buffer.alloc(5, 'p'), this.#good()]),
      () => Buffer.concat([Buffer.from([0x8a, 127, 0, 0, 0, 0, 0, 0, 0, 1, 113]), this.#good()]),
      () => Buffer.concat([Buffer.from([0x81, 126, 0, 5]), Buffer.alloc(5, 't')]),
      () => Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 1, 98])]),
    ];
    return odd[kind - 32]?.() ?? this.#good();
  }

  #cut(bytes: Buffer): readonly Buffer[] {
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + this.#below([5, 300, 5_000, 100_000][this.#below(4)] ?? 1);
      pieces.push(bytes.subarray(at, at + length));
      at += length;
    }
    return pieces;
  }
}

let server: Server;
let script: Script;

beforeAll(async () => {
  server = createServer();
  server.on('upgrade', (request, socket) => void play(socket, Buffer.from(acceptance(request))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => server.close());

async function play(socket: Duplex, handshake: Buffer): Promise<void> {
  socket.on('error', () => undefined);
  const [first = Buffer.alloc(0), ...rest] = script.pieces;
  const pieces = script.isEarly
    ? [Buffer.concat([handshake, first]), ...rest]
    : [handshake, ...script.pieces];
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    for (let turn = 0; turn < script.turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end();
}

const shown = (data: Buffer) => `${data.length} ${createHash('md5').update(data).digest('hex')}`;

/**
 * The reader of a connection: only ws, or the exporter's reader, which opens the connection itself
 * or gets an open one, such as a tunnel.
 */
type Reading = 'by ws' | 'directly' | 'through a tunnel';

/**
 * The events of a client until the end of the script, and the number of messages that ws didn't
 * deliver.
 */
function events(
  reading: Reading,
  mayWait = false,
): Promise<{ readonly log: readonly string[]; readonly direct: number }> {
  return new Promise((resolve) => {
    const log: string[] = [];
    let direct = 0;
    const message = (bytes: Buffer, isBinary: boolean, from: number, to: number) => {
      direct += 1;
      log.push(`message ${isBinary} ${shown(bytes.subarray(from, to))}`);
      return mayWait;
    };
    const reader = new FrameReader({ message, oversize: () => log.push('oversize') }, fastClock());
    const { port } = server.address() as AddressInfo;
    const ws = new WebSocket(`ws://127.0.0.1:${port}/`, {
      perMessageDeflate: false,
      maxPayload: 1 << 20,
      skipUTF8Validation: true,
      ...(reading === 'directly' && {
        createConnection: (options: object) => reader.connect(options, false),
      }),
      ...(reading === 'through a tunnel' && {
        createConnection: (options: object) => reader.through(connect(options as TcpNetConnectOpts)),
      }),
    });
    if (reading !== 'by ws') ws.once('open', () => reader.opened());
    ws.on('message', (data, isBinary) => log.push(`message ${isBinary} ${shown(data as Buffer)}`));
    ws.on('ping', (data) => log.push(`ping ${shown(data)}`));
    ws.on('pong', (data) => log.push(`pong ${shown(data)}`));
    ws.on('error', (error) => {
      log.push(`error ${error.message}`);
      ws.terminate();
    });
    ws.on('close', (code, reason) => {
      log.push(`close ${code} ${reason.toString()}`);
      resolve({ log, direct });
    });
  });
}

function skippedIfLong(line: string): string {
  const [, length] = /^message \w+ (\d+)/.exec(line) ?? [];
  return Number(length) > MAX_MESSAGE_BYTES ? 'oversize' : line;
}

/** The number of random streams of each kind. `FUZZ_RUNS` changes it. */
const { numRuns, timeout } = fuzzRuns(100);

it.each<[name: string, reading: Reading, isGood: boolean]>([
  ['good', 'directly', true],
  ['any', 'directly', false],
  ['good', 'through a tunnel', true],
  ['any', 'through a tunnel', false],
])(
  'reports the same as ws alone: %s streams in any pieces, read %s',
  { timeout },
  async (_name, reading, isGood) => {
    let direct = 0;
    for (let seed = 1; seed <= numRuns; seed += 1) {
      script = new Script(seed, isGood);
      const expected = await events('by ws');
      const found = await events(reading, seed % 10 === 0);
      expect(found.log, `seed ${seed}`).toEqual(expected.log.map(skippedIfLong));
      direct += found.direct;
    }
    expect(direct, 'messages that ws did not read').toBeGreaterThan(numRuns / 5);
  },
);

describe('behind a message after which all may wait', () => {
  it('what comes is read at once, a moment later', async () => {
    const clock = new ManualClock();
    const [quiet, printing] = [await connected(false, clock), await connected(true, clock)];
    await printing.send('1');
    await eventually(() => expect(printing.received).toEqual(['1']));
    await printing.send('2');
    await printing.send('3');
    await quiet.send('1');
    await quiet.send('2');
    await eventually(() => expect(quiet.received).toEqual(['1', '2']));
    expect(printing.received).toEqual(['1']);
    await clock.advance(250);
    await eventually(() => expect(printing.received).toEqual(['1', '2', '3']));
    printing.end();
    await clock.advance(250);
    await eventually(() => expect(printing.isClosed()).toBe(true));
    quiet.end();
  });

  it.each([
    ['plain', false],
    ['TLS', true],
  ])('a flood is read as it comes: %s', async (_name, isSecure) => {
    const clock = new ManualClock();
    const printing = await connected(true, clock, isSecure);
    // The frames fill a buffer exactly, and each is a TLS record of its own, as from daemons.
    // Otherwise, ws would have to read on for the other part of a frame.
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`.padEnd(62));
    for (const line of lines) await printing.send(line);
    await eventually(() => expect(printing.received.length).toBeGreaterThan(0));
    await clock.advance(250);
    await eventually(() => expect(printing.received).toEqual(lines));
    printing.end();
  });
});

it.each([
  ['plain', false],
  ['TLS', true],
])('a flood gets one read in each turn of the event loop: %s', async (_name, isSecure) => {
  const node = await connected(false, new ManualClock(), isSecure);
  const messages = Array.from({ length: 400 }, (_, index) => `${index} `.padEnd(10_000, 'x'));
  const inTurns: number[] = [];
  let isRunning = true;
  const turn = () => {
    inTurns.push(node.received.length);
    if (isRunning) setImmediate(turn);
  };
  turn();
  const sent = node.write(Buffer.concat(messages.map((message) => frame(TEXT, Buffer.from(message)))));
  await eventually(() => expect(node.received).toHaveLength(messages.length));
  await sent;
  isRunning = false;
  expect(node.received).toEqual(messages);
  // A read returns at most 64 KiB, and the rest of one message.
  expect(Math.max(...inTurns.map((count, index) => count - (inTurns[index - 1] ?? 0)))).toBeLessThan(14);
  node.end();
});

it.each([
  ['in two bytes', [0x89, 126, 0, 1, 112]],
  ['in eight bytes', [0x8a, 127, 0, 0, 0, 0, 0, 0, 0, 1, 112]],
])(
  'a ping or pong with its length %s ends the socket, and the text after it is not delivered',
  async (_what, bytes) => {
    const node = await connected(false, new ManualClock());
    await node.write(Buffer.concat([Buffer.from(bytes), frame(TEXT, Buffer.from('after it'))]));
    await eventually(() => expect(node.isClosed()).toBe(true));
    expect(node.received).toEqual([]);
    node.end();
  },
);

describe('an unfinished message', () => {
  const header = (bytes: number) => frame(TEXT, Buffer.alloc(bytes)).subarray(0, bytes > 65_535 ? 10 : 4);

  it('of a fleet occupies no more than the budget of its panel, and the sockets stay open', async () => {
    const budget = new UnfinishedBytes(512 * 1024);
    const clock = new ManualClock();
    const all = await Promise.all(Array.from({ length: 20 }, () => connected(false, clock, false, budget)));
    for (const one of all) await one.write(Buffer.concat([header(MAX_MESSAGE_BYTES), Buffer.alloc(100_000)]));
    await eventually(() => expect(budget.taken).toBeGreaterThan(256 * 1024));
    expect(budget.taken).toBeLessThanOrEqual(512 * 1024);
    for (const one of all) {
      await one.write(Buffer.alloc(MAX_MESSAGE_BYTES - 100_000, 'x'));
      await one.send('next');
    }
    await eventually(() => expect(all.map(({ received }) => received.at(-1))).toEqual(all.map(() => 'next')));
    const firsts = all.map(({ received: [first = ''] }) => (first === 'oversize' ? first : first.length));
    expect(firsts).toContain(MAX_MESSAGE_BYTES);
    expect(firsts).toContain('oversize');
    expect(budget.taken).toBe(0);
    for (const one of all) one.end();
  });

  it('of a socket that is being closed occupies nothing', async () => {
    const budget = new UnfinishedBytes();
    const node = await connected(false, new ManualClock(), false, budget);
    node.stop();
    await node.write(Buffer.concat([header(MAX_MESSAGE_BYTES), Buffer.alloc(100_000)]));
    node.end();
    await eventually(() => expect(node.isClosed()).toBe(true));
    expect([budget.taken, node.received]).toEqual([0, []]);
  });

  it('in fragments counts, too, until it ends or its socket is closed', async () => {
    const budget = new UnfinishedBytes(64 * 1024);
    const clock = new ManualClock();
    const [one, other] = [
      await connected(false, clock, false, budget),
      await connected(false, clock, false, budget),
    ];
    const fragments = Buffer.concat([
      frame(TEXT, Buffer.alloc(20_000, 'a'), { isFinal: false }),
      frame(CONTINUATION, Buffer.alloc(20_000, 'b'), { isFinal: false }),
    ]);
    await one.write(fragments);
    await eventually(() => expect(budget.taken).toBeGreaterThan(40_000));
    await other.write(fragments);
    await eventually(() => expect(other.isClosed()).toBe(true));
    await one.write(frame(CONTINUATION, Buffer.alloc(0)));
    await eventually(() => expect(one.received.map(({ length }) => length)).toEqual([40_000]));
    expect(budget.taken).toBeLessThan(40_000);
    one.stop();
    other.stop();
    expect(budget.taken).toBe(0);
    one.end();
  });

  it.each([
    ['a message', TEXT, true],
    ['a fragment', TEXT, false],
    ['a binary message', BINARY, true],
  ])(
    'that arrives byte by byte over TLS is not an object for each byte: %s',
    async (_what, opcode, isFinal) => {
      const node = await connected(false, new ManualClock(), true);
      const bytes = frame(opcode, Buffer.alloc(5_000, 'x'), { isFinal });
      for (const byte of bytes) await node.write(Buffer.from([byte]));
      await node.write(isFinal ? frame(TEXT, Buffer.from('next')) : frame(CONTINUATION, Buffer.from('next')));
      await eventually(() => expect(node.received.at(-1)).toMatch(/next$/));
      expect(node.piecesForWs()).toBeLessThanOrEqual(2);
      node.end();
    },
  );
});

/** An open socket, and functions with which the node sends messages. */
async function connected(mayWait: boolean, clock: Clock, isSecure = false, budget = new UnfinishedBytes()) {
  const received: string[] = [];
  const oversize = () => received.push('oversize');
  const message = (bytes: Buffer, _: boolean, from: number, to: number) => {
    received.push(bytes.toString('utf8', from, to));
    return mayWait;
  };
  const reader = new FrameReader({ message, oversize }, clock, budget);
  const node = isSecure ? createTlsServer(await selfSigned('IP:127.0.0.1')) : createServer();
  node.on('upgrade', (request, socket) => socket.write(acceptance(request)));
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  let connection: Duplex | undefined;
  let piecesForWs = 0;
  const { port } = node.address() as AddressInfo;
  const accepted = once(node, 'upgrade') as Promise<[IncomingMessage, Duplex]>;
  const ws = new WebSocket(`${isSecure ? 'wss' : 'ws'}://127.0.0.1:${port}/`, {
    rejectUnauthorized: false,
    createConnection: (options: object) => {
      connection = reader.connect(options, isSecure);
      return connection;
    },
  });
  ws.once('open', () => {
    reader.opened();
    connection?.on('data', () => (piecesForWs += 1));
  });
  ws.on('error', () => ws.terminate());
  // Messages that arrive in pieces.
  ws.on('message', (data) => received.push((data as Buffer).toString('utf8')));
  const [[, socket]] = await Promise.all([accepted, once(ws, 'open')]);
  node.close();
  return {
    received,
    send: (text: string) => new Promise((resolve) => socket.write(frame(TEXT, Buffer.from(text)), resolve)),
    write: (bytes: Buffer) => new Promise((resolve) => socket.write(bytes, resolve)),
    stop: () => reader.stop(),
    piecesForWs: () => piecesForWs,
    end: () => socket.end(),
    isClosed: () => ws.readyState === WebSocket.CLOSED,
  };
}
