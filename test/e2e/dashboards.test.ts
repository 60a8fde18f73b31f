import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPLICATION_KEY } from '../../src/simulator/application-api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import type { ServerSpec } from '../../src/simulator/simulator-schema.ts';
import {
  ALL,
  askFor,
  type Choices,
  eventuallyEach,
  failuresOf,
  labelValuesOf,
  type Series,
  TIMING,
} from '../support/dashboard-queries.ts';
import { eventually, repeatedly } from '../support/eventually.ts';
import { expositionOf, serveExposition } from '../support/exposition-target.ts';
import {
  type DashboardQuery,
  dashboardFiles,
  dashboardIn,
  HIDDEN,
  interpolate,
  labelValues,
  queriesOf,
  variableQuery,
} from '../support/grafana.ts';
import { hasProgram } from '../support/has-program.ts';
import { endPrograms, type ServedProgram, serveProgram } from '../support/program.ts';
import { type PrometheusUnderTest, rulesEverySecond, startPrometheusWith } from '../support/prometheus.ts';
import { fleetReading, panelReading, streamingReading } from '../support/readings.ts';

/** All jobs except Calagopus', because annotations of more than 20 servers aren't shown. */
const USUAL: Choices = { ...ALL, job: { all: 'gameserver|queried' } };

/** The job of the program under test. */
const OWN: Choices = { ...ALL, job: ['gameserver'] };

/** The job of an exporter with Calagopus panels. */
const OF_CALAGOPUS: Choices = { ...ALL, job: ['calagopus'] };

/** A name that has another meaning as a regular expression. */
const AWKWARD = String.raw`vanilla (1.21)+? [a|b] \d`;

const BACKUP = { is_successful: true, completed_at: '2026-01-01T04:00:00Z', bytes: 1_000_000_000 };
const FAILED_BACKUP = { is_successful: false, completed_at: '2026-01-02T04:00:00Z', bytes: 0 };

/** A server of every kind that the dashboards distinguish. */
const SERVERS: readonly ServerSpec[] = [
  {
    name: 'survival',
    profile: 'steady',
    consoleLinesPerSecond: 2,
    backups: [BACKUP, FAILED_BACKUP],
    // One more than the dashboard shows. All have run before the first read, however soon it is.
    schedules: Array.from({ length: 21 }, (_, index) => ({ name: `Save ${index}`, everyMs: 10 })),
  },
  { name: AWKWARD, profile: 'idle' },
  { name: 'valheim', profile: 'steady' },
  { name: 'skyblock', profile: 'steady' },
  { name: 'modded', profile: 'steady' },
  { name: 'arena', profile: 'offline' },
  { name: 'season', profile: 'suspended' },
];

const hasPrometheus = hasProgram('prometheus');

describe.skipIf(!hasPrometheus)('the dashboards, with a real Prometheus', () => {
  let prometheus: PrometheusUnderTest;
  const stops: (() => unknown)[] = [];

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dashboards-'));
    stops.push(() => rm(folder, { recursive: true }));
    const simulate = async (options: SimulatorOptions) => {
      const panel = await startSimulator({
        servers: SERVERS,
        startMs: 500,
        stopMs: 500,
        reviveMs: 3_600_000,
        websocketLimitPerMinute: 0,
        ...options,
      });
      stops.unshift(() => panel.stop());
      stops.unshift(fillDisk(panel));
      return panel;
    };
    const panel = await simulate({});
    const calagopus = await simulate({ panel: 'calagopus', admin: true, rateLimitPerMinute: 720 });
    stops.unshift(endPrograms);
    const keyFile = async (name: string, key: string) => {
      const file = join(folder, name);
      await writeFile(file, key, { mode: 0o600 });
      return file;
    };
    // Two replicas, so every join and count finds each server twice.
    const yaml = configuration(panel, await keyFile('nodes-key', APPLICATION_KEY));
    const replicas = [await serveProgram({ yaml }), await serveProgram({ yaml })];
    const administrators = await keyFile('administrators-key', calagopus.apiKey);
    const other = await serveProgram({ yaml: configuration(calagopus, administrators, 'calagopus-') });
    const queried = await serveExposition(QUERIED);
    stops.unshift(() => queried.close());
    const targets = replicas.map(({ url }) => `"${new URL(url).host}"`).join(', ');
    const target = `"${new URL(other.url).host}"`;
    prometheus = await startPrometheusWith(
      [
        'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }',
        'rule_files: [rules.yml]',
        'scrape_configs:',
        `  - { job_name: gameserver, static_configs: [{ targets: [${targets}] }] }`,
        `  - { job_name: calagopus, static_configs: [{ targets: [${target}] }] }`,
        `  - { job_name: queried, static_configs: [{ targets: ["${queried.authority}"] }] }`,
      ].join('\n'),
      rulesEverySecond(),
    );
    stops.unshift(() => prometheus.stop());
    await causeEvents(panel, replicas, prometheus, 'main');
    await causeEvents(calagopus, [other], prometheus, 'calagopus-main');
    queried.text = QUERIED.replace(/(server="lobby".*reason="crashed".*) 3$/m, '$1 4');
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  describe.each(dashboardFiles())('every query of %s', (file) => {
    const queries = queriesOf(dashboardIn(file)).map((query) => [query.place, query] as const);

    it('has data, and the same data for all and for each by name', async () => {
      const names = await everyName();
      await eventuallyEach(queries, async (query) => {
        const at = await prometheus.settled();
        const found = await ask(query, USUAL, at);
        expect(found, query.expr).not.toEqual([]);
        expect(rounded(await ask(query, names, at))).toEqual(rounded(found));
      });
    });

    it('has data of a Calagopus, except for what that does not report', async () => {
      await eventuallyEach(queries, async (query) => {
        const found = await ask(query, OF_CALAGOPUS, await prometheus.settled());
        expect(found.length > 0, query.expr).toBe(!NOT_REPORTED.test(query.expr));
      });
    });

    it('can be limited to one server', async () => {
      const one = { ...OWN, panel: ['main'], server: [AWKWARD] };
      const at = await prometheus.settled();
      const failures = await failuresOf(queries, async (query) => {
        const found = await ask(query, one, at);
        const others = found.filter(
          ({ metric: { server = AWKWARD, panel = 'main' } }) => server !== AWKWARD || panel !== 'main',
        );
        expect(others).toEqual([]);
      });
      expect(failures).toEqual([]);
    });
  });

  describe.each(dashboardFiles())('in %s', (file) => {
    const { list } = dashboardIn(file).templating;

    it.each([
      ['several panels', { all: '.+' }, [{ legend: ' · {{panel}}' }]],
      ['one panel', ['main'], []],
    ])('legends of %s end with the panel only if there are several', async (_name, panel, expected) => {
      const variable = list.find(({ hide }) => hide === HIDDEN);
      const [, expr = ''] = /^query_result\((.+)\)$/.exec(variableQuery(variable ?? { query: '' })) ?? [];
      const query = { place: 'variable', expr, instant: true };
      await eventually(async () => {
        const found = await ask(query, { ...OWN, panel }, await prometheus.settled());
        expect(found.map(({ metric }) => metric)).toEqual(expected);
      });
    });

    it('every variable offers its choices', async () => {
      const choices: Readonly<Record<string, unknown>> = {
        job: ['calagopus', 'gameserver', 'queried'],
        panel: [
          ...['listed', 'main', 'other'].flatMap((name) => [name, `calagopus-${name}`]),
          'queried',
        ].toSorted(),
        node: expect.arrayContaining(['fra-1']),
        egg: expect.arrayContaining(['Paper']),
        server: NAMES,
      };
      const variables = list.filter(({ type, hide }) => type === 'query' && hide !== HIDDEN);
      await eventuallyEach(
        variables.map((variable) => [variable.name, variable] as const),
        async (variable) => {
          const { series, label } = labelValues(variable);
          const values = await labelValuesOf(prometheus.url, label, interpolate(series, ALL, TIMING));
          expect(values).toEqual(choices[label]);
        },
      );
    });
  });

  it('single stats have the values of these events', async () => {
    const figures = FIGURES.map(
      ([file, place, expected]) => [`${file}: ${place}`, { file, place, expected }] as const,
    );
    await eventuallyEach(figures, async ({ file, place, expected }) => {
      const query = queriesOf(dashboardIn(file)).find((query) => query.place.endsWith(` / ${place}`));
      if (query === undefined) throw new Error('there is no such query');
      const found = await ask(query, OWN, await prometheus.settled());
      expect(found).toMatchObject([{ metric: {} }]);
      const [, value] = found[0]?.value ?? found[0]?.values?.at(-1) ?? [];
      expect(Number(value)).toBeCloseTo(expected);
    });
  });

  function ask(query: DashboardQuery, chosen: Choices, at: number) {
    return askFor(prometheus.url, query, chosen, at);
  }

  async function everyName(): Promise<Choices> {
    return {
      ...ALL,
      job: ['gameserver', 'queried'],
      panel: await labelValuesOf(prometheus.url, 'panel', 'gameserver_panel_up'),
      server: await labelValuesOf(prometheus.url, 'server', 'gameserver_collection_up'),
    };
  }
});

/**
 * Values without their last digits, because sums of fractions depend on the order in which
 * Prometheus reads them.
 */
function rounded(series: readonly Series[]): unknown {
  const round = ([at, value]: readonly [number, string]) => [at, Number(value).toPrecision(9)];
  return series.map(({ metric, value, values }) => [metric, value && round(value), values?.map(round)]);
}

/**
 * Metrics that Calagopus doesn't report, and those of queries, because these servers aren't
 * queried.
 */
const NOT_REPORTED =
  /gameserver_(?:disk_(?:read|written)|node_(?:\w+_allocated|cpu)|schedule_(?:next_run|processing)|players|bots|query)/;

/** The expected values of single stats after all events. */
const FIGURES = [
  ['fleet.json', 'Exporters / A', 2],
  ['fleet.json', 'Exporters / B', 0],
  // Seven configured servers, the same seven as discovered ones, and one on the panel that rejects
  // the key.
  ['fleet.json', 'Servers / B', 15],
  ['fleet.json', 'Servers / A', 8],
  // The server that crashed, once configured and, because it ran before, once discovered.
  ['fleet.json', 'Down / A', 2],
  ['fleet.json', 'Crashes / A', 2],
  // The server whose key is rejected. The suspended server of two panels is counted separately.
  ['fleet.json', 'No data / A', 1],
  ['fleet.json', 'Off / B', 2],
  ['fleet.json', 'Off / A', 2],
  ['fleet.json', 'Nodes down / A', 0],
  ['fleet.json', 'Panels down / A', 1],
  ['exporter.json', 'Panels down / A', 1],
  ['exporter.json', 'Fresh data / A', 12 / 13],
  ['exporter.json', 'HTTP 429 / A', 1],
  ['exporter.json', 'Shards down / A', 0],
  ['exporter.json', 'Bad configs / A', 0],
] as const;

const NAMES = [...SERVERS.map(({ name }) => name), 'elsewhere', 'lobby', 'maze'].toSorted();

/**
 * Two queried servers, one of which doesn't respond, on a node whose CPU is known, as on Pelican.
 */
const QUERIED = expositionOf(
  fleetReading(
    ['lobby', 'maze'].map((name) =>
      streamingReading({ target: { panel: 'queried', name, id: name, node: 'fra-1', egg: 'Paper' } }),
    ),
    [panelReading({ name: 'queried', nodes: [{ name: 'fra-1', up: true }] })],
  ),
  'gameserver_players{panel="queried",server="lobby",server_id="lobby"} 12',
  'gameserver_players_max{panel="queried",server="lobby",server_id="lobby"} 40',
  'gameserver_bots{panel="queried",server="lobby",server_id="lobby"} 3',
  'gameserver_query_duration_seconds{panel="queried",server="lobby",server_id="lobby"} 0.02',
  'gameserver_query_up{panel="queried",server="lobby",server_id="lobby"} 1',
  'gameserver_query_up{panel="queried",server="maze",server_id="maze"} 0',
  'gameserver_node_cpu_cores{panel="queried",node="fra-1"} 16',
  'gameserver_node_cpu_allocated_cores{panel="queried",node="fra-1"} 8',
  'gameserver_node_cpu_overallocation_ratio{panel="queried",node="fra-1"} 0.2',
);

/** A panel with servers of every kind, a panel that rejects the key, and a panel with discovery. */
function configuration(panel: Simulator, nodesKey: string, prefix = ''): string {
  const id = (name: string) => panel.server(name).uuid;
  const access = [`    url: ${panel.url}`, `    api_key: ${panel.apiKey}`, '    requests_per_minute: 6000'];
  return [
    'panels:',
    `  - name: ${prefix}main`,
    ...access,
    '    limits_from_listing: true',
    '    backups: true',
    '    schedules: true',
    `    nodes: { api_key_file: ${nodesKey} }`,
    '    servers:',
    `      - { id: ${id('survival')}, name: survival, limits: { memory: 8GiB, disk: 40GiB, cpu_cores: 3.5 } }`,
    `      - { id: ${id(AWKWARD)}, name: ${JSON.stringify(AWKWARD)}, labels: { game: minecraft } }`,
    `      - { id: ${id('valheim')}, name: valheim, mode: poll, expect: any }`,
    ...['skyblock', 'modded'].map((name) => `      - { id: ${id(name)}, name: ${name} }`),
    ...['arena', 'season'].map((name) => `      - { id: ${id(name)}, name: ${name}, expect: any }`),
    `  - name: ${prefix}other`,
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey.replaceAll(/[a-z]/g, 'x')}`,
    `    servers: [{ id: ${id('arena')}, name: elsewhere }]`,
    `  - name: ${prefix}listed`,
    ...access,
    '    discover: { interval: 1m }',
  ].join('\n');
}

/** Fills the disk of `survival` until the returned function is called. */
function fillDisk(panel: Simulator): () => void {
  let diskBytes = 10_000_000_000;
  const fill = () => {
    diskBytes += 5_000_000;
    panel.pin('survival', { diskBytes, cpuAbsolute: 300 });
  };
  fill();
  return repeatedly(fill, 500);
}

/**
 * Causes a restart, a crash, a lost socket and a rejected call, after Prometheus has seen that
 * everything runs.
 */
async function causeEvents(
  panel: Simulator,
  replicas: readonly ServedProgram[],
  prometheus: PrometheusUnderTest,
  name: string,
): Promise<void> {
  const running = `gameserver_state{panel="${name}", server=~"survival|skyblock|modded", state="running"} == 1`;
  await eventually(async () => expect(await prometheus.query(running)).toHaveLength(3 * replicas.length));
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
    await until('gameserver_stops_total', { panel: name, server: 'modded', reason: 'crashed' }, [1]);
    await until('gameserver_starts_total', { panel: name, server: 'skyblock' }, [1]);
  }
}
