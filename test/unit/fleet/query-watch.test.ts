import { isIP } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerState } from '../../../src/domain/power-states.ts';
import type { QuerySettings } from '../../../src/domain/server.ts';
import { sleep, untilAborted } from '../../../src/domain/waits.ts';
import { QueryWatch } from '../../../src/fleet/query-watch.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import type { AskOptions } from '../../../src/query/ask-players.ts';
import type { Answer, Question, Way } from '../../../src/query/query-model.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const INTERVAL = 30 * SECOND;
const MINECRAFT: QuerySettings = { type: 'minecraft', intervalMs: INTERVAL };
const WAY: Way = {
  protocol: 'minecraftvanilla',
  ip: '203.0.113.7',
  hostname: '203.0.113.7',
  port: 25_565,
  queryPort: 25_565,
};
const TWELVE: Answer = { players: 12, players_max: 40, way: WAY };
const SILENT: Answer = { query_problem: { cause: 'query_no_answer', detail: 'no response' } };

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let records: ServerRecord[];
let queried: Question[];
let services: AskOptions['findService'];
let answer: (question: Question, signal: AbortSignal) => Promise<Answer>;
let isListingPending: boolean;
let taken: readonly number[];
let resolved: string[];
let resolve: (name: string) => Promise<readonly string[]>;
let watch: QueryWatch;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  records = [];
  services = () => Promise.resolve(undefined);
  queried = [];
  answer = () => Promise.resolve(TWELVE);
  isListingPending = false;
  taken = [];
  resolved = [];
  resolve = () => Promise.resolve(['203.0.113.7']);
  watch = new QueryWatch({
    clock,
    log,
    random: () => 0.5,
    resolve: async (name, signal) => {
      resolved.push(name);
      return (await untilAborted(resolve(name), signal)).map((address) => ({
        address,
        family: isIP(address),
      }));
    },
    client: {
      query: (question, signal) => {
        queried.push(question);
        return answer(question, signal);
      },
    },
    panelUrl: 'https://panel.example.com',
    findService: (name) => services(name),
    isTaken: (_, port) => taken.includes(port),
    isListingPending: () => isListingPending,
  });
});

afterEach(() => watch.stop());

/** Adds a running server that can be queried. */
function observe(changes: Parameters<typeof target>[0] = {}, state: ServerState = 'running'): ServerRecord {
  const record = new ServerRecord(target({ query: MINECRAFT, address: '203.0.113.7:25565', ...changes }), {
    socket: MINUTE,
    poll: MINUTE,
  });
  record.interrupted();
  record.socketSample(sampleOf({ state, uptimeMs: 1_000 }), clock.now());
  records.push(record);
  watch.follow(records);
  return record;
}

/** Advances the time, with a sample of the server every second. */
async function passTime(ms: number, record: ServerRecord, state: ServerState = 'running'): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND) {
    await clock.advance(SECOND);
    record.socketSample(sampleOf({ state, uptimeMs: clock.now() }), clock.now());
  }
}

/** The visible result of the newest query; undefined if there is none. */
function shown(record: ServerRecord, at = clock.now()) {
  const {
    players,
    players_max,
    query_problem,
    query_duration_seconds: duration,
  } = record.snapshot(at, clock);
  return duration === undefined ? undefined : { players, players_max, problem: query_problem, duration };
}
function restart(record: ServerRecord): void {
  for (const state of ['stopping', 'offline', 'starting', 'running'] as const)
    record.stateHint(state, clock.now());
}
const portsOf = ({ ways }: Question) => [...new Set(ways.map(({ port }) => port))];
const warnings = () => log.lines.filter(({ level }) => level === 'warn');

describe('a running server', () => {
  it('is queried with the ports that the server list gives to others, unless its query port is configured', async () => {
    taken = [25_566];
    const record = observe({ otherPorts: [25_566, 25_567] });
    const query = { ...MINECRAFT, address: '203.0.113.7:25566' };
    const configured = observe({ id: 'b0000000', query });
    await passTime(INTERVAL, record);
    configured.socketSample(sampleOf({ state: 'running', uptimeMs: clock.now() }), clock.now());
    await passTime(INTERVAL, record);
    expect(queried.map(portsOf)).toEqual(expect.arrayContaining([[25_565, 25_567], [25_566]]));
  });

  it('shows the response, and how long it took', async () => {
    answer = async (_, signal) => {
      await sleep(clock, 50, signal);
      return TWELVE;
    };
    const record = observe();
    await passTime(INTERVAL, record);
    expect(shown(record)).toEqual({ players: 12, players_max: 40, problem: undefined, duration: 0.05 });
  });

  it('is queried at the configured address, whose name is resolved once per query', async () => {
    const record = observe({ query: { ...MINECRAFT, address: 'play.example.com:2457' } });
    await passTime(INTERVAL, record);
    expect(queried.map(({ ways }) => ways[0])).toEqual([
      { ...WAY, hostname: 'play.example.com', port: 2_457, queryPort: 2_457 },
    ]);
    expect(queried.map(portsOf)).toEqual([[2_457]]);
    await passTime(INTERVAL, record);
    expect(resolved).toEqual(['play.example.com', 'play.example.com']);
  });

  it('is queried with the way that it responded in, until its next run', async () => {
    const record = observe();
    await passTime(2 * INTERVAL, record);
    restart(record);
    record.socketSample(sampleOf({ state: 'running', uptimeMs: 1_000 }), clock.now());
    await passTime(INTERVAL, record);
    expect(queried.map(({ ways }) => ways.length)).toEqual([4, 1, 4]);
    expect(queried[1]?.ways).toEqual([WAY]);
  });
});

describe('nothing is queried or shown', () => {
  it.each<ServerState>(['offline', 'stopping', 'unknown'])('for a server that is %s', async (state) => {
    const record = observe({}, state);
    await passTime(5 * MINUTE, record, state);
    expect(queried).toEqual([]);
    expect(shown(record)).toBeUndefined();
  });

  it.each([
    ['responds', TWELVE, 12],
    ['does not respond', { query_problem: { cause: 'query_no_answer', detail: 'no response' } }, undefined],
  ] as const)(
    'for a server that is starting, for 15 minutes; after that, only a response counts: its game %s',
    async (_, outcome, players) => {
      answer = () => Promise.resolve(outcome);
      const record = observe({}, 'starting');
      const startedAt = clock.now();
      const starting = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += SECOND) {
          await clock.advance(SECOND);
          record.socketSample(
            sampleOf({ state: 'starting', uptimeMs: clock.now() - startedAt }),
            clock.now(),
          );
        }
      };
      await starting(14 * MINUTE);
      expect(queried).toEqual([]);
      await starting(3 * MINUTE);
      expect(queried.length).toBeGreaterThan(0);
      expect(shown(record)?.players).toBe(players);
      expect(shown(record)?.problem).toBeUndefined();
      expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    },
  );

  it('for a server without fresh samples', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    expect(queried).toHaveLength(1);
    await clock.advance(2 * MINUTE);
    const { length } = queried;
    expect(shown(record)).toBeUndefined();
    await clock.advance(10 * MINUTE);
    expect(queried).toHaveLength(length);
  });

  it('for a stopping server, from the first event that shows it', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    expect(shown(record)?.players).toBe(12);
    record.stateHint('stopping', clock.now());
    expect(shown(record)).toBeUndefined();
  });

  it('from the previous run after a restart', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    expect(shown(record)?.players).toBe(12);
    restart(record);
    record.socketSample(sampleOf({ state: 'running', uptimeMs: 1_000 }), clock.now());
    expect(record.state).toBe('running');
    expect(shown(record)).toBeUndefined();
  });

  it('from a response that arrives after the end of the run', async () => {
    let finish: (outcome: Answer) => void = () => undefined;
    answer = () => new Promise((ended) => (finish = ended));
    const record = observe();
    while (queried.length === 0) await passTime(SECOND, record);
    restart(record);
    finish(TWELVE);
    await clock.advance(0);
    expect(shown(record)).toBeUndefined();
  });

  it('from a response older than its staleness', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    const at = (intervals: number) => {
      const then = clock.now() + intervals * INTERVAL;
      record.socketSample(sampleOf({ state: 'running', uptimeMs: then }), then);
      return { players: shown(record, then)?.players, up: record.snapshot(then, clock).query_up };
    };
    // The last response is half an interval old.
    expect([at(1.9), at(2.1)]).toEqual([
      { players: 12, up: 1 },
      { players: undefined, up: undefined },
    ]);
  });
});

describe('a failed query', () => {
  it('removes the players immediately, and remains a problem until the next query succeeds', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    answer = () => Promise.resolve(SILENT);
    await passTime(INTERVAL, record);
    expect(shown(record)?.players).toBeUndefined();
    for (let minutes = 0; minutes < 20; minutes += 1) {
      await passTime(MINUTE, record);
      expect(shown(record)?.problem?.cause).toBe('query_no_answer');
    }
  });

  it.each([{ namedPort: 25_570 }, { otherPorts: [25_571] }])(
    'is repeated within an interval when the server list changes to %j',
    async (ports) => {
      answer = () => Promise.resolve(SILENT);
      const record = observe();
      await passTime(45 * MINUTE, record);
      queried.length = 0;
      record.target = { ...record.target, ...ports };
      watch.follow(records);
      await passTime(INTERVAL, record);
      expect(queried.map(portsOf)).toEqual([expect.arrayContaining(Object.values(ports).flat())]);
    },
  );

  it('of a guess that never led to a response is a fact, and is not logged', async () => {
    answer = () => Promise.resolve(SILENT);
    const record = observe({ query: { ...MINECRAFT, isGuess: true } });
    await passTime(5 * MINUTE, record);
    expect(shown(record)?.problem).toEqual({ cause: 'query_never_answered', detail: 'no response' });
    expect(record.snapshot(clock.now(), clock).query_up).toBe(0);
    expect(warnings()).toEqual([]);
    answer = () => Promise.resolve(TWELVE);
    await passTime(2 * MINUTE, record);
    expect(shown(record)?.players).toBe(12);
    answer = () => Promise.resolve(SILENT);
    await passTime(2 * MINUTE, record);
    expect(shown(record)?.problem?.cause).toBe('query_no_answer');
    expect(warnings()).toHaveLength(1);
  });

  it('sends nothing if its name resolves to this machine, whatever it resolved to before', async () => {
    const record = observe({ address: 'play.example.com:25565' });
    await passTime(INTERVAL, record);
    expect(queried).toHaveLength(1);
    resolve = () => Promise.resolve(['127.0.0.1']);
    await passTime(INTERVAL, record);
    expect(queried).toHaveLength(1);
    expect(shown(record)?.problem?.cause).toBe('query_address_not_allowed');
  });

  it('is made at every address of a name, IPv6 and IPv4, up to four', async () => {
    resolve = () =>
      Promise.resolve(['2001:db8::7', '203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4']);
    await passTime(INTERVAL, observe({ address: 'play.example.com:25565' }));
    const ips = new Set(queried.flatMap(({ ways }) => ways.map(({ ip }) => ip)));
    expect([...ips]).toEqual(['2001:db8::7', '203.0.113.1', '203.0.113.2', '203.0.113.3']);
  });

  it('is repeated where the service of its name is, if the name has no address', async () => {
    const asked: string[] = [];
    services = (name) => {
      asked.push(name);
      return Promise.resolve({ name: 'node.example.com', port: 25_570 });
    };
    resolve = (name) =>
      name === 'node.example.com' ? Promise.resolve(['203.0.113.9']) : Promise.reject(new Error('ENOTFOUND'));
    const record = observe({ address: 'play.example.com:25565', otherPorts: [25_566] });
    await passTime(INTERVAL, record);
    expect(asked).toEqual(['_minecraft._tcp.play.example.com']);
    expect(queried[0]?.ways[0]).toMatchObject({ ip: '203.0.113.9', hostname: 'play.example.com' });
    expect(queried.map(portsOf)).toEqual([[25_570]]);
    resolve = (name) =>
      name === 'node.example.com' ? Promise.resolve(['127.0.0.1']) : Promise.reject(new Error('ENOTFOUND'));
    await passTime(INTERVAL, record);
    expect(queried).toHaveLength(1);
    expect(shown(record)?.problem?.cause).toBe('query_address_not_allowed');
  });

  it('ends even if the resolver hangs', async () => {
    resolve = () => new Promise(() => undefined);
    const record = observe({ address: 'play.example.com:25565' });
    await passTime(INTERVAL + 6 * SECOND, record);
    expect(shown(record)?.problem).toEqual({
      cause: 'query_dns',
      detail: '"play.example.com": not resolved in time',
    });
  });

  it('ends even if the client never responds', async () => {
    answer = () => new Promise(() => undefined);
    const record = observe();
    await passTime(INTERVAL + 6 * SECOND, record);
    expect(shown(record)?.problem).toEqual({ cause: 'query_no_answer', detail: 'no response within 5 s' });
  });

  it('is reported as unexpected if the exporter itself caused it', async () => {
    answer = () => Promise.reject(new Error('a bug'));
    const record = observe();
    await passTime(INTERVAL, record);
    expect(shown(record)?.problem).toEqual({ cause: 'unexpected', detail: 'a bug' });
  });
});

describe('the server list', () => {
  it('is awaited before an address is reported as missing', async () => {
    isListingPending = true;
    const record = observe();
    const { address: _, ...rest } = record.target;
    record.target = rest;
    watch.follow(records);
    await passTime(2 * INTERVAL, record);
    expect(shown(record)).toBeUndefined();
    isListingPending = false;
    record.target = { ...rest, address: '203.0.113.7:25565' };
    watch.follow(records);
    await passTime(INTERVAL, record);
    expect(shown(record)?.players).toBe(12);
    expect(warnings()).toEqual([]);
  });

  it('can change the address, and the previous response is then dropped', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    record.target = { ...record.target, address: '203.0.113.8:25565' };
    watch.follow(records);
    expect(shown(record)).toBeUndefined();
    await passTime(INTERVAL, record);
    expect(queried.at(-1)?.ways[0]?.ip).toBe('203.0.113.8');
  });
});

describe('a configuration change', () => {
  it('of other settings keeps the response', async () => {
    const record = observe();
    await passTime(INTERVAL, record);
    record.target = { ...record.target, name: 'another' };
    watch.follow(records);
    expect(shown(record)?.players).toBe(12);
  });

  it('can allow a host to be queried', async () => {
    const record = observe({ address: '127.0.0.1:25565' });
    await passTime(5 * MINUTE, record);
    expect(queried).toEqual([]);
    watch.follow(records, ['127.0.0.1']);
    await passTime(INTERVAL, record);
    expect(queried).toHaveLength(1);
  });
});

it('queries are withdrawn on a stop, and no timer is left', async () => {
  let aborted = 0;
  answer = (_question, signal) =>
    new Promise(() => signal.addEventListener('abort', () => (aborted += 1), { once: true }));
  const record = observe();
  while (queried.length === 0) await passTime(SECOND, record);
  await watch.stop();
  await clock.advance(0);
  expect(aborted).toBe(1);
  expect(clock.pending).toBe(0);
  expect(shown(record)).toBeUndefined();
});
