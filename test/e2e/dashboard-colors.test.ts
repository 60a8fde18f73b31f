import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOOD, INFORMATION, NO_DATA, PLAIN, TROUBLE, WARNING } from '../../dashboards/appearance.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { ALL, askFor, type Choices, eventuallyEach, failuresOf } from '../support/dashboard-queries.ts';
import { eventually } from '../support/eventually.ts';
import { serveExposition } from '../support/exposition-target.ts';
import {
  type Appearance,
  appearanceOf,
  type DashboardQuery,
  dashboardIn,
  fieldName,
  type GrafanaPanel,
  lookOf,
  panelsOf,
  queriesOf,
  type Target,
} from '../support/grafana.ts';
import { hasProgram } from '../support/has-program.ts';
import { endPrograms, serveProgram } from '../support/program.ts';
import { type PrometheusUnderTest, rulesEverySecond, startPrometheusWith } from '../support/prometheus.ts';
import { FINE, NEEDS_ATTENTION, TROUBLED } from '../support/troubled-fleet.ts';

const FILES = ['fleet.json', 'server.json', 'exporter.json'];

const hasPrometheus = hasProgram('prometheus');

describe.skipIf(!hasPrometheus)('the dashboards with data of a real Prometheus', () => {
  let prometheus: PrometheusUnderTest;
  const stops: (() => unknown)[] = [];

  beforeAll(async () => {
    const panel = await startSimulator({
      servers: [
        { name: 'survival', profile: 'idle' },
        { name: 'lobby', profile: 'idle' },
        { name: 'season', profile: 'offline' },
        { name: 'unpaid', profile: 'suspended' },
      ],
      websocketLimitPerMinute: 0,
    });
    stops.unshift(() => panel.stop(), endPrograms);
    const id = (name: string) => panel.server(name).uuid;
    const healthy = await serveProgram({
      yaml: [
        'panels:',
        '  - name: main',
        `    url: ${panel.url}`,
        `    api_key: ${panel.apiKey}`,
        '    requests_per_minute: 6000',
        '    servers:',
        ...['survival', 'lobby', 'unpaid'].map((name) => `      - { id: ${id(name)}, name: ${name} }`),
        `      - { id: ${id('season')}, name: season, expect: any }`,
      ].join('\n'),
    });
    for (const server of ['survival', 'lobby', 'season']) {
      await healthy.until('gameserver_collection_up', { server }, [1]);
    }
    await healthy.until('gameserver_blocked', { server: 'unpaid', reason: 'suspended' }, [1]);
    // The last metrics of a healthy fleet, which then disappear.
    const dead = await serveExposition(await (await fetch(`${healthy.url}/metrics`)).text());
    const troubled = await serveExposition(FINE);
    const other = await serveExposition('process_resident_memory_bytes 1\nprocess_cpu_seconds_total 1\n');
    const targets = {
      healthy: new URL(healthy.url).host,
      dead: dead.authority,
      troubled: troubled.authority,
      other: other.authority,
    };
    prometheus = await startPrometheusWith(
      [
        'global: { scrape_interval: 1s, scrape_timeout: 1s }',
        'rule_files: [rules.yml]',
        'scrape_configs:',
        ...Object.entries(targets).map(
          ([job, target]) => `  - { job_name: ${job}, static_configs: [{ targets: ["${target}"] }] }`,
        ),
      ].join('\n'),
      rulesEverySecond(),
    );
    stops.unshift(
      () => prometheus.stop(),
      () => troubled.close(),
      () => other.close(),
    );
    await until('count(count_over_time(up[1m]) >= 2) == 4');
    await dead.close();
    troubled.text = TROUBLED;
    await until('up{job="dead"} == 0');
    await until('count_over_time((up{job="dead"} == 0)[1m:1s]) >= 5');
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  function until(condition: string): Promise<void> {
    return eventually(async () => expect(await prometheus.query(condition)).not.toEqual([]));
  }

  const chosen = (job: string): Choices => ({ ...ALL, job: [job] });

  /** The current colors of a stat, a bar or a table cell. */
  async function colorsIn(
    panel: GrafanaPanel,
    choices: Choices,
  ): Promise<readonly (Appearance & { field: string })[]> {
    const all = (panel.targets ?? []).map(async (target) => {
      const found = await askFor(prometheus.url, queryOf(panel, target), choices, await prometheus.settled());
      if (found.length === 0 && panel.type !== 'table') {
        const field = fieldName(panel, target);
        return [{ field, ...appearanceOf(panel, field, null) }];
      }
      return found.flatMap(({ metric, values, value = values?.at(-1) }) => {
        const field = fieldName(panel, target, metric);
        const number = { field, ...appearanceOf(panel, field, Number(value?.[1])) };
        return (isColored(panel, field) ? [number] : []).concat(labelColors(panel, metric));
      });
    });
    return (await Promise.all(all)).flat();
  }

  const shown = FILES.flatMap((file) =>
    panelsOf(dashboardIn(file))
      .filter(({ type }) => /^(stat|bargauge|table)$/.test(type))
      .map((panel) => [`${file}: ${panel.title}`, panel] as const),
  );

  it('nothing is a warning for a healthy fleet', () =>
    eventuallyEach(shown, async (panel) => {
      const colors = await colorsIn(panel, chosen('healthy'));
      const bad = colors.filter(({ color }) => [TROUBLE, WARNING, 'yellow', 'dark-red'].includes(color));
      expect(bad).toEqual([]);
      if (panel.type === 'stat' && !MAY_BE_GRAY.has(panel.title)) {
        expect(colors.map(({ color }) => color)).not.toContain(NO_DATA);
      }
    }));

  describe('for an exporter that died', () => {
    it('nothing is green', () =>
      eventuallyEach(shown, async (panel) => {
        const colors = await colorsIn(panel, chosen('dead'));
        expect(colors.filter(({ color }) => /green/.test(color))).toEqual([]);
        if (panel.type === 'stat') {
          expect(colors).not.toEqual([]);
          for (const { color } of colors) expect([NO_DATA, TROUBLE]).toContain(color);
        }
      }));

    it('the exporter is shown as down, in red', async () => {
      await eventually(async () =>
        expect(await colorsIn(panelNamed('fleet.json', 'Exporters'), chosen('dead'))).toEqual([
          { field: 'up', text: '0', color: TROUBLE },
          { field: 'down', text: '1', color: TROUBLE },
        ]),
      );
    });

    it('the exporter is the only problem', async () => {
      const expected = [`1 exporter_down: ${await instanceOf('dead')}`];
      await eventually(async () => expect(await problems(chosen('dead'))).toEqual(expected));
    });
  });

  describe('without a scraped exporter', () => {
    it('nothing is green', async () => {
      const failures = await failuresOf(shown, async (panel) => {
        const colors = await colorsIn(panel, chosen('nobody'));
        expect(colors.filter(({ color }) => /green/.test(color))).toEqual([]);
        if (panel.type === 'stat') for (const { color } of colors) expect(color).toBe(NO_DATA);
      });
      expect(failures).toEqual([]);
    });

    it('the table of problems shows that', async () => {
      expect(await problems(chosen('nobody'))).toEqual(['1 no_exporter: ']);
    });
  });

  describe('for a fleet with problems', () => {
    it('the table of problems lists what is down, then a row for each server', async () => {
      await eventually(async () =>
        expect(await problems(chosen('troubled'))).toEqual(NEEDS_ATTENTION.toSorted()),
      );
    });

    it('single stats have the color of the problem', () =>
      eventuallyEach(
        IN_TROUBLE.map(
          ([file, title, ...expected]) => [`${file}: ${title}`, { file, title, expected }] as const,
        ),
        async ({ file, title, expected }) => {
          const colors = await colorsIn(panelNamed(file, title), chosen('troubled'));
          expect(colors.map(({ text, color }) => `${text} ${color}`)).toEqual(expected);
        },
      ));

    it('the states start with the servers that have problems, and list each server once', async () => {
      const panel = panelNamed('fleet.json', 'States of all servers');
      const listed = (at: number) =>
        Promise.all(
          (panel.targets ?? []).map(async (target) => {
            const found = await askFor(prometheus.url, queryOf(panel, target), chosen('troubled'), at);
            return found.map(({ metric }) => `${metric['server']}`).toSorted();
          }),
        );
      const trouble = [
        'off',
        'gave-up',
        'silent',
        'forbidden',
        'dark-1',
        'dark-2',
        'adrift',
        'crashed',
        'looping',
      ];
      const others = ['fine', 'viking', 'full', 'hungry', 'slow', 'mute', 'season', 'unpaid'];
      await eventually(async () =>
        expect(await listed(await prometheus.settled())).toEqual([trouble.toSorted(), others.toSorted()]),
      );
    });

    it("nodes have the sums of their servers' usage and limits", async () => {
      const panel = panelNamed('fleet.json', 'Nodes');
      await eventually(async () => {
        const found = await Promise.all(
          (panel.targets ?? []).map(async (target) => {
            const series = await askFor(
              prometheus.url,
              queryOf(panel, target),
              chosen('troubled'),
              await prometheus.settled(),
            );
            const node = series.find(
              ({ metric }) => metric['node'] === 'node-1' && metric['panel'] === 'main',
            );
            return [`${target.refId} ${fieldName(panel, target)}`, Number(node?.value?.[1])] as const;
          }),
        );
        // Eleven servers have samples. Eight of them run, and one has almost no memory left.
        expect(Object.fromEntries(found)).toMatchObject({
          'A Status': 1,
          'B Servers': 14,
          'C Running': 8,
          'D Memory': 10 * 1e9 + 3.9e9,
          'E Memory limits': 11 * 4e9,
          'F Memory %': expect.closeTo(13.9 / 44),
          'G CPU': expect.closeTo(11 * 1.53217),
          'H CPU limits': 11 * 4,
          'I CPU %': expect.closeTo(1.53217 / 4),
        });
      });
    });

    it('every query can be filtered by node and egg', async () => {
      const queries = FILES.flatMap((file) => queriesOf(dashboardIn(file)));
      const one = { ...chosen('troubled'), node: ['node-1'], egg: ['Valheim'] };
      const at = await prometheus.settled();
      const failures = await failuresOf(
        queries.map((query) => [query.place, query] as const),
        async (query) => {
          const found = await askFor(prometheus.url, query, one, at);
          const servers = found.flatMap(({ metric }) => metric['server'] ?? []);
          expect(servers.filter((server) => server !== 'viking')).toEqual([]);
          const nodes = found.flatMap(({ metric }) => (metric['instance'] ? [] : (metric['node'] ?? [])));
          expect(nodes.filter((node) => node !== 'node-1')).toEqual([]);
        },
      );
      expect([queries.length > 50, failures]).toEqual([true, []]);
    });
  });

  it('queries of processes exclude those other than exporters', async () => {
    const [healthy, other] = [await instanceOf('healthy'), await instanceOf('other')];
    const queries = queriesOf(dashboardIn('exporter.json')).filter(({ expr }) =>
      /\b(?:process|nodejs)_/.test(expr),
    );
    await eventuallyEach(
      queries.map((query) => [query.place, query] as const),
      async (query) => {
        const found = await askFor(prometheus.url, query, ALL, await prometheus.settled());
        const instances = found.map(({ metric }) => metric['instance']);
        expect(instances).toContain(healthy);
        expect(instances).not.toContain(other);
      },
    );
  });

  async function problems(choices: Choices): Promise<readonly string[]> {
    const query = queryNamed('fleet.json', 'Problems');
    const rows = await askFor(prometheus.url, query, choices, await prometheus.settled());
    for (const { metric } of rows) expect(metric['todo']).toBe(metric['problem']);
    return rows
      .map(({ metric: { urgency, problem, server, node, panel } }) => {
        return `${urgency} ${problem}: ${[server, node, panel].filter(Boolean).join(' · ')}`;
      })
      .toSorted();
  }

  async function instanceOf(job: string): Promise<string | undefined> {
    const [target] = await prometheus.query(`up{job="${job}"}`);
    return target?.labels['instance'];
  }
});

/** Panels without data, because the healthy fleet, or some of its servers, have none. */
const MAY_BE_GRAY = new Set([
  'Players',
  'Slots in use',
  'Unresponsive',
  'Nodes down',
  'CPU',
  'Disk',
  'Last stop',
  'Exit code',
  'Uptime',
  '30 days',
  'Data',
  'Disk full in',
]);

const IN_TROUBLE = [
  ['fleet.json', 'Exporters', `1 ${GOOD}`, `0 ${GOOD}`],
  ['fleet.json', 'Panels down', `1 ${TROUBLE}`],
  ['fleet.json', 'Nodes down', `1 ${TROUBLE}`],
  ['fleet.json', 'Crashes', `4 ${WARNING}`],
  ['fleet.json', 'Down', `2 ${TROUBLE}`],
  // Servers without samples or permission, and servers of the node and the panel that are down.
  ['fleet.json', 'No data', `5 ${TROUBLE}`],
  ['fleet.json', 'Off', `1 ${INFORMATION}`, `1 ${INFORMATION}`],
  ['fleet.json', 'Unresponsive', `1 ${TROUBLE}`],
  ['fleet.json', 'Players', `12 ${PLAIN}`],
] as const;

function panelNamed(file: string, title: string): GrafanaPanel {
  const panel = panelsOf(dashboardIn(file)).find((panel) => panel.title === title);
  if (panel === undefined) throw new Error(`expected "${title}" in ${file}`);
  return panel;
}

function queryNamed(file: string, title: string): DashboardQuery {
  const panel = panelNamed(file, title);
  const [target] = panel.targets ?? [];
  if (target === undefined) throw new Error(`expected a query in "${title}"`);
  return queryOf(panel, target);
}

function queryOf(panel: GrafanaPanel, { expr, instant, refId }: Target): DashboardQuery {
  return { place: `${panel.title} / ${refId}`, expr, instant: instant === true };
}

/** The color of a number in a table only counts if the cells show it. */
function isColored(panel: GrafanaPanel, field: string): boolean {
  if (panel.type !== 'table') return true;
  const look: Readonly<Record<string, unknown>> = { ...lookOf(panel, field) };
  return JSON.stringify(look['custom.cellOptions'] ?? '').includes('color-text');
}

function labelColors(panel: GrafanaPanel, labels: Readonly<Record<string, string>>) {
  if (panel.type !== 'table') return [];
  const { renameByName = {} } = panel.transformations?.find(({ id }) => id === 'organize')?.options ?? {};
  return Object.entries(labels).flatMap(([label, value]) => {
    const field = renameByName[label];
    return field !== undefined && isColored(panel, field)
      ? [{ field, ...appearanceOf(panel, field, value) }]
      : [];
  });
}
