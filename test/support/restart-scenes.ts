// Scenes of servers across a restart of the exporter.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import type { LiveServer } from '../../src/status-page/data/live-fields.ts';
import { eventually } from './eventually.ts';
import type { ParsedFamily } from './exposition-parser.ts';
import { pageFleet } from './page-data.ts';
import type { RunningProcess } from './process.ts';
import { configFile, endPrograms, type Metrics, metricsAt, runProgram, valuesIn } from './program.ts';

type See = (isSeen: (server: LiveServer) => boolean) => Promise<LiveServer>;

/** The expected data about a server after the restart. */
interface After {
  /** Fields on the page and in the JSON. `as before` stands for the value before the restart. */
  readonly shown: Readonly<Record<string, unknown>>;
  readonly expected: number | undefined;
  /** Counters in the second scrape. In the first scrape, all are 0. */
  readonly counted?: Readonly<Record<string, number>>;
}

/** A server across a restart. */
interface Scene {
  readonly name: string;
  readonly profile?: 'steady' | 'offline';
  /** Events before the restart. */
  readonly before?: (panel: Simulator, name: string, see: See) => Promise<void>;
  /** The last event before the exporter ends. */
  readonly justBefore?: (panel: Simulator, name: string, see: See) => Promise<unknown>;
  /** Events while the exporter is down. */
  readonly meanwhile?: (panel: Simulator, name: string) => Promise<void>;
  /** The server's new name, if it changes. */
  readonly nameAfter?: string;
  readonly after: After | undefined;
  /** The expected data after a kill, if it differs, because the file lacks the last event. */
  readonly afterKill?: After;
}

const AS_BEFORE = ['attention', 'complaint', 'last_stop'] as const;
const asBefore = Object.fromEntries(AS_BEFORE.map((field) => [field, 'as before']));

const becomes = (state: 'offline' | 'running') => async (panel: Simulator, name: string) => {
  await eventually(() => expect(panel.server(name).state).toBe(state));
};

async function crash(panel: Simulator, name: string, see: See): Promise<void> {
  const { last_stop: before } = await see(({ state }) => state === 'running');
  panel.crash(name, { code: 1 });
  await see(({ last_stop: stop }) => {
    return stop?.reason === 'crashed' && stop.timestamp_seconds !== before?.timestamp_seconds;
  });
}

const stopOnRequest = async (panel: Simulator, name: string, see: See) => {
  panel.power(name, 'stop');
  await see(({ state, last_stop: stop }) => state === 'offline' && stop?.reason === 'requested');
};

const WHILE_DOWN = { reason: 'unknown', while_exporter_down: true };

const SCENES: readonly Scene[] = [
  {
    name: 'running on',
    after: { shown: { state: 'running', ...asBefore }, expected: 1 },
  },
  {
    name: 'given up by its node',
    before: async (panel, name, see) => {
      await crash(panel, name, see);
      await crash(panel, name, see);
      await see(({ complaint }) => complaint?.title === 'restart aborted, exit 1');
    },
    after: { shown: { state: 'offline', ...asBefore }, expected: 1 },
  },
  {
    name: 'in a crash loop',
    before: async (panel, name, see) => {
      for (let times = 0; times < 3; times += 1) {
        await crash(panel, name, see);
        panel.power(name, 'start');
      }
      await see(({ complaint }) => complaint?.title === 'stops repeatedly: 3 times in 1 h');
    },
    after: { shown: { state: 'running', ...asBefore }, expected: 1 },
  },
  {
    name: 'off on request',
    before: stopOnRequest,
    after: { shown: { state: 'offline', ...asBefore, attention: undefined }, expected: 0 },
  },
  {
    name: 'never seen running',
    profile: 'offline',
    after: { shown: { state: 'offline', ...asBefore, attention: 'unclear' }, expected: undefined },
  },
  {
    name: 'stopping',
    justBefore: async (panel, name, see) => {
      panel.power(name, 'stop');
      await see(({ state }) => state === 'stopping');
    },
    meanwhile: async (panel, name) => {
      panel.power(name, 'kill');
      await becomes('offline')(panel, name);
    },
    after: {
      shown: { state: 'offline', attention: undefined, last_stop: { reason: 'requested' } },
      expected: 0,
      counted: { requested: 1 },
    },
    afterKill: {
      shown: { state: 'offline', attention: 'off', last_stop: WHILE_DOWN },
      expected: undefined,
      counted: { unknown: 1 },
    },
  },
  {
    name: 'off a second before',
    justBefore: async (panel, name, see) => {
      panel.crash(name);
      await see(({ state }) => state === 'offline');
    },
    after: {
      shown: { state: 'offline', attention: 'off', last_stop: { reason: 'unknown' } },
      expected: undefined,
    },
    afterKill: {
      shown: { state: 'offline', attention: 'off', last_stop: WHILE_DOWN },
      expected: undefined,
      counted: { unknown: 1 },
    },
  },
  {
    name: 'stopped meanwhile',
    meanwhile: async (panel, name) => {
      panel.crash(name);
      await becomes('offline')(panel, name);
    },
    after: {
      shown: {
        state: 'offline',
        attention: 'off',
        complaint: { title: 'stopped while the exporter was down' },
        last_stop: WHILE_DOWN,
      },
      expected: undefined,
      counted: { unknown: 1 },
    },
  },
  {
    name: 'restarted meanwhile',
    meanwhile: async (panel, name) => {
      panel.power(name, 'restart');
      await eventually(() => expect(panel.server(name).state).not.toBe('running'));
      await becomes('running')(panel, name);
    },
    after: {
      shown: { state: 'running', attention: undefined, last_stop: WHILE_DOWN },
      expected: 1,
      counted: { unknown: 1, starts: 1 },
    },
  },
  {
    name: 'started meanwhile',
    before: stopOnRequest,
    meanwhile: async (panel, name) => {
      panel.power(name, 'start');
      await becomes('running')(panel, name);
    },
    after: {
      shown: { state: 'running', attention: undefined, last_stop: { reason: 'requested' } },
      expected: 1,
      counted: { starts: 1 },
    },
  },
  {
    name: 'moved meanwhile',
    meanwhile: async (panel, name) => {
      panel.move(name, 'drop');
      await becomes('running')(panel, name);
    },
    after: { shown: { state: 'running', ...asBefore }, expected: 1 },
  },
  {
    name: 'renamed meanwhile',
    before: stopOnRequest,
    meanwhile: async (panel, name) => {
      const { uuid } = panel.server(name);
      panel.deleteServer(name);
      panel.addServer({ uuid, name: 'with another name', profile: 'offline' });
      await Promise.resolve();
    },
    nameAfter: 'with another name',
    after: { shown: { state: 'offline', ...asBefore, attention: undefined }, expected: 0 },
  },
  {
    name: 'deleted meanwhile',
    meanwhile: async (panel, name) => {
      panel.deleteServer(name);
      await Promise.resolve();
    },
    after: undefined,
  },
];

/**
 * Registers a test of all scenes with the built program, which ends with this signal. A kill comes
 * within a minute after the start, so the file is still the one that the previous exporter wrote.
 */
export function testRestart(signal: 'SIGTERM' | 'SIGKILL'): void {
  let panel: Simulator;
  let file: string;
  let program: RunningProcess;
  let metrics: Metrics;
  let before: ReadonlyMap<string, LiveServer>;
  let after: ReadonlyMap<string, LiveServer>;
  let json: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  let scrapeBefore: readonly ParsedFamily[];
  let scrapes: readonly (readonly ParsedFamily[])[];

  beforeAll(async () => {
    panel = await startSimulator({
      servers: SCENES.map(({ name, profile = 'steady' }) => ({ name, profile })),
      rateLimitPerMinute: 6_000,
      reviveMs: 200,
      startMs: 200,
      stopMs: 100,
    });
    const yaml = [
      'panels:',
      `  - { name: main, url: "${panel.url}", api_key: ${panel.apiKey}, discover: true, requests_per_minute: 6000 }`,
    ];
    file = await configFile(yaml.join('\n'));
    await start();
    await Promise.all(SCENES.map(async ({ name, before: run }) => run?.(panel, name, seeing(name))));
    if (signal === 'SIGKILL') {
      await end('SIGTERM');
      await start();
    }
    // The stop continues until the exporter has ended.
    panel.set({ stopMs: 600_000 });
    await Promise.all(SCENES.map(async ({ name, justBefore: run }) => run?.(panel, name, seeing(name))));
    before = await page();
    scrapeBefore = await metrics.scrape();
    await end(signal);
    panel.set({ stopMs: 100 });
    await Promise.all(SCENES.map(async ({ name, meanwhile: run }) => run?.(panel, name)));
    await start();
    after = await page();
    json = new Map((await servers()).map((server) => [String(server['server']), server]));
    scrapes = [await metrics.scrape(), await metrics.scrape(), await metrics.scrape()];
  });

  afterAll(async () => {
    await endPrograms();
    await panel.stop();
  });

  /** Starts the program, and waits until it has data of every server. */
  async function start(): Promise<void> {
    const storage = ['--storage.path', join(dirname(file), 'data')];
    const listen = ['--web.listen-address', '127.0.0.1:0'];
    program = runProgram(['serve', '--config', file, ...listen, ...storage]);
    const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
    metrics = metricsAt(url);
    await eventually(async () => {
      const all = await servers();
      expect(all).toHaveLength(panel.servers.length);
      for (const { state } of all) expect(state).not.toBe('unknown');
    });
  }

  async function end(by: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    program.kill(by);
    expect((await program.ended).code).toBe(by === 'SIGTERM' ? 0 : null);
    expect(program.stderr).not.toMatch(/"level":"(?:error|fatal)"/);
  }

  async function page(): Promise<ReadonlyMap<string, LiveServer>> {
    const { servers: all } = await pageFleet(metrics.url);
    return new Map(all.map((server) => [server.server, server]));
  }

  const servers = async () => {
    const response = await fetch(`${metrics.url}/api/v1/servers`);
    return ((await response.json()) as { servers: readonly Readonly<Record<string, unknown>>[] }).servers;
  };

  const seeing =
    (name: string): See =>
    (isSeen) =>
      eventually(async () => {
        const server = (await page()).get(name);
        if (server === undefined || !isSeen(server)) throw new Error(`${name}: ${JSON.stringify(server)}`);
        return server;
      });

  const afterOf = ({ after: stopped, afterKill = stopped }: Scene) =>
    signal === 'SIGKILL' ? afterKill : stopped;

  const REMAINING = SCENES.filter(({ after: isThere }) => isThere !== undefined);

  it.each(REMAINING)('the page and the JSON show what is known of a server that was $name', (scene) => {
    const { name, nameAfter = name } = scene;
    const old: Readonly<Record<string, unknown>> = { ...before.get(name) };
    const shown = Object.entries(afterOf(scene)?.shown ?? {}).map(([field, value]) => [
      field,
      value === 'as before' ? old[field] : value,
    ]);
    const expected = Object.fromEntries(shown) as object;
    const fieldsOf = (server: Readonly<Record<string, unknown>> = {}) =>
      Object.fromEntries(Object.keys(expected).map((field) => [field, server[field]]));
    expect(fieldsOf({ ...after.get(nameAfter) })).toMatchObject(expected);
    expect(fieldsOf(json.get(nameAfter))).toMatchObject(expected);
  });

  it.each(REMAINING)('/metrics shows and counts what happened to a server that was $name', (scene) => {
    const { name, nameAfter: server = name } = scene;
    const { expected, counted = {} } = afterOf(scene) ?? {};
    const { starts = 0, ...reasons } = counted;
    const stops = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    const [first = [], second = [], third = []] = scrapes;
    const series = (scrape: readonly ParsedFamily[], name_: string, labels = {}) =>
      valuesIn(scrape, name_, { server, ...labels });
    expect(series(first, 'gameserver_expected_running')).toEqual(expected === undefined ? [] : [expected]);
    expect(series(first, 'gameserver_starts_total')).toEqual([0]);
    expect(series(first, 'gameserver_stops_total')).toEqual([0, 0, 0, 0, 0, 0]);
    for (const scrape of [second, third]) {
      expect(series(scrape, 'gameserver_starts_total')).toEqual([starts]);
      const all = series(scrape, 'gameserver_stops_total');
      expect(all.reduce((sum, count) => sum + count, 0)).toBe(stops);
      for (const [reason, count] of Object.entries(reasons))
        expect(series(scrape, 'gameserver_stops_total', { reason })).toEqual([count]);
    }
  });

  /** Servers whose last stop is the same before and after the restart. */
  const SAME_STOP = REMAINING.filter((scene) => afterOf(scene)?.shown?.['last_stop'] === 'as before');

  it.each(SAME_STOP)('/metrics shows the last stop of a server that was $name as before', (scene) => {
    const { name, nameAfter = name } = scene;
    const [first = []] = scrapes;
    for (const family of [
      'gameserver_last_stop_timestamp_seconds',
      'gameserver_last_exit_code',
      'gameserver_automatic_restart_aborted',
    ])
      expect(valuesIn(first, family, { server: nameAfter })).toEqual(
        valuesIn(scrapeBefore, family, { server: name }),
      );
  });

  it('/metrics shows what its node said of a server that it gave up', () => {
    const [first = []] = scrapes;
    const labels = { server: 'given up by its node' };
    expect(valuesIn(first, 'gameserver_automatic_restart_aborted', labels)).toEqual([1]);
    expect(valuesIn(first, 'gameserver_last_exit_code', labels)).toEqual([1]);
    const [stop] = valuesIn(first, 'gameserver_last_stop_timestamp_seconds', labels);
    expect(stop).toBe(before.get('given up by its node')?.last_stop?.timestamp_seconds);
  });

  it('a server that was deleted meanwhile is nowhere', () => {
    expect(after.has('deleted meanwhile')).toBe(false);
    expect(json.has('deleted meanwhile')).toBe(false);
    const [first = []] = scrapes;
    expect(valuesIn(first, 'gameserver_collection_up', { server: 'deleted meanwhile' })).toEqual([]);
  });

  it('the strip continues', () => {
    expect(before.get('running on')?.strip).toMatch(/^u59r1|^u58r2/);
    expect(after.get('running on')?.strip).toMatch(/^u5[789]r[12]|^u58r1u?/);
  });

  it('the folder contains one file, without secrets, and the lock', async () => {
    const folder = join(dirname(file), 'data');
    expect((await readdir(folder)).toSorted()).toEqual(['state-0', 'state-0.lock']);
    const text = await readFile(join(folder, 'state-0'), 'utf8');
    expect(text).not.toContain(panel.apiKey);
    expect(text).not.toMatch(/ptlc_|eyJ/);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(1_000);
  });
}
