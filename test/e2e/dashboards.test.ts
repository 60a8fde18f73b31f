import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import type { ServerSpec } from '../../src/simulator/schema.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { ensureDebianPackage } from '../support/debian.ts';
import {
  type Chosen,
  type DashboardQuery,
  dashboardFiles,
  dashboardIn,
  interpolate,
  labelValues,
  queriesOf,
} from '../support/grafana.ts';
import { configFile, endPrograms, type ServedProgram, serveProgram } from '../support/program.ts';
import { type PrometheusUnderTest, startPrometheus } from '../support/prometheus.ts';

/** Real milliseconds that data may take to come: generous, since machines are shared. */
const PATIENCE_MS = 60_000;

/**
 * A quarter of an hour in steps of some scrapes. Every attempt begins at another second, so that a scrape that a busy machine missed
 * hides no event for good.
 */
const TIMING = { range: 900, step: 5, scrapeInterval: 1 };

const ALL: Readonly<Record<string, Chosen>> = {
  job: { all: '.+' },
  panel: { all: '.+' },
  server: { all: '.+' },
};

/** A name that means something else as a regular expression. */
const AWKWARD = String.raw`vanilla (1.21)+? [a|b] \d`;

const BACKUP = { is_successful: true, completed_at: '2026-01-01T04:00:00Z', bytes: 1_000_000_000 };
const FAILED_BACKUP = { is_successful: false, completed_at: '2026-01-02T04:00:00Z', bytes: 0 };

/** Servers of every kind that a dashboard tells apart. */
const SERVERS: readonly ServerSpec[] = [
  { name: 'survival', profile: 'steady', consoleLinesPerSecond: 2, backups: [BACKUP, FAILED_BACKUP] },
  { name: AWKWARD, profile: 'idle' },
  { name: 'valheim', profile: 'steady' },
  { name: 'skyblock', profile: 'steady' },
  { name: 'modded', profile: 'steady' },
  { name: 'arena', profile: 'offline' },
  { name: 'season', profile: 'suspended' },
];

const hasPrometheus = await ensureDebianPackage('prometheus', 'prometheus');

describe.skipIf(!hasPrometheus)('the dashboards, of a real Prometheus', () => {
  let prometheus: PrometheusUnderTest;
  const stops: (() => unknown)[] = [];

  beforeAll(async () => {
    const panel = await startSimulator({
      servers: SERVERS,
      startMs: 500,
      stopMs: 500,
      reviveMs: 3_600_000,
      websocketLimitPerMinute: 0,
    });
    stops.unshift(() => panel.stop());
    stops.unshift(fillDisk(panel));
    stops.unshift(endPrograms);
    // Two replicas: whatever is joined or counted finds each server twice.
    const replicas = [
      await serveProgram({ yaml: configuration(panel) }),
      await serveProgram({ yaml: configuration(panel) }),
    ];
    const [first = '', second = ''] = replicas.map(({ url }) => new URL(url).host);
    const further = await configFile(`- targets: ["${second}"]`);
    prometheus = await startPrometheus(first, [`file_sd_configs: [{ files: ["${further}"] }]`]);
    stops.unshift(() => prometheus.stop());
    await letThingsHappen(panel, replicas, prometheus);
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  describe.each(dashboardFiles())('%s', (file) => {
    const dashboard = dashboardIn(file);
    const queries = queriesOf(dashboard).map((query) => [query.place, query] as const);

    it.each(queries)('%s has data, and the same for all and for each by name', async (_place, query) => {
      const at = await vi.waitFor(
        async () => {
          const now = await settled();
          expect(await ask(query, ALL, now), query.expr).not.toEqual([]);
          return now;
        },
        { timeout: PATIENCE_MS, interval: 200 },
      );
      expect(await ask(query, await everyName(), at)).toEqual(await ask(query, ALL, at));
    });

    it.each(queries)('%s narrows to one server', async (_place, query) => {
      const one = { job: ['gameserver'], panel: ['main'], server: [AWKWARD] };
      const found = await ask(query, one, await settled());
      const others = found.filter(
        ({ metric: { server = AWKWARD, panel = 'main' } }) => server !== AWKWARD || panel !== 'main',
      );
      expect(others).toEqual([]);
    });

    const variables = dashboard.templating.list.filter(({ type }) => type === 'query');
    it.each(variables)('$name offers choices', async (variable) => {
      const { series, label } = labelValues(variable);
      const values = await valuesOf(label, interpolate(series, ALL, TIMING));
      const expected = { job: ['gameserver'], panel: ['listed', 'main', 'other'], server: NAMES };
      expect(values).toEqual(expected[label as keyof typeof expected]);
    });
  });

  it.each(FIGURES)('tell of %s: %s is %d', async (file, place, expected) => {
    const query = queriesOf(dashboardIn(file)).find((query) => query.place.endsWith(` / ${place}`));
    if (query === undefined) throw new Error(`expected "${place}" in ${file}`);
    await vi.waitFor(
      async () => {
        const found = await ask(query, ALL, await settled());
        expect(found).toEqual([{ metric: {}, value: [expect.anything(), expect.anything()] }]);
        expect(Number(found[0]?.value?.[1])).toBeCloseTo(expected);
      },
      { timeout: PATIENCE_MS, interval: 200 },
    );
  });

  it('name the problem of each server that has one', async () => {
    const query = queriesOf(dashboardIn('fleet.json')).find(({ expr }) => expr.includes('"problem"'));
    if (query === undefined) throw new Error('expected a query that names problems');
    const main = { job: { all: '.+' }, panel: ['main', 'other'], server: { all: '.+' } };
    await vi.waitFor(
      async () => {
        const found = await ask(query, main, await settled());
        const problems = found.map(
          ({ metric, value }) => `${metric['server']} ${metric['problem']}, rank ${value?.[1]}`,
        );
        expect(problems.toSorted()).toEqual(PROBLEMS.toSorted());
      },
      { timeout: PATIENCE_MS, interval: 200 },
    );
  });

  /** A time for which Prometheus has all samples, and will have no others later. */
  async function settled(): Promise<number> {
    return Math.floor(Date.now() / 1_000) - 3;
  }

  async function ask(query: DashboardQuery, chosen: Readonly<Record<string, Chosen>>, at: number) {
    const expr = interpolate(query.expr, chosen, TIMING);
    const time = query.instant
      ? { time: `${at}` }
      : { start: `${at - TIMING.range}`, end: `${at}`, step: `${TIMING.step}` };
    const path = query.instant ? 'query' : 'query_range';
    const { result } = await answer<{ result: readonly Series[] }>(path, { query: expr, ...time });
    return result.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  async function everyName() {
    return {
      job: await valuesOf('job', 'gameserver_exporter_build_info'),
      panel: await valuesOf('panel', 'gameserver_panel_up'),
      server: await valuesOf('server', 'gameserver_collection_up'),
    };
  }

  function valuesOf(label: string, series: string): Promise<readonly string[]> {
    return answer(`label/${label}/values`, { 'match[]': series }, 'GET');
  }

  async function answer<Data>(
    path: string,
    parameters: Record<string, string>,
    method = 'POST',
  ): Promise<Data> {
    const form = new URLSearchParams(parameters);
    const url = `${prometheus.url}/api/v1/${path}`;
    const response =
      method === 'POST'
        ? await fetch(url, { method: 'POST', body: form })
        : await fetch(`${url}?${form.toString()}`);
    const body = (await response.json()) as { status: string; error?: string; data: Data };
    expect(body, parameters['query']).toMatchObject({ status: 'success' });
    return body.data;
  }
});

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Of an instant query. */
  readonly value?: readonly [at: number, value: string];
}

/** What single figures have to say after all that happened. */
const FIGURES = [
  // Seven by configuration, the same seven by discovery, and one on the panel that refuses the key.
  ['fleet.json', 'Servers / A', 15],
  // The server that crashed, by configuration and, since it ran before, by discovery.
  ['fleet.json', 'Off, but should run / A', 2],
  ['fleet.json', 'Crashes / A', 2],
  ['fleet.json', 'Without data / A', 3],
  // The suspended server on two panels; the one whose key is refused is not blocked.
  ['fleet.json', 'Blocked / A', 2],
  ['fleet.json', 'Nodes down / A', 0],
  ['fleet.json', 'Panels in trouble / A', 1],
  ['exporter.json', 'Panels in trouble / A', 1],
  ['exporter.json', 'Servers with fresh samples / A', 0.8],
  ['exporter.json', 'Calls refused with 429 / A', 1],
  ['exporter.json', 'Shards that are missing / A', 0],
  ['exporter.json', 'Configurations refused / A', 0],
] as const;

const PROBLEMS = [
  'modded should run, but is off, rank 1',
  'modded crashed within the last hour: crashed, rank 3',
  'survival disk full within a day at this pace, rank 6',
  'survival the newest backup failed, rank 8',
  'season blocked: suspended, rank 10',
  'elsewhere no data, rank 9',
];

function keyOf({ metric }: Series): string {
  return JSON.stringify(Object.entries(metric).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const NAMES = [...SERVERS.map(({ name }) => name), 'elsewhere'].toSorted();

/** One panel with everything, one that refuses the key, and one whose servers are discovered. */
function configuration(panel: Simulator): string {
  const id = (name: string) => panel.server(name).uuid;
  const access = [`    url: ${panel.url}`, `    api_key: ${panel.apiKey}`, '    requests_per_minute: 6000'];
  return [
    'panels:',
    '  - name: main',
    ...access,
    '    limits_from_listing: true',
    '    backups: true',
    '    servers:',
    `      - { id: ${id('survival')}, name: survival, limits: { memory: 8GiB, disk: 40GiB, cpu_cores: 3.5 } }`,
    `      - { id: ${id(AWKWARD)}, name: ${JSON.stringify(AWKWARD)}, labels: { game: minecraft } }`,
    `      - { id: ${id('valheim')}, name: valheim, mode: poll, expect: any }`,
    ...['skyblock', 'modded'].map((name) => `      - { id: ${id(name)}, name: ${name} }`),
    ...['arena', 'season'].map((name) => `      - { id: ${id(name)}, name: ${name}, expect: any }`),
    '  - name: other',
    `    url: ${panel.url}`,
    '    api_key: ptlc_not_a_key_of_this_panel',
    `    servers: [{ id: ${id('arena')}, name: elsewhere }]`,
    '  - name: listed',
    ...access,
    '    discover: { interval: 1m }',
  ].join('\n');
}

/** Lets survival's disk fill until what is returned is called. */
function fillDisk(panel: Simulator): () => void {
  let diskBytes = 10_000_000_000;
  const fill = () => {
    diskBytes += 5_000_000;
    panel.pin('survival', { diskBytes, cpuAbsolute: 300 });
  };
  fill();
  const timer = setInterval(fill, 500);
  return () => clearInterval(timer);
}

/** A restart, a crash, a lost socket and a call too many, once Prometheus has seen that everything runs. */
async function letThingsHappen(
  panel: Simulator,
  replicas: readonly ServedProgram[],
  prometheus: PrometheusUnderTest,
): Promise<void> {
  const running = 'gameserver_state{panel="main", server=~"survival|skyblock|modded", state="running"} == 1';
  await vi.waitFor(async () => expect(await prometheus.query(running)).toHaveLength(3 * replicas.length), {
    timeout: PATIENCE_MS,
    interval: 50,
  });
  panel.failRest({
    kind: 'refuse',
    endpoint: 'websocket',
    status: 429,
    headers: { 'retry-after': '1' },
    times: 1,
  });
  panel.sockets({ kind: 'expire', server: 'survival' });
  panel.sockets({ kind: 'drop', server: AWKWARD });
  panel.crash('modded', { code: 1 });
  panel.power('skyblock', 'restart');
  for (const { until } of replicas) {
    await until('gameserver_stops_total', { panel: 'main', server: 'modded', reason: 'crashed' }, [1]);
    await until('gameserver_starts_total', { panel: 'main', server: 'skyblock' }, [1]);
  }
}
