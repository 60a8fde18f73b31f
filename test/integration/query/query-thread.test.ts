import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { DIST_URL } from '../../../src/build-info.ts';
import { QueryThread } from '../../../src/query/query-thread.ts';
import { repeatedly } from '../../support/eventually.ts';
import {
  Answerer,
  type Incoming,
  LOOPBACK,
  MANY_FIELDS,
  text,
  uint8,
  valveInfo,
} from '../../support/game-answers.ts';
import { activeResources } from '../../support/leaks.ts';
import { type QueryTarget, questionFor } from '../../support/query-here.ts';

const MAX_GROWTH_BYTES = 192 * 1024 * 1024;

/**
 * The built program of the thread with a slower clock, so that a busy machine meets its deadlines.
 * The deadline of five seconds is twenty times as long. Each transport's head start, a part of the
 * deadline, keeps its length.
 */
const PATIENT = `
  import ${JSON.stringify(new URL('query-worker.js', DIST_URL).href)};
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (run, delayMs = 0, ...args) => later(run, delayMs < 4_500 ? delayMs : 20 * delayMs, ...args);`;

const programOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

/**
 * The same program with a decoder that is slow, never ends, or fills the memory. The response
 * determines which.
 */
const POISONED = programOf(`${PATIENT}
    const { readInt32LE } = Buffer.prototype;
    const heap = [];
    Buffer.prototype.readInt32LE = function (at) {
      const word = this.toString('latin1');
      for (const before = process.cpuUsage(); word === 'slow' && process.cpuUsage(before).user < 400_000; );
      while (word === 'loop');
      while (word === 'fill') heap.push({});
      return readInt32LE.call(this, at);
    };
`);

const CHALLENGE = Buffer.concat([uint8(9, 0, 0, 0, 1), text('0')]);

/** A response of 60 KB in GameSpy's third protocol that decodes into 1.7 million objects. */
const EXPANDING = Buffer.concat([
  uint8(0, 0, 0, 0, 1, ...Buffer.alloc(9), 0x80, 0, 0),
  // Each field fills another list up to its 254th entry.
  ...Array.from({ length: 6_800 }, (_, field) =>
    Buffer.concat([text(`_${field.toString(36).padStart(3, '0')}`), uint8(254), text('x'), uint8(0)]),
  ),
]);

const expand = ({ datagram, reply }: Incoming) => reply(datagram[2] === 9 ? CHALLENGE : EXPANDING);
const answer = ({ reply }: Incoming) => reply(valveInfo(3, 10));
/** A game server that responds with this word. */
const hostileWith = (word: string) => Answerer.udp(({ reply }) => reply(Buffer.from(word)));

const THREE = { players: 3, players_max: 10 };
const TOO_MUCH = {
  query_problem: {
    cause: 'query_wrong_protocol',
    detail: expect.stringMatching(
      /^(?:127\.0\.0\.1, (?:UDP|TCP) port \d+: )?decoding the response takes too much/,
    ),
  },
};

/** Starts a query with its own signal. */
const query = (target: QueryTarget) =>
  thread
    .query(questionFor(target), new AbortController().signal)
    .then(({ query_problem, players, players_max }) =>
      query_problem === undefined ? { players, players_max } : { query_problem },
    );
let thread: QueryThread;

afterEach(() => thread.stop());

const targetOf = ({ port }: Answerer) => ({ type: 'rust', ip: LOOPBACK, port, isQueryPort: true });
const ask = (server: Answerer, type = 'rust') => query({ ...targetOf(server), type });

/**
 * Watches the process's memory. The returned function ends the watch, and returns the maximum
 * growth in bytes.
 */
function watchMemory(): () => number {
  const before = process.memoryUsage.rss();
  let most = before;
  const end = repeatedly(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  return () => {
    end();
    return most - before;
  };
}

describe('the thread that queries games', () => {
  it.each(['battlefield2', 'minecraft'])(
    'is replaced if a short response to a query of the type %s needs too much memory, and other queries get their responses',
    async (type) => {
      thread = new QueryThread(programOf(PATIENT));
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
      thread = new QueryThread(POISONED);
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
    thread = new QueryThread(programOf(PATIENT));
    await using hostile = await Answerer.udp(({ reply }) => reply(MANY_FIELDS));
    await using server = await Answerer.udp(answer);
    const outcomes = await Promise.all([ask(hostile, 'unrealtournament'), ask(server)]);
    expect(outcomes).toEqual([TOO_MUCH, THREE]);
  });

  it('is replaced even if the hostile query has been withdrawn', async () => {
    thread = new QueryThread(POISONED);
    const controller = new AbortController();
    await using hostile = await Answerer.udp(({ reply }) => {
      reply(Buffer.from('loop'));
      controller.abort();
    });
    await using server = await Answerer.udp(answer);
    expect(await ask(server)).toEqual(THREE);
    void thread.query(questionFor(targetOf(hostile)), controller.signal);
    await once(controller.signal, 'abort');
    expect(await ask(server)).toEqual(THREE);
  });

  it('closes the connections of a query that is withdrawn', async () => {
    thread = new QueryThread(programOf(PATIENT));
    const controller = new AbortController();
    const waiting: Incoming[] = [];
    await using server = await Answerer.udp((incoming) => void waiting.push(incoming));
    // This query's deadline comes before that of the other query.
    const asked = ask(server);
    await using held = await Answerer.tcp((connection) => {
      connection.once('data', () => controller.abort());
      connection.once('close', () => waiting.forEach(answer));
    });
    void thread.query(questionFor({ ...targetOf(held), type: 'openttd' }), controller.signal);
    expect(await asked).toEqual(THREE);
  });

  it("starts with the first query, and ends the queries if it can't start", async () => {
    const before = activeResources();
    thread = new QueryThread(new URL('nowhere.js', DIST_URL));
    expect(activeResources()).toEqual(before);
    await using server = await Answerer.udp(answer);
    await expect(ask(server)).rejects.toThrow('the thread for queries ended');
  });

  it('ends with its queries, even if it is stuck', async () => {
    thread = new QueryThread(POISONED);
    let stopped: Promise<void> | undefined;
    await using hostile = await Answerer.udp(({ reply }) => {
      reply(Buffer.from('loop'));
      stopped = thread.stop();
    });
    await expect(ask(hostile)).rejects.toThrow('the thread for queries ended');
    await stopped;
  });
});
