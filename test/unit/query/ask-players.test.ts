import { describe, expect, it, vi } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { untilAborted } from '../../../src/domain/waits.ts';
import { type AskOptions, askPlayers, composeQuestion } from '../../../src/query/ask-players.ts';
import { type Answer, DEADLINE_MS, type Question, type Way } from '../../../src/query/query-model.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const ADDRESS = '203.0.113.7';
const HOST = 'play.example.com';
const query = { type: 'minecraft', intervalMs: 60_000 };
const TWELVE: Answer = { players: 12 };

interface Setup {
  readonly server?: Partial<ServerTarget>;
  readonly options?: Partial<AskOptions>;
  /** The addresses of these names. All other names are unknown. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly answer?: (question: Question, signal: AbortSignal) => Promise<Answer>;
}

/** A query of a Minecraft server, the question that it asked, and the names that it looked up. */
function asking({ server, options, names = {}, answer = () => Promise.resolve(TWELVE) }: Setup = {}) {
  const clock = new ManualClock();
  const questions: Question[] = [];
  const lookups: string[] = [];
  const abort = new AbortController();
  const result = askPlayers(
    target({ query, address: `${HOST}:25565`, ...server }),
    {
      clock,
      client: {
        query: (question, signal) => {
          questions.push(question);
          return answer(question, signal);
        },
      },
      policy: { panelUrl: 'https://panel.example.com' },
      isTaken: () => false,
      resolve: (name) => {
        lookups.push(name);
        const addresses = names[name];
        if (addresses === undefined)
          return Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
        return Promise.resolve(addresses.map((address) => ({ address, family: 4 })));
      },
      findService: (name) => {
        lookups.push(name);
        return Promise.resolve(undefined);
      },
      ...options,
    },
    abort.signal,
  );
  return { clock, questions, lookups, abort, result };
}

const KNOWN = { [HOST]: [ADDRESS] };
const places = (questions: readonly Question[]) =>
  questions.map(({ ways }) => ways.map(({ ip, port, hostname }) => `${hostname} ${ip}:${port}`));

describe('a query', () => {
  it('asks at the address of the server’s name, and has the players of the response', async () => {
    const { questions, lookups, result } = asking({ names: KNOWN });
    expect(await result).toEqual({ ...TWELVE, query_duration_seconds: 0 });
    expect(new Set(places(questions).flat())).toEqual(new Set([`${HOST} ${ADDRESS}:25565`]));
    expect(lookups).toEqual([HOST]);
  });

  it.each<[string, Setup, Answer['query_problem']]>([
    [
      'without a place',
      { server: { address: undefined } },
      { cause: 'query_address_missing', detail: 'the server list has no default allocation' },
    ],
    [
      'of an unknown name',
      { server: { query: { ...query, type: 'rust' } } },
      { cause: 'query_dns', detail: `"${HOST}": ENOTFOUND` },
    ],
    [
      'of a name that is this machine',
      { names: { [HOST]: ['127.0.0.1'] } },
      {
        cause: 'query_address_not_allowed',
        detail: `"${HOST}" resolves to 127.0.0.1: a loopback or link-local address, but the panel is on another machine`,
      },
    ],
    [
      'whose ports all belong to other servers',
      { names: KNOWN, options: { isTaken: () => true } },
      { cause: 'query_no_answer', detail: 'not queried: its ports belong to other servers' },
    ],
  ])('%s sends nothing, and has its problem', async (_what, setup, problem) => {
    const { questions, result } = asking(setup);
    expect(await result).toEqual({ query_problem: problem, query_duration_seconds: 0 });
    expect(questions).toEqual([]);
  });

  it('that fails in an unexpected manner has the error as its problem', async () => {
    const { result } = asking({ names: KNOWN, answer: () => Promise.reject(new Error('no thread')) });
    expect(await result).toMatchObject({ query_problem: { cause: 'unexpected', detail: 'no thread' } });
  });

  it.each<[string, Setup, Answer['query_problem']]>([
    [
      'hangs',
      { names: KNOWN, answer: () => new Promise(() => undefined) },
      { cause: 'query_no_answer', detail: 'no response within 5 s' },
    ],
    [
      'waits for its name',
      { options: { resolve: (_name, signal) => untilAborted(new Promise(() => undefined), signal) } },
      { cause: 'query_dns', detail: `"${HOST}": not resolved in time` },
    ],
  ])('that %s ends half a second after the deadline of its client', async (_what, setup, problem) => {
    const { clock, lookups, result } = asking(setup);
    const ended = vi.fn<() => void>();
    void result.finally(ended);
    await clock.advance(DEADLINE_MS + 499);
    expect(ended).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(await result).toMatchObject({ query_problem: problem });
    expect(lookups).not.toContain(`_minecraft._tcp.${HOST}`);
  });

  it('measures the time since its question, without the name lookup', async () => {
    let known: () => void = () => undefined;
    let answered: () => void = () => undefined;
    const { clock, questions, result } = asking({
      options: {
        resolve: () =>
          new Promise((resolve) => {
            known = () => resolve([{ address: ADDRESS, family: 4 }]);
          }),
      },
      answer: () =>
        new Promise((resolve) => {
          answered = () => resolve(TWELVE);
        }),
    });
    await clock.advance(2_000);
    known();
    await clock.advance(0);
    expect(questions).toHaveLength(1);
    await clock.advance(125);
    answered();
    expect(await result).toEqual({ ...TWELVE, query_duration_seconds: 0.125 });
  });
});

describe('the SRV record of an unknown name', () => {
  const service = { name: 'other.example.com', port: 25_570 };
  const names = { [service.name]: ['203.0.113.8'] };

  it('is the place of a Minecraft server, without the listed ports', async () => {
    const lookups: string[] = [];
    const { questions, result } = asking({
      server: { otherPorts: [25_575], namedPort: 25_580 },
      names,
      options: {
        findService: (name) => {
          lookups.push(name);
          return Promise.resolve(service);
        },
      },
    });
    await result;
    expect(lookups).toEqual([`_minecraft._tcp.${HOST}`]);
    expect(new Set(places(questions).flat())).toEqual(new Set([`${HOST} 203.0.113.8:25570`]));
  });

  it('may not lead to this machine', async () => {
    const { questions, result } = asking({
      names: { [service.name]: ['127.0.0.1'] },
      options: { findService: () => Promise.resolve(service) },
    });
    expect(await result).toMatchObject({ query_problem: { cause: 'query_address_not_allowed' } });
    expect(questions).toEqual([]);
  });

  it.each<[string, Setup]>([
    ['of another game', { server: { query: { ...query, type: 'rust' } } }],
    ['whose name is known', { names: KNOWN }],
    ['whose address may not be queried', { names: { [HOST]: ['127.0.0.1'] } }],
  ])('is not looked up for a server %s', async (_what, setup) => {
    const { lookups, result } = asking(setup);
    await result;
    expect(lookups).toEqual([HOST]);
  });
});

describe('the question', () => {
  const way = (port: number): Way => ({
    protocol: 'a2s',
    ip: ADDRESS,
    port,
    queryPort: port,
    hostname: HOST,
  });
  const ways = [way(1), way(2), way(3), way(4)];

  it.each<[string, readonly Way[], Way | undefined, number, number]>([
    ['has all ways, each with its share of the time', ways, undefined, 4, DEADLINE_MS / 4],
    ['has all ways if the earliest one isn’t among them', ways, way(9), 4, DEADLINE_MS / 4],
    ['ends with the earliest way that responded', ways, way(3), 3, 400],
    ['has the whole head start for one way before it', ways, way(2), 2, 800],
    ['has only the first way if that responded', ways, way(1), 1, 800],
  ])('%s', (_what, all, earliest, count, headStartMs) => {
    expect(composeQuestion(all, earliest)).toEqual({ ways: ways.slice(0, count), headStartMs });
  });
});
