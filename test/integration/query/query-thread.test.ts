import { afterEach, describe, expect, it } from 'vitest';
import { BUILT } from '../../../src/build-info.ts';
import type { QueryOutcome } from '../../../src/query/client.ts';
import { QueryThread } from '../../../src/query/query-thread.ts';
import { Answerer, type Incoming, LOOPBACK, text, uint8, valveInfo } from '../../support/game-answers.ts';

/** An address of this machine that no other test uses, for ports that can't be chosen. */
const ELSEWHERE = '127.0.0.9';

const MAX_GROWTH_BYTES = 192 * 1024 * 1024;

/** The built program of the thread, with a decoder that never ends, or fills the memory, for answers of these words. */
const POISONED = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import ${JSON.stringify(new URL('query-worker.js', BUILT).href)};
    const { readInt32LE } = Buffer.prototype;
    const heap = [];
    Buffer.prototype.readInt32LE = function (at) {
      const word = this.toString('latin1');
      while (word === 'loop');
      while (word === 'fill') heap.push({});
      return readInt32LE.call(this, at);
    };
  `)}`,
);

const CHALLENGE = Buffer.concat([uint8(9, 0, 0, 0, 1), text('0')]);

/** An answer of 60 KB in GameSpy's third protocol, which decodes into 1.7 million objects. */
const EXPANDING = Buffer.concat([
  uint8(0, 0, 0, 0, 1, ...Buffer.alloc(9), 0x80, 0, 0),
  // Each field fills another list up to its 254th entry.
  ...Array.from({ length: 6_800 }, (_, field) =>
    Buffer.concat([text(`_${field.toString(36).padStart(3, '0')}`), uint8(254), text('x'), uint8(0)]),
  ),
]);

const expand = ({ datagram, reply }: Incoming) => reply(datagram[2] === 9 ? CHALLENGE : EXPANDING);
const answer = ({ reply }: Incoming) => reply(valveInfo(3, 10));

const THREE = { ok: true, players: 3, maxPlayers: 10, durationSeconds: expect.any(Number) };
const TOO_MUCH = {
  ok: false,
  failure: 'query_wrong_protocol',
  detail: expect.stringMatching(/^127\.0\.0\.1, port \d+: decoding the answer takes too much$/),
  durationSeconds: expect.any(Number),
};

let thread: QueryThread;

afterEach(() => thread.stop());

const ask = (type: string, { port }: Answerer) =>
  thread.query({ type, ip: LOOPBACK, port, isQueryPort: true }, new AbortController().signal);

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

/** A server that doesn't answer until it is told to, and then repeats nothing. */
async function startPatient() {
  const waiting: Incoming[] = [];
  let isPatient = true;
  const server = await Answerer.udp((incoming) => {
    if (isPatient) waiting.push(incoming);
    else answer(incoming);
  });
  const release = () => {
    isPatient = false;
    waiting.forEach(answer);
  };
  return { server, release };
}

describe('the thread that queries games', () => {
  it.each(['battlefield2', 'minecraft'])(
    'is replaced if a short answer to a query of the type %s needs too much memory, and other queries are answered',
    async (type) => {
      thread = new QueryThread();
      await using hostile = await Answerer.udp(expand);
      await using server = await Answerer.udp(answer);
      expect(await ask('rust', server)).toEqual(THREE);
      const poisoned = ask(type, hostile);
      const others = Array.from({ length: 20 }, () => ask('rust', server));
      const growth = watchMemory();
      const outcomes = await Promise.all([poisoned, ...others]);
      expect(growth()).toBeLessThan(MAX_GROWTH_BYTES);
      expect(outcomes).toEqual([TOO_MUCH, ...others.map(() => THREE)]);
    },
  );

  it.each(['loop', 'fill'])('is replaced if an answer makes a decoder %s', async (word) => {
    thread = new QueryThread(POISONED);
    await using hostile = await Answerer.udp(({ reply }) => reply(Buffer.from(word)));
    const { server, release } = await startPatient();
    const waiting = ask('rust', server);
    expect(await ask('rust', hostile)).toEqual(TOO_MUCH);
    release();
    expect(await waiting).toEqual(THREE);
    await server[Symbol.asyncDispose]();
  });

  it('finds one hostile server after another', async () => {
    thread = new QueryThread(POISONED);
    await using hostile = await Answerer.udp(({ reply }) => reply(Buffer.from('fill')));
    await using another = await Answerer.udp(({ reply }) => reply(Buffer.from('fill')));
    const { server, release } = await startPatient();
    const waiting = ask('rust', server);
    expect(await Promise.all([ask('rust', hostile), ask('rust', another)])).toEqual([TOO_MUCH, TOO_MUCH]);
    release();
    expect(await waiting).toEqual(THREE);
    await server[Symbol.asyncDispose]();
  });

  it('is replaced even if the hostile query has been withdrawn', async () => {
    thread = new QueryThread(POISONED);
    const controller = new AbortController();
    await using hostile = await Answerer.udp(({ reply }) => {
      reply(Buffer.from('loop'));
      // By then, the answer is being decoded.
      setTimeout(() => controller.abort(), 100);
    });
    await using server = await Answerer.udp(answer);
    expect(await ask('rust', server)).toEqual(THREE);
    const target = { type: 'rust', ip: LOOPBACK, port: hostile.port, isQueryPort: true };
    await thread.query(target, controller.signal);
    expect(await ask('rust', server)).toEqual(THREE);
  });

  it('opens no socket to the port of another server, whatever a protocol wants', async () => {
    thread = new QueryThread();
    const signal = new AbortController().signal;
    const reached: number[] = [];
    await using players = await Answerer.udp(() => {});
    await using neighbor = await Answerer.udp(
      (incoming) => {
        reached.push(neighbor.port);
        answer(incoming);
      },
      LOOPBACK,
      players.port + 1,
    );
    await using control = await Answerer.tcp(() => void reached.push(control.port), ELSEWHERE, 10_011);
    const takenPorts = [neighbor.port, control.port];
    const target = { ip: LOOPBACK, port: players.port, isQueryPort: false, takenPorts };
    const outcomes = [
      await thread.query({ ...target, type: 'valheim' }, signal),
      await thread.query({ ...target, type: 'teamspeak3', ip: ELSEWHERE, port: 9987 }, signal),
    ];
    expect(outcomes).toMatchObject([
      { ok: false, failure: 'query_no_answer' },
      {
        ok: false,
        failure: 'query_no_answer',
        detail: expect.stringMatching('port 10011 belongs to another server'),
      },
    ]);
    expect(reached).toEqual([]);
  });

  it("ends the queries if it can't start", async () => {
    thread = new QueryThread(new URL('nowhere.js', BUILT));
    await using server = await Answerer.udp(answer);
    await expect(ask('rust', server)).rejects.toThrow('the thread for queries ended');
  });

  it('ends with its queries, even if it is stuck', async () => {
    thread = new QueryThread(POISONED);
    let stopped: Promise<void> | undefined;
    await using hostile = await Answerer.udp(({ reply }) => {
      reply(Buffer.from('loop'));
      stopped = thread.stop();
    });
    const outcome: QueryOutcome = await ask('rust', hostile);
    expect(outcome.ok).toBe(false);
    await stopped;
  });

  it('remembers the port that answered, for longer than a thread', async () => {
    thread = new QueryThread(POISONED);
    await using players = await Answerer.udp(() => {});
    await using server = await Answerer.udp(answer, LOOPBACK, players.port + 1);
    await using hostile = await Answerer.udp(({ reply }) => reply(Buffer.from('fill')));
    const target = { type: 'valheim', ip: LOOPBACK, port: players.port, isQueryPort: false };
    const first = await thread.query(target, new AbortController().signal);
    expect(first).toEqual(THREE);
    expect(server.port).toBe(players.port + 1);
    await ask('rust', hostile);
    const second = await thread.query(target, new AbortController().signal);
    expect(second).toEqual(THREE);
    expect(second.durationSeconds).toBeLessThan(first.durationSeconds / 2);
  });
});
