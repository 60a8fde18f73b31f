import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Network } from '../../../src/query/network.ts';
import { startDeafPort } from '../../support/deaf-port.ts';
import { eventually, repeatedly } from '../../support/eventually.ts';
import {
  Answerer,
  bedrockPong,
  type Incoming,
  LOOPBACK,
  minecraftStatus,
  uint8,
  uint16,
  valveInfo,
} from '../../support/game-answers.ts';
import { activeResources, expectResources } from '../../support/leaks.ts';
import { countsOf, type QueryTarget, queryHere } from '../../support/query-here.ts';
import { TestTime } from '../../support/test-time.ts';

/** So fast that the deadline of 5 s passes in 100 ms. */
const SPEED = 50;
const clock = new TestTime(SPEED).clock();

/** The deadline in seconds, plus a step of the clock. */
const IN_TIME = 5.5;

/** An address of this machine that no other test uses, for ports that the test can't choose. */
const ELSEWHERE = '127.0.0.7';

const ask = (type: string, port: number, more: Partial<QueryTarget> = {}) =>
  queryHere({ type, ip: LOOPBACK, port, isQueryPort: true, ...more }, clock).then(countsOf);

const failed = (cause: string, words: string | RegExp = /./) => ({
  query_problem: { cause, detail: expect.stringMatching(words) },
  query_duration_seconds: expect.any(Number),
});
const counted = (players: number, players_max?: number) => ({
  players,
  players_max,
  query_duration_seconds: expect.any(Number),
});
const WRONG = failed('query_wrong_protocol');
const SILENT = failed('query_no_answer');

/** Called when a query reaches a forbidden address. */
const reached = vi.fn<() => void>();
afterEach(() => reached.mockClear());

/** A UDP server that responds to each request with these datagrams. */
const replying = (...datagrams: readonly Buffer[]) => Answerer.udp(({ reply }) => reply(...datagrams));

/** A TCP server that acts after the first request. */
const onceAsked = (answer: (connection: Socket) => void, host?: string, port?: number) =>
  Answerer.tcp((connection) => void connection.once('data', () => answer(connection)), host, port);

/** A TCP server that responds with these pieces. */
const writing = (...pieces: readonly (string | Buffer)[]) =>
  onceAsked((connection) => pieces.forEach((piece) => connection.write(piece)));

async function closedPort(): Promise<number> {
  await using server = await Answerer.tcp(() => {});
  return server.port;
}

/** Writes as long as the other side reads. */
function writeForever(connection: Socket, piece: Buffer | string): void {
  const write = () => {
    while (!connection.destroyed && connection.write(piece));
    connection.once('drain', write);
  };
  write();
}

function drip(connection: Socket): void {
  connection.on(
    'close',
    repeatedly(() => connection.write('\0')),
  );
}

describe('a server', () => {
  it('that responds after the deadline is reported as unresponsive', async () => {
    const late: Incoming[] = [];
    await using server = await Answerer.udp((incoming) => void late.push(incoming));
    const outcome = await ask('rust', server.port);
    for (const { reply } of late) reply(valveInfo(1, 10));
    expect(outcome).toEqual(SILENT);
    expect(outcome.query_duration_seconds).toBeGreaterThanOrEqual(5);
    expect(outcome.query_duration_seconds).toBeLessThan(IN_TIME);
    expect(await ask('rust', server.port)).toEqual(SILENT);
  });

  it('that misses a datagram receives it again', async () => {
    let seen = 0;
    await using server = await Answerer.udp(({ reply }) => {
      seen += 1;
      if (seen === 2) reply(valveInfo(2, 10));
    });
    expect(await ask('rust', server.port)).toEqual(counted(2, 10));
  });

  it.each(['rust', 'minecraft', 'teamspeak3'])(
    'of the type %s with a closed port is refused at once',
    async (type) => {
      const outcome = await ask(type, await closedPort());
      const words = /^(?:(?:; )?127\.0\.0\.1, (?:UDP|TCP) port \d+: nothing listens on the port)+$/;
      expect(outcome).toEqual(failed('query_refused', words));
      expect(outcome.query_duration_seconds).toBeLessThan(IN_TIME);
    },
  );

  it('on a machine that hangs is reported as unresponsive', async () => {
    const port = await closedPort();
    const deaf = await startDeafPort(port);
    expect(await ask('openttd', port)).toEqual(SILENT);
    await deaf.end();
  });

  it.each([
    ['sends nothing', () => {}],
    ['sends a byte now and then', drip],
    ['starts a response', (connection: Socket) => void connection.write(minecraftStatus({}).subarray(0, 1))],
  ])('that accepts the connection and %s times out', async (_, serve) => {
    await using server = await Answerer.tcp(serve);
    const outcome = await ask('openttd', server.port);
    expect(outcome).toEqual(failed('query_timed_out'));
    expect(outcome.query_duration_seconds).toBeLessThan(IN_TIME);
  });
});

describe('an invalid response', () => {
  it.each(['rust', 'q3a', 'mbe'])(
    'from a server of the type %s is reported as another protocol',
    async (type) => {
      await using server = await replying(Buffer.from('nonsense'));
      expect(await ask(type, server.port)).toEqual(WRONG);
    },
  );

  it.each(['minecraft', 'hytale'])(
    'from a connection of the type %s is reported as another protocol',
    async (type) => {
      await using server = await onceAsked((connection) => connection.end(Buffer.alloc(4_000, 'nonsense ')));
      expect(await ask(type, server.port)).toEqual(WRONG);
    },
  );

  it('before the valid one is ignored', async () => {
    await using server = await replying(Buffer.from('nonsense'), valveInfo(4, 10));
    expect(await ask('rust', server.port)).toEqual(counted(4, 10));
  });

  it.each([
    ['a response that ends before the number', valveInfo(1, 10).subarray(0, 30)],
    ['a response that is empty', Buffer.from([0xff, 0xff, 0xff, 0xff, 0x49])],
  ])('fails if it is %s, instead of reporting no players', async (_, datagram) => {
    await using server = await replying(datagram);
    expect(await ask('rust', server.port)).toEqual(failed('query_wrong_protocol', /too short/));
  });

  it.each([{}, 'text'])('fails if it is the JSON %j', async (json) => {
    await using server = await writing(minecraftStatus(JSON.stringify(json)));
    expect(await ask('minecraft', server.port)).toEqual(WRONG);
  });

  it('with the names of built-in properties changes no object of the program', async () => {
    const evil =
      '{"__proto__":{"evil":1},"constructor":{"prototype":{"evil":1}},"players":{"online":1,"__proto__":{"max":2}}}';
    await using server = await writing(minecraftStatus(evil));
    expect(await ask('minecraft', server.port)).toEqual(counted(1));
    expect(({} as Record<string, unknown>)['evil']).toBeUndefined();
  });

  it.each([
    ['another port of the host', LOOPBACK],
    ['another address', '127.0.0.2'],
  ])('from %s is ignored', async (_, host) => {
    const other = createSocket('udp4').bind(0, host);
    await once(other, 'listening');
    await using server = await Answerer.udp(({ from }) =>
      other.send(valveInfo(66, 66), from.port, from.address),
    );
    expect(await ask('rust', server.port)).toEqual(SILENT);
    other.close();
  });
});

describe('a response that never ends', () => {
  const part = Buffer.alloc(40_000, 'a');

  it.each([
    ['a number of datagrams', 'rust', Array<Buffer>(1_000).fill(Buffer.from('flood'))],
    ['a size in datagrams', 'rust', [part, part, part, part]],
  ])('is limited to %s', async (_, type, datagrams) => {
    await using server = await replying(...datagrams);
    expect(await ask(type, server.port)).toEqual(failed('query_wrong_protocol', /too long/));
  });

  it.each([
    ['minecraft', '', '\xff'],
    // Responses without an end: their last line has no line break.
    ['soldat', '', '\r\n'],
    ['teamspeak2', '', '\xff'],
    ['hytale', 'HTTP/1.1 200 OK\r\n\r\n', '\xff'],
    ['hytale', 'HTTP/1.1 200 OK\r\n', 'X-Header: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n'],
    ['hytale', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['hytale', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ])('is limited on a connection of the type %s: %j, and then %j', async (type, start, repeated) => {
    let taken = 0;
    const serve = (connection: Socket) => {
      connection.once('close', () => {
        taken = connection.bytesWritten;
      });
      connection.write(start);
      writeForever(connection, Buffer.from(repeated.repeat(1_000), 'latin1'));
    };
    await using server = await onceAsked(serve, ELSEWHERE, type === 'teamspeak2' ? 51_234 : 0);
    expect(await ask(type, server.port, { ip: ELSEWHERE })).toEqual(WRONG);
    await eventually(() => expect(taken).toBeGreaterThan(0));
    // More than the reader has read, because the system's buffers have taken some data, too.
    expect(taken).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('over HTTP', () => {
  it('a redirect is not followed', async () => {
    await using other = await Answerer.tcp(reached);
    const location = `http://${LOOPBACK}:${other.port}/`;
    await using server = await writing(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\n\r\n`);
    expect(await ask('hytale', server.port)).toEqual(failed('query_wrong_protocol', /HTTP status 302/));
    expect(reached).not.toHaveBeenCalled();
  });

  it('a compressed response is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
    await using server = await writing(head, bomb);
    expect(await ask('hytale', server.port)).toEqual(failed('query_wrong_protocol', /compressed/));
  });
});

describe('a query', () => {
  it.each([
    ['hytale', /^GET \/Nitrado\/Query HTTP\/1\.1\r\n(?:.*\r\n)*host: play\.example\.invalid:\d+\r\n/],
    ['minecraft', /play\.example\.invalid/],
  ])('of the type %s sends the name to the given address, whatever the name is', async (type, words) => {
    let asked = '';
    await using server = await Answerer.tcp((connection) => {
      connection.once('data', (bytes) => {
        asked += bytes.toString('latin1');
        connection.end();
      });
    });
    await ask(type, server.port, { hostname: 'play.example.invalid' });
    expect(asked).toMatch(words);
  });

  it('uses no port that a response contains', async () => {
    await using other = await Answerer.udp(reached);
    // The extra data flag means that the game's port follows.
    const answer = Buffer.concat([valveInfo(1, 10).subarray(0, -1), uint8(0x80), uint16(other.port)]);
    await using server = await replying(answer);
    expect(await ask('rust', server.port)).toEqual(counted(1, 10));
    expect(reached).not.toHaveBeenCalled();
  });

  it('opens no connection to another port than that of the server and of its query interface', async () => {
    await using other = await Answerer.tcp(reached);
    const way = { protocol: 'openttd', ip: LOOPBACK, hostname: LOOPBACK, port: 1, queryPort: 2 };
    const network = new Network(way, new AbortController(), { clock, decoding: () => {} });
    await expect(network.withTcp(() => Promise.resolve(), other.port)).rejects.toThrow("can't be read");
    expect(reached).not.toHaveBeenCalled();
  });

  it('sends nothing to ports of other servers', async () => {
    await using players = await Answerer.udp(() => {});
    await using neighbor = await Answerer.udp(reached, LOOPBACK, players.port + 1);
    const isTaken = (port: number) => port === neighbor.port;
    expect(await ask('valheim', players.port, { isQueryPort: false, isTaken })).toEqual(SILENT);
    expect(reached).not.toHaveBeenCalled();
  });

  it('waits for a slow server instead of trying the next port', async () => {
    let asked = 0;
    await using server = await Answerer.udp(({ reply }) => {
      asked += 1;
      // Requests are repeated every second.
      if (asked === 3) reply(valveInfo(1, 10));
    });
    await using neighbor = await Answerer.udp(
      ({ reply }) => reply(valveInfo(9, 10)),
      LOOPBACK,
      server.port + 1,
    );
    expect(neighbor.port).toBe(server.port + 1);
    expect(await ask('valheim', server.port, { isQueryPort: false })).toEqual(counted(1, 10));
  });

  it('queries the port that a variable contains before all others, and the other ports last', async () => {
    const server = await replying(valveInfo(1, 10));
    const another = await replying(valveInfo(2, 10));
    await using silent = await Answerer.udp(() => {});
    const target = { type: 'rust', ip: LOOPBACK, isQueryPort: false, otherPorts: [server.port] };
    const named = { ...target, port: another.port, namedPort: server.port };
    expect(countsOf(await queryHere(named, clock))).toEqual(counted(1, 10));
    expect(countsOf(await queryHere({ ...target, port: another.port }, clock))).toEqual(counted(2, 10));
    expect(countsOf(await queryHere({ ...target, port: silent.port }, clock))).toEqual(counted(1, 10));
  });

  it('uses every address of a name, and at once the one that responded before in this run', async () => {
    const server = await replying(valveInfo(1, 10));
    const target = { type: 'rust', ip: '::1', otherIps: [LOOPBACK], port: server.port, isQueryPort: true };
    expect(countsOf(await queryHere(target, clock))).toEqual(counted(1, 10));
    await using silent = await Answerer.udp(() => {}, '::1', server.port);
    const first = await queryHere(target, clock);
    const second = await queryHere({ ...target, earliest: first.way }, clock);
    expect([silent.port, first.players, second.players]).toEqual([server.port, 1, 1]);
    expect(first.query_duration_seconds).toBeGreaterThan(2);
    expect(second.query_duration_seconds).toBeLessThan(2);
    await server[Symbol.asyncDispose]();
    const { query_problem: problem } = await queryHere(target, clock);
    expect(problem?.detail).toMatch(
      /^::1, UDP port \d+: no response; 127\.0\.0\.1, UDP port \d+: nothing listens/,
    );
  });

  it('tries no later port once an earlier one has led to a response', async () => {
    const server = await replying(valveInfo(12, 16));
    await using relay = await Answerer.udp(reached, LOOPBACK, server.port + 1);
    const target = { type: 'valheim', ip: LOOPBACK, port: server.port, isQueryPort: false };
    const { way: earliest } = await queryHere(target, clock);
    await server[Symbol.asyncDispose]();
    await using silent = await Answerer.udp(() => {}, LOOPBACK, server.port);
    expect(await ask('valheim', silent.port, { ...target, earliest })).toEqual(SILENT);
    expect(relay.port).toBe(server.port + 1);
    expect(reached).not.toHaveBeenCalled();
  });

  it('prefers an earlier way that responds 700 ms later, or that failed before', async () => {
    let [isLate, isDown] = [true, false];
    await using java = await onceAsked((connection) => {
      const answer = () => connection.write(minecraftStatus({ players: { online: 9, max: 60 } }));
      if (isDown) connection.destroy();
      else if (isLate) clock.schedule(700, answer);
      else answer();
    });
    await using bedrock = await Answerer.udp(
      ({ datagram, reply }) => reply(bedrockPong(datagram, 1, 100)),
      LOOPBACK,
      java.port,
    );
    expect(await ask('minecraft', bedrock.port)).toEqual(counted(9, 60));
    [isLate, isDown] = [false, true];
    const target = { type: 'minecraft', ip: LOOPBACK, port: bedrock.port, isQueryPort: true };
    const asked = await queryHere(target, clock);
    isDown = false;
    expect(countsOf(asked)).toEqual(counted(1, 100));
    expect(await ask('minecraft', bedrock.port, { earliest: asked.way })).toEqual(counted(9, 60));
  });

  it('ends at once when it is aborted, before or during it', async () => {
    await using server = await Answerer.udp(() => {});
    const target = { type: 'rust', ip: LOOPBACK, port: server.port, isQueryPort: true };
    const controller = new AbortController();
    const running = queryHere(target, clock, controller.signal);
    controller.abort();
    for (const outcome of [await queryHere(target, clock, AbortSignal.abort()), await running]) {
      expect(outcome.query_problem).toBeDefined();
      expect(outcome.query_duration_seconds).toBeLessThan(5);
    }
  });

  it("isn't confused with other queries at the same time", async () => {
    await using one = await replying(valveInfo(1, 10));
    await using two = await replying(valveInfo(2, 20));
    await using silent = await Answerer.udp(() => {});
    const outcomes = await Promise.all(
      Array.from({ length: 96 }, (_, index) => ask('rust', [one, two, silent][index % 3]?.port ?? 0)),
    );
    for (const [index, outcome] of outcomes.entries())
      expect(outcome).toEqual([counted(1, 10), counted(2, 20), SILENT][index % 3]);
  });
});

describe('after a query', () => {
  const written: unknown[] = [];

  beforeEach(() => {
    written.length = 0;
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation((...words: unknown[]) => void written.push(words));
  });

  afterEach(() => vi.restoreAllMocks());

  it('no connection is left open, however it ended', async () => {
    const before = activeResources();
    const flood = await replying(...Array<Buffer>(300).fill(Buffer.from('flood')));
    const silent = await Answerer.udp(() => {});
    const held = await Answerer.tcp(() => {});
    await Promise.all([
      ...['rust', 'minecraft', 'killingfloor', 'hytale', 'satisfactory'].flatMap((type) =>
        [flood, silent, held].map(({ port }) => ask(type, port)),
      ),
      ...['rust', 'minecraft'].map((type) => ask(type, 1)),
    ]);
    for (const server of [flood, silent, held]) await server[Symbol.asyncDispose]();
    expect(clock.pending).toBe(0);
    await expectResources(before);
  });

  // Short texts, because errors of JSON.parse quote the first ten characters.
  it.each([
    { players: { online: 1, max: 2, sample: [{ name: 'zebra', id: '1' }] } },
    '{"players": {"sample": [{"name": "zebra"}]}} zebra',
    'zebra is no JSON',
  ])('the failure contains no name or other text of the server: %j', async (status) => {
    await using server = await writing(minecraftStatus(status));
    expect(JSON.stringify(await ask('minecraft', server.port))).not.toContain('zebra');
    expect(written).toEqual([]);
  });
});
