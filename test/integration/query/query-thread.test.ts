import { afterEach, describe, expect, it } from 'vitest';
import { BUILT } from '../../../src/build-info.ts';
import { GameClient, type QueryTarget } from '../../../src/query/client.ts';
import { LibraryThread } from '../../../src/query/library-thread.ts';
import { FastClock } from '../../../src/simulator/fast-clock.ts';
import {
  Answerer,
  type Incoming,
  LOOPBACK,
  MANY_FIELDS,
  text,
  uint8,
  valveInfo,
} from '../../support/game-answers.ts';
import { countsOf } from '../../support/query-here.ts';

/** An address of this machine that no other test uses, for ports that can't be chosen. */
const ELSEWHERE = '127.0.0.9';

const MAX_GROWTH_BYTES = 192 * 1024 * 1024;

/** The built program of the thread, with a decoder that is slow, never ends, or fills the memory, for responses of these words. */
const POISONED = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import ${JSON.stringify(new URL('query-worker.js', BUILT).href)};
    const { readInt32LE } = Buffer.prototype;
    const heap = [];
    Buffer.prototype.readInt32LE = function (at) {
      const word = this.toString('latin1');
      for (const before = process.cpuUsage(); word === 'slow' && process.cpuUsage(before).user < 400_000; );
      while (word === 'loop');
      while (word === 'fill') heap.push({});
      return readInt32LE.call(this, at);
    };
  `)}`,
);

const CHALLENGE = Buffer.concat([uint8(9, 0, 0, 0, 1), text('0')]);

/** A response of 60 KB in GameSpy's third protocol, which decodes into 1.7 million objects. */
const EXPANDING = Buffer.concat([
  uint8(0, 0, 0, 0, 1, ...Buffer.alloc(9), 0x80, 0, 0),
  // Each field fills another list up to its 254th entry.
  ...Array.from({ length: 6_800 }, (_, field) =>
    Buffer.concat([text(`_${field.toString(36).padStart(3, '0')}`), uint8(254), text('x'), uint8(0)]),
  ),
]);

const expand = ({ datagram, reply }: Incoming) => reply(datagram[2] === 9 ? CHALLENGE : EXPANDING);
const answer = ({ reply }: Incoming) => reply(valveInfo(3, 10));
/** A server whose response is this word. */
const hostileWith = (word: string) => Answerer.udp(({ reply }) => reply(Buffer.from(word)));

const THREE = { players: 3, playersMax: 10, durationSeconds: expect.any(Number) };
const detail = expect.stringMatching(
  /^127\.0\.0\.1, (?:UDP|TCP) port \d+: decoding the response takes too much/,
);
const TOO_MUCH = { problem: { cause: 'query_wrong_protocol', detail }, durationSeconds: expect.any(Number) };

/** Queries with a signal of its own. */
const query = (target: QueryTarget) => thread.query(target, new AbortController().signal).then(countsOf);
let thread: GameClient;

/** A client whose deadline of 5 s no busy machine misses while its thread is replaced: a second takes three. */
const patientClient = (library?: LibraryThread) => new GameClient(library, new FastClock(1 / 3));

afterEach(() => thread.stop());

const targetOf = ({ port }: Answerer) => ({ type: 'rust', ip: LOOPBACK, port, isQueryPort: true });
const ask = (server: Answerer, type = 'rust') => query({ ...targetOf(server), type });

/** Watches the process's memory; the returned function ends this and returns its growth at most, in bytes. */
function watchMemory(): () => number {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  return () => {
    clearInterval(timer);
    return most - before;
  };
}

describe('the thread that queries games', () => {
  it.each(['battlefield2', 'minecraft'])(
    'is replaced if a short response to a query of the type %s needs too much memory, and other queries get their responses',
    async (type) => {
      thread = patientClient();
      await using hostile = await Answerer.udp(expand);
      await using server = await Answerer.udp(answer);
      expect(await ask(server)).toEqual(THREE);
      const poisoned = ask(hostile, type);
      const others = Array.from({ length: 20 }, () => ask(server));
      const growth = watchMemory();
      const outcomes = await Promise.all([poisoned, ...others]);
      expect(growth()).toBeLessThan(MAX_GROWTH_BYTES);
      expect(outcomes).toEqual([TOO_MUCH, ...others.map(() => THREE)]);
    },
  );

  it.each([['slow'], ['loop'], ['fill'], ['fill', 'fill']])(
    'is replaced if a response makes a decoder %s, and another one %s',
    async (...words) => {
      thread = patientClient(new LibraryThread(POISONED));
      const waiting: Incoming[] = [];
      let isPatient = true;
      await using server = await Answerer.udp((incoming) =>
        isPatient ? void waiting.push(incoming) : answer(incoming),
      );
      const patient = ask(server);
      const hostile = await Promise.all(words.map(hostileWith));
      expect(await Promise.all(hostile.map((one) => ask(one)))).toEqual(words.map(() => TOO_MUCH));
      isPatient = false;
      waiting.forEach(answer);
      expect(await patient).toEqual(THREE);
      for (const one of hostile) await one[Symbol.asyncDispose]();
    },
  );

  it('is replaced if a response of GameSpy has many thousand fields', async () => {
    thread = patientClient();
    await using hostile = await Answerer.udp(({ reply }) => reply(MANY_FIELDS));
    await using server = await Answerer.udp(answer);
    const outcomes = await Promise.all([ask(hostile, 'unrealtournament'), ask(server)]);
    expect(outcomes).toEqual([TOO_MUCH, THREE]);
  });

  it('gets the calls again that came with the one that it was busy with', async () => {
    const library = new LibraryThread(POISONED);
    thread = patientClient(library);
    const server = { ip: LOOPBACK, port: 27_015, token: Buffer.alloc(4) };
    const run = (bytes: Buffer) =>
      library.run('valve', server, [{ on: 'received', bytes }], new AbortController().signal);
    const [hostile, good] = await Promise.all([run(Buffer.from('loop')), run(valveInfo(3, 10))]);
    expect(hostile.unreadable).toMatch(/takes too much/);
    expect(good.players).toMatchObject({ players: 3 });
  });

  it('is replaced even if the hostile query has been withdrawn', async () => {
    thread = patientClient(new LibraryThread(POISONED));
    const controller = new AbortController();
    await using hostile = await Answerer.udp(({ reply }) => {
      reply(Buffer.from('loop'));
      // By then, the response is being decoded.
      setTimeout(() => controller.abort(), 100);
    });
    await using server = await Answerer.udp(answer);
    expect(await ask(server)).toEqual(THREE);
    await thread.query(targetOf(hostile), controller.signal);
    expect(await ask(server)).toEqual(THREE);
  });

  it('opens no socket to the port of another server, whatever a protocol requests', async () => {
    thread = new GameClient();
    let reached = false;
    const reach = () => {
      reached = true;
    };
    await using players = await Answerer.udp(() => {});
    await using neighbor = await Answerer.udp(reach, LOOPBACK, players.port + 1);
    await using control = await Answerer.tcp(reach, ELSEWHERE, 10_011);
    const target = {
      ...targetOf(players),
      isQueryPort: false,
      isTaken: (port: number) => port === neighbor.port || port === control.port,
    };
    const words = expect.stringMatching('port 10011: belongs to another server');
    expect([
      await query({ ...target, type: 'valheim' }),
      await query({ ...target, type: 'teamspeak3', ip: ELSEWHERE, port: 9987 }),
    ]).toMatchObject([
      { problem: { cause: 'query_no_answer' } },
      { problem: { cause: 'query_no_answer', detail: words } },
    ]);
    expect(reached).toBe(false);
  });

  it("ends the queries if it can't start", async () => {
    thread = new GameClient(new LibraryThread(new URL('nowhere.js', BUILT)));
    await using server = await Answerer.udp(answer);
    await expect(ask(server)).rejects.toThrow('the thread for queries ended');
  });

  it('ends with its queries, even if it is stuck', async () => {
    thread = patientClient(new LibraryThread(POISONED));
    let stopped: Promise<void> | undefined;
    await using hostile = await Answerer.udp(({ reply }) => {
      reply(Buffer.from('loop'));
      stopped = thread.stop();
    });
    await expect(ask(hostile)).rejects.toThrow('the thread for queries ended');
    await stopped;
  });

  it('is replaced without forgetting which port responded', async () => {
    thread = patientClient(new LibraryThread(POISONED));
    await using players = await Answerer.udp(() => {});
    await using server = await Answerer.udp(answer, LOOPBACK, players.port + 1);
    await using hostile = await hostileWith('fill');
    const target = { ...targetOf(players), type: 'valheim', isQueryPort: false };
    const { way: earliest, ...first } = await thread.query(target, new AbortController().signal);
    expect(server.port).toBe(players.port + 1);
    await ask(hostile);
    const second = await query({ ...target, earliest });
    expect([countsOf(first), second]).toEqual([THREE, THREE]);
    expect(second.durationSeconds).toBeLessThan(2);
  });
});
