import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { QuerySettings } from '../../../src/domain/query.ts';
import { shownQuery } from '../../../src/domain/reading.ts';
import type { ServerState } from '../../../src/domain/server.ts';
import { NameLookups } from '../../../src/fleet/name-lookups.ts';
import { QueryScheduler } from '../../../src/fleet/query-scheduler.ts';
import { QueryWatch } from '../../../src/fleet/query-watch.ts';
import { ServerLog } from '../../../src/fleet/server-log.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import type { QueryOutcome, QueryTarget } from '../../../src/query/client.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const INTERVAL = 30 * SECOND;
const MINECRAFT: QuerySettings = { type: 'minecraft', intervalMs: INTERVAL };
const TWELVE: QueryOutcome = { ok: true, players: 12, maxPlayers: 40, durationSeconds: 0.05 };
const SILENT: QueryOutcome = {
  ok: false,
  failure: 'query_no_answer',
  detail: 'no answer',
  durationSeconds: 5,
};

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let records: ServerRecord[];
let queried: QueryTarget[];
let answer: (target: QueryTarget, signal: AbortSignal) => Promise<QueryOutcome>;
let loads: number;
let isListingPending: boolean;
let resolved: string[];
let resolve: (name: string) => Promise<readonly string[]>;
let watch: QueryWatch;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  records = [];
  queried = [];
  answer = () => Promise.resolve(TWELVE);
  loads = 0;
  isListingPending = false;
  resolved = [];
  resolve = () => Promise.resolve(['203.0.113.7']);
  watch = new QueryWatch({
    clock,
    log: new ServerLog('main', log, clock),
    scheduler: new QueryScheduler(clock),
    lookups: new NameLookups((name) => {
      resolved.push(name);
      return resolve(name);
    }),
    client: () => {
      loads += 1;
      const query = (queryTarget: QueryTarget, signal: AbortSignal) => {
        queried.push(queryTarget);
        return answer(queryTarget, signal);
      };
      return Promise.resolve({ query });
    },
    panelUrl: 'https://panel.example.com',
    records: () => records,
    isListingPending: () => isListingPending,
  });
});

afterEach(() => watch.stop());

/** A server that is running, and is queried. */
function observe(changes: Parameters<typeof target>[0] = {}, state: ServerState = 'running'): ServerRecord {
  const record = new ServerRecord(target({ query: MINECRAFT, address: '203.0.113.7:25565', ...changes }), {
    socket: MINUTE,
    poll: MINUTE,
  });
  record.socketBegan();
  record.socketSample({ state, uptimeMs: 1_000 }, clock.now());
  records.push(record);
  watch.follow();
  return record;
}

/** Time passes, with a sample of the server each second. */
async function pass(ms: number, record: ServerRecord, state: ServerState = 'running'): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND) {
    await clock.advance(SECOND);
    record.socketSample({ state, uptimeMs: clock.now() }, clock.now());
  }
}

const shown = (record: ServerRecord) => shownQuery(record, clock.now());
const warnings = () => log.lines.filter(({ level }) => level === 'warn');

describe('a server that is running', () => {
  it('is queried at its default allocation, and its answer shown', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    expect(queried[0]).toEqual({
      type: 'minecraft',
      ip: '203.0.113.7',
      hostname: '203.0.113.7',
      port: 25_565,
      isQueryPort: false,
    });
    expect(shown(record)).toMatchObject({ players: 12, playersMax: 40, durationSeconds: 0.05 });
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('is queried at the configured address, whose name is resolved once for each query', async () => {
    watch.start();
    const record = observe({ query: { ...MINECRAFT, address: 'play.example.com:2457' } });
    await pass(INTERVAL, record);
    expect(queried).toEqual([
      { type: 'minecraft', ip: '203.0.113.7', hostname: 'play.example.com', port: 2_457, isQueryPort: true },
    ]);
    await pass(INTERVAL, record);
    expect(resolved).toEqual(['play.example.com', 'play.example.com']);
  });

  it('has no limit of players where its game names none', async () => {
    answer = () => Promise.resolve({ ok: true, players: 3, maxPlayers: undefined, durationSeconds: 0.1 });
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    expect(shown(record)).toMatchObject({ players: 3 });
    expect(shown(record)).not.toHaveProperty('playersMax');
  });
});

describe('nothing is queried or shown', () => {
  it.each<ServerState>(['offline', 'starting', 'stopping', 'stopped', 'unknown'])(
    'of a server that is %s',
    async (state) => {
      watch.start();
      const record = observe({}, state);
      await pass(5 * MINUTE, record, state);
      expect(queried).toEqual([]);
      expect(shown(record)).toBeUndefined();
    },
  );

  it('of a server without fresh samples', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    expect(queried).toHaveLength(1);
    await clock.advance(2 * MINUTE);
    const { length } = queried;
    expect(shown(record)).toBeUndefined();
    await clock.advance(10 * MINUTE);
    expect(queried).toHaveLength(length);
  });

  it('of a server that stopped, from the first word on that says so', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    expect(shown(record)?.players).toBe(12);
    record.stateHint('stopping', clock.now());
    expect(shown(record)).toBeUndefined();
  });

  it('of the run before, when the server was restarted', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    expect(shown(record)?.players).toBe(12);
    for (const state of ['stopping', 'offline', 'starting', 'running'] as const)
      record.stateHint(state, clock.now());
    record.socketSample({ state: 'running', uptimeMs: 1_000 }, clock.now());
    expect(record.state).toBe('running');
    expect(shown(record)).toBeUndefined();
  });

  it('of an answer that came when the run was over', async () => {
    let finish: (outcome: QueryOutcome) => void = () => undefined;
    answer = () => new Promise((ended) => (finish = ended));
    watch.start();
    const record = observe();
    while (queried.length === 0) await pass(SECOND, record);
    for (const state of ['stopping', 'offline', 'starting', 'running'] as const)
      record.stateHint(state, clock.now());
    finish(TWELVE);
    await clock.advance(0);
    expect(shown(record)).toBeUndefined();
  });

  it('of an answer that is older than its staleness', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    const staleAt = shown(record)?.staleAt ?? 0;
    expect(staleAt - clock.now()).toBeGreaterThan(1.5 * INTERVAL);
    record.socketSample({ state: 'running', uptimeMs: staleAt }, staleAt - 1);
    expect(shownQuery(record, staleAt - 1)?.players).toBe(12);
    expect(shownQuery(record, staleAt)).toBeUndefined();
  });
});

describe('a query that fails', () => {
  it.each(['query_no_answer', 'query_refused', 'query_wrong_protocol', 'query_timed_out'] as const)(
    'is a problem of the server: %s',
    async (failure) => {
      answer = () => Promise.resolve({ ok: false, failure, detail: 'some words', durationSeconds: 0.2 });
      watch.start();
      const record = observe();
      await pass(INTERVAL, record);
      expect(shown(record)).toMatchObject({
        problem: { cause: failure, detail: 'some words' },
        durationSeconds: 0.2,
      });
      expect(shown(record)).not.toHaveProperty('players');
    },
  );

  it('takes the players away at once, and holds on for as long as the next query takes to come', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    answer = () => Promise.resolve(SILENT);
    await pass(INTERVAL, record);
    expect(shown(record)?.players).toBeUndefined();
    for (let minutes = 0; minutes < 20; minutes += 1) {
      await pass(MINUTE, record);
      expect(shown(record)?.problem?.cause).toBe('query_no_answer');
    }
  });

  it('is logged once, and so is the first answer after it', async () => {
    answer = () => Promise.resolve(SILENT);
    watch.start();
    const record = observe();
    await pass(10 * MINUTE, record);
    expect(queried.length).toBeGreaterThan(3);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.fields).toMatchObject({ server: 'survival', cause: 'query_no_answer' });
    answer = () => Promise.resolve(TWELVE);
    await pass(10 * MINUTE, record);
    expect(log.lines.filter(({ level }) => level === 'info').map(({ message }) => message)).toEqual([
      'server survival answers queries again',
    ]);
    expect(warnings()).toHaveLength(1);
  });

  it.each([
    ['has no address', { address: undefined }, 'query_address_missing'],
    ['is at a loopback address', { address: '127.0.0.1:25565' }, 'query_address_not_allowed'],
    [
      'is at a metadata address',
      { allocation: '169.254.169.254:80', address: undefined },
      'query_address_not_allowed',
    ],
  ])('because the server %s sends nothing', async (_, { address, ...changes }, cause) => {
    watch.start();
    const record = observe({ ...changes, ...(address !== undefined && { address }) });
    if (address === undefined) {
      const { address: _address, ...rest } = record.target;
      record.target = rest;
      watch.follow();
    }
    await pass(2 * INTERVAL, record);
    expect(queried).toEqual([]);
    expect(shown(record)?.problem?.cause).toBe(cause);
  });

  it('because its name leads to this machine sends nothing, whatever the name led to before', async () => {
    watch.start();
    const record = observe({ address: 'play.example.com:25565' });
    await pass(INTERVAL, record);
    expect(queried).toHaveLength(1);
    resolve = () => Promise.resolve(['127.0.0.1']);
    await pass(INTERVAL, record);
    expect(queried).toHaveLength(1);
    expect(shown(record)?.problem?.cause).toBe('query_address_not_allowed');
  });

  it('because the resolver hangs ends all the same', async () => {
    resolve = () => new Promise(() => undefined);
    watch.start();
    const record = observe({ address: 'play.example.com:25565' });
    await pass(INTERVAL + 6 * SECOND, record);
    expect(shown(record)?.problem).toEqual({
      cause: 'query_dns',
      detail: '"play.example.com": not resolved in time',
    });
  });

  it('because the client never ends it ends all the same', async () => {
    answer = () => new Promise(() => undefined);
    watch.start();
    const record = observe();
    await pass(INTERVAL + 6 * SECOND, record);
    expect(shown(record)?.problem?.cause).toBe('query_timed_out');
  });

  it('because of this program is told as such', async () => {
    answer = () => Promise.reject(new Error('a bug'));
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    expect(shown(record)?.problem).toEqual({ cause: 'unexpected', detail: 'a bug' });
  });
});

describe('the listing', () => {
  it('is waited for before an address is missed', async () => {
    isListingPending = true;
    watch.start();
    const record = observe();
    const { address: _, ...rest } = record.target;
    record.target = rest;
    watch.follow();
    await pass(2 * INTERVAL, record);
    expect(shown(record)).toBeUndefined();
    isListingPending = false;
    record.target = { ...rest, address: '203.0.113.7:25565' };
    watch.follow();
    await pass(INTERVAL, record);
    expect(shown(record)?.players).toBe(12);
    expect(warnings()).toEqual([]);
  });

  it('that names another address has it queried, and nothing of the former is shown', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    record.target = { ...record.target, address: '203.0.113.8:25565' };
    watch.follow();
    expect(shown(record)).toBeUndefined();
    await pass(INTERVAL, record);
    expect(queried.at(-1)?.ip).toBe('203.0.113.8');
  });
});

describe('a change of the configuration', () => {
  it('takes the query away: nothing is asked or shown any longer', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    const { query: _, ...rest } = record.target;
    record.target = rest;
    watch.follow();
    const { length } = queried;
    await pass(5 * MINUTE, record);
    expect(queried).toHaveLength(length);
    expect(shown(record)).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it('changes type and interval', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    record.target = { ...record.target, query: { type: 'valheim', intervalMs: 10 * SECOND } };
    watch.follow();
    queried.length = 0;
    await pass(MINUTE, record);
    expect(queried).toHaveLength(6);
    expect(new Set(queried.map(({ type }) => type))).toEqual(new Set(['valheim']));
  });

  it('of another kind leaves what is known', async () => {
    watch.start();
    const record = observe();
    await pass(INTERVAL, record);
    record.target = { ...record.target, name: 'another' };
    watch.follow();
    expect(shown(record)?.players).toBe(12);
  });

  it('names a host that may be queried after all', async () => {
    watch.start();
    const record = observe({ address: '127.0.0.1:25565' });
    await pass(5 * MINUTE, record);
    expect(queried).toEqual([]);
    watch.configure(['127.0.0.1']);
    watch.follow();
    await pass(INTERVAL, record);
    expect(queried).toHaveLength(1);
  });
});

it('loads no client while no server is to be queried', async () => {
  watch.start();
  const record = observe();
  const { query: _, ...rest } = record.target;
  record.target = rest;
  watch.follow();
  await pass(5 * MINUTE, record);
  expect(loads).toBe(0);
});

it('withdraws its queries when it stops, and leaves no timer', async () => {
  let aborted = 0;
  answer = (_target, signal) =>
    new Promise(() => signal.addEventListener('abort', () => (aborted += 1), { once: true }));
  watch.start();
  const record = observe();
  while (queried.length === 0) await pass(SECOND, record);
  watch.stop();
  await clock.advance(0);
  expect(aborted).toBe(1);
  expect(clock.pending).toBe(0);
  expect(shown(record)).toBeUndefined();
});
