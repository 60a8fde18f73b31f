import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { QueryOutcome, QueryTarget } from '../../../src/query/client.ts';
import { startDeafPort } from '../../support/deaf-port.ts';
import {
  Answerer,
  type Incoming,
  LOOPBACK,
  minecraftStatus,
  uint8,
  valveInfo,
} from '../../support/game-answers.ts';
import { activeResources, expectResources } from '../../support/leaks.ts';
import { queryHere } from '../../support/query-here.ts';
import { TestTime } from '../../support/test-time.ts';

/** The deadline of 5 s passes in 100 ms. */
const SPEED = 50;

const clock = new TestTime(SPEED).clock();
/** An address of this machine that no other test uses, for ports that can't be chosen. */
const ELSEWHERE = '127.0.0.7';

const ask = (type: string, port: number, more: Partial<QueryTarget> = {}) =>
  queryHere({ type, ip: LOOPBACK, port, isQueryPort: true, ...more }, { clock });

const failed = (failure: string, words: string | RegExp = /./) =>
  ({
    ok: false,
    failure,
    detail: expect.stringMatching(words),
    durationSeconds: expect.any(Number),
  }) as const;

const counted = (players: number, maxPlayers?: number) =>
  ({ ok: true, players, maxPlayers, durationSeconds: expect.any(Number) }) as const;

/** The duration of a query on the client's clock. */
const seconds = ({ durationSeconds }: QueryOutcome) => durationSeconds;

/** The deadline, plus one step of the clock. */
const IN_TIME = 5.5;

/** A TCP server that does this after its first request. */
const onceAsked = (answer: (connection: Socket) => void) =>
  Answerer.tcp((connection) => void connection.once('data', () => answer(connection)));

/** Writes for as long as the other end reads. */
function writeForever(connection: Socket, piece: Buffer): void {
  const write = () => {
    while (!connection.destroyed && connection.write(piece));
    connection.once('drain', write);
  };
  write();
}

describe('a server', () => {
  it('that answers after the deadline is reported as unresponsive', async () => {
    const late: Incoming[] = [];
    await using server = await Answerer.udp((incoming) => void late.push(incoming));
    const outcome = await ask('rust', server.port);
    for (const { reply } of late) reply(valveInfo(1, 10));
    expect(outcome).toEqual(failed('query_no_answer'));
    expect(seconds(outcome)).toBeGreaterThanOrEqual(5);
    expect(seconds(outcome)).toBeLessThan(IN_TIME);
    expect(await ask('rust', server.port)).toEqual(failed('query_no_answer'));
  });

  it('that misses a datagram receives it again', async () => {
    let seen = 0;
    await using server = await Answerer.udp(({ reply }) => {
      seen += 1;
      if (seen === 2) reply(valveInfo(2, 10));
    });
    expect(await ask('rust', server.port)).toEqual(counted(2, 10));
  });

  it('that stops answering is reported as unresponsive, and as refusing once its port is closed', async () => {
    let answers = true;
    const server = await Answerer.udp(({ reply }) => answers && reply(valveInfo(1, 10)));
    expect(await ask('rust', server.port)).toEqual(counted(1, 10));
    answers = false;
    expect(await ask('rust', server.port)).toEqual(failed('query_no_answer'));
    await server[Symbol.asyncDispose]();
    expect(await ask('rust', server.port)).toEqual(failed('query_refused'));
  });

  it.each(['rust', 'openttd', 'hytale', 'minecraft', 'teeworlds', 'teamspeak3'])(
    'of the type %s with a closed port is refused at once',
    async (type) => {
      const server = await Answerer.tcp(() => {});
      await server[Symbol.asyncDispose]();
      const outcome = await ask(type, server.port);
      expect(outcome).toEqual(
        failed('query_refused', /^127\.0\.0\.1, port \d+: nothing listens on the port$/),
      );
      expect(seconds(outcome)).toBeLessThan(IN_TIME);
    },
  );

  it('on a machine that hangs is reported as unresponsive', async () => {
    const server = await Answerer.tcp(() => {});
    await server[Symbol.asyncDispose]();
    const deaf = await startDeafPort(server.port);
    try {
      expect(await ask('openttd', server.port)).toEqual(failed('query_no_answer'));
    } finally {
      await deaf.end();
    }
  });

  it.each([
    ['says nothing', () => {}],
    ['sends a byte now and then', (connection: Socket) => drip(connection)],
    ['starts an answer', (connection: Socket) => void connection.write(minecraftStatus({}).subarray(0, 1))],
  ])('that accepts the connection and %s times out', async (_, serve) => {
    await using server = await Answerer.tcp(serve);
    const outcome = await ask('openttd', server.port);
    expect(outcome).toEqual(failed('query_timed_out'));
    expect(seconds(outcome)).toBeLessThan(IN_TIME);
  });

  it('that closes the connection is reported as another protocol', async () => {
    await using server = await onceAsked((connection) => void connection.end('bye'));
    expect(await ask('openttd', server.port)).toEqual(failed('query_wrong_protocol'));
  });
});

function drip(connection: Socket): void {
  const timer = setInterval(() => connection.write('\0'), 20);
  connection.on('close', () => clearInterval(timer));
}

describe('an invalid answer', () => {
  it.each(['rust', 'q3a', 'battlefield2', 'mumble', 'gtasam', 'mbe', 'teeworlds', 'ventrilo', 's2ats'])(
    'from a server of the type %s is reported as another protocol',
    async (type) => {
      await using server = await Answerer.udp(({ reply }) => reply(Buffer.from('nonsense')));
      expect(await ask(type, server.port)).toEqual(failed('query_wrong_protocol'));
    },
  );

  it.each(['minecraft', 'soldat', 'hytale', 'assettocorsa'])(
    'from a connection of the type %s is reported as another protocol',
    async (type) => {
      await using server = await onceAsked(
        (connection) => void connection.end(Buffer.alloc(4_000, 'nonsense ')),
      );
      expect(await ask(type, server.port)).toEqual(failed('query_wrong_protocol'));
    },
  );

  it('before the valid one is ignored', async () => {
    await using server = await Answerer.udp(({ reply }) => reply(Buffer.from('nonsense'), valveInfo(4, 10)));
    expect(await ask('rust', server.port)).toEqual(counted(4, 10));
  });

  it.each([
    ['an answer that ends before the number', valveInfo(1, 10).subarray(0, 30)],
    ['an answer that is empty', Buffer.from([0xff, 0xff, 0xff, 0xff, 0x49])],
  ])('fails if it is %s, instead of reporting no players', async (_, datagram) => {
    await using server = await Answerer.udp(({ reply }) => reply(datagram));
    expect(await ask('rust', server.port)).toEqual(failed('query_wrong_protocol', /too short/));
  });

  it.each([-1, 1.5, 2 ** 31, 1e308, null, '', 'many', [3], {}, true])(
    'fails if its number of players is %j',
    async (online) => {
      await using server = await onceAsked(
        (connection) => void connection.write(minecraftStatus({ players: { online, max: 20 } })),
      );
      expect(await ask('minecraft', server.port)).toEqual(failed('query_wrong_protocol', /no player count/));
    },
  );

  it.each([-1, 0, 2 ** 31, null, 'none'])('has no limit if its limit is %j', async (max) => {
    await using server = await onceAsked(
      (connection) => void connection.write(minecraftStatus({ players: { online: 3, max } })),
    );
    expect(await ask('minecraft', server.port)).toEqual(counted(3));
  });

  it('with the names of built-in properties changes no object of the program', async () => {
    const evil =
      '{"__proto__":{"evil":1},"constructor":{"prototype":{"evil":1}},"players":{"online":1,"__proto__":{"max":2}}}';
    await using server = await onceAsked((connection) => void connection.write(minecraftStatus(evil)));
    expect(await ask('minecraft', server.port)).toEqual(counted(1));
    expect(({} as Record<string, unknown>)['evil']).toBeUndefined();
  });
});

describe('ignored datagrams', () => {
  it.each([
    ['another port of the host', LOOPBACK],
    ['another address', '127.0.0.2'],
  ])('come from %s', async (_, host) => {
    const other = createSocket('udp4');
    other.bind(0, host);
    await once(other, 'listening');
    await using server = await Answerer.udp(({ from }) =>
      other.send(valveInfo(66, 66), from.port, from.address),
    );
    expect(await ask('rust', server.port)).toEqual(failed('query_no_answer'));
    other.close();
  });
});

describe('an answer that never ends', () => {
  it('is limited to a number of datagrams', async () => {
    await using server = await Answerer.udp(({ reply }) => {
      for (let sent = 0; sent < 1_000; sent += 1) reply(Buffer.from('flood'));
    });
    expect(await ask('rust', server.port)).toEqual(failed('query_wrong_protocol', /too long/));
  });

  it('is limited to a size in datagrams', async () => {
    await using server = await Answerer.udp(({ reply }) => {
      const part = Buffer.alloc(40_000, '\\a');
      reply(part, part);
    });
    expect(await ask('unrealtournament', server.port)).toEqual(failed('query_wrong_protocol', /too long/));
  });

  it.each(['minecraft', 'openttd', 'soldat', 'starmade', 'teamspeak2', 'hytale'])(
    'is limited on a connection of the type %s',
    async (type) => {
      const start = type === 'hytale' ? 'HTTP/1.1 200 OK\r\n\r\n' : '';
      // Soldat's answer would end at a line without a line break.
      const piece = Buffer.alloc(4_096, type === 'soldat' ? '\r\n' : '\xff', 'latin1');
      let taken = 0;
      const serve = (connection: Socket) => {
        connection.once('close', () => {
          taken = connection.bytesWritten;
        });
        connection.write(start);
        writeForever(connection, piece);
      };
      await using server = await Answerer.tcp(
        (connection) => void connection.once('data', () => serve(connection)),
        ELSEWHERE,
        type === 'teamspeak2' ? 51_234 : 0,
      );
      expect(await ask(type, server.port, { ip: ELSEWHERE })).toEqual(failed('query_wrong_protocol'));
      await vi.waitFor(() => expect(taken).toBeGreaterThan(0));
      // The system's buffers took some more than what was read.
      expect(taken).toBeLessThan(16 * 1024 * 1024);
    },
  );
});

describe('over HTTP', () => {
  const answers = (...heads: readonly string[]) =>
    onceAsked((connection) => void connection.write(heads.map((line) => `${line}\r\n`).join('')));

  it('a redirect is not followed', async () => {
    let reached = false;
    await using other = await Answerer.tcp(() => {
      reached = true;
    });
    await using server = await answers(
      'HTTP/1.1 302 Found',
      `Location: http://${LOOPBACK}:${other.port}/`,
      '',
      '',
    );
    expect(await ask('hytale', server.port)).toEqual(failed('query_wrong_protocol', /HTTP status 302/));
    expect(reached).toBe(false);
  });

  it('a compressed answer is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    await using server = await onceAsked((connection) => {
      connection.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
      connection.write(bomb);
    });
    expect(await ask('hytale', server.port)).toEqual(failed('query_wrong_protocol', /compressed/));
  });

  it.each([
    ['headers', 'HTTP/1.1 200 OK\r\n', 'X-Header: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n'],
    ['interim answers', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ])('%s that never end are cut off', async (_, start, repeated) => {
    await using server = await onceAsked((connection) => {
      connection.write(start);
      writeForever(connection, Buffer.from(repeated.repeat(100)));
    });
    expect(await ask('hytale', server.port)).toEqual(failed('query_wrong_protocol'));
  });

  it('the request contains the name, and the connection goes to the address', async () => {
    let head = '';
    await using server = await Answerer.tcp((connection) => {
      connection.once('data', (bytes) => {
        head = bytes.toString();
        connection.end('HTTP/1.1 404 Not Found\r\n\r\n');
      });
    });
    await ask('hytale', server.port, { hostname: 'play.example.invalid' });
    expect(head).toContain(`host: play.example.invalid:${server.port}\r\n`);
    expect(head).toMatch(/^GET \/Nitrado\/Query HTTP\/1\.1\r\n/);
  });
});

describe('a query', () => {
  it('sends its request to the given address, whatever the name is', async () => {
    let asked = '';
    await using server = await Answerer.tcp((connection) => {
      connection.once('data', (bytes) => {
        asked = bytes.toString('latin1');
        connection.write(minecraftStatus({ players: { online: 2, max: 5 } }));
      });
    });
    expect(await ask('minecraft', server.port, { hostname: 'play.example.invalid' })).toEqual(counted(2, 5));
    expect(asked).toContain('play.example.invalid');
  });

  it('uses no port that an answer contains', async () => {
    let reached = false;
    await using other = await Answerer.udp(() => {
      reached = true;
    });
    const port = Buffer.alloc(2);
    port.writeUInt16LE(other.port);
    // The extra data flag says that the game's port follows.
    const answer = Buffer.concat([valveInfo(1, 10).subarray(0, -1), uint8(0x80), port]);
    await using server = await Answerer.udp(({ reply }) => reply(answer));
    expect(await ask('rust', server.port)).toEqual(counted(1, 10));
    expect(reached).toBe(false);
  });

  it('waits for a slow server rather than ask the next port', async () => {
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

  it('ends at once when it is aborted, before or during it', async () => {
    await using server = await Answerer.udp(() => {});
    const target = { type: 'rust', ip: LOOPBACK, port: server.port, isQueryPort: true };
    const before = await queryHere(target, { clock, signal: AbortSignal.abort() });
    const controller = new AbortController();
    const running = queryHere(target, { clock, signal: controller.signal });
    controller.abort();
    for (const outcome of [before, await running]) {
      expect(outcome.ok).toBe(false);
      expect(seconds(outcome)).toBeLessThan(5);
    }
  });

  it("isn't confused with other queries at the same time", async () => {
    await using one = await Answerer.udp(({ reply }) => reply(valveInfo(1, 10)));
    await using two = await Answerer.udp(({ reply }) => reply(valveInfo(2, 20)));
    await using silent = await Answerer.udp(() => {});
    const outcomes = await Promise.all(
      Array.from({ length: 96 }, (_, index) => ask('rust', [one, two, silent][index % 3]?.port ?? 0)),
    );
    for (const [index, outcome] of outcomes.entries())
      expect(outcome).toEqual([counted(1, 10), counted(2, 20), failed('query_no_answer')][index % 3]);
  });
});

describe('after a query', () => {
  const written: unknown[] = [];

  beforeEach(() => {
    written.length = 0;
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, method).mockImplementation((...words: unknown[]) => void written.push(words));
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('no connection is left open, however it ended', async () => {
    const before = activeResources();
    const flood = await Answerer.udp(({ reply }) => {
      for (let sent = 0; sent < 300; sent += 1) reply(Buffer.from('flood'));
    });
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

  it('the failure contains no name or other text of the server', async () => {
    // Short, because errors of JSON.parse quote the first ten characters.
    const name = 'zebra';
    const samples = [
      minecraftStatus({ players: { online: 1, max: 2, sample: [{ name, id: '1' }] } }),
      minecraftStatus(`{"players": {"sample": [{"name": "${name}"}]}} ${name}`),
      minecraftStatus(`${name} is no JSON`),
    ];
    for (const sample of samples) {
      await using server = await onceAsked((connection) => void connection.write(sample));
      expect(JSON.stringify(await ask('minecraft', server.port))).not.toContain(name);
    }
    expect(written).toEqual([]);
  });
});
