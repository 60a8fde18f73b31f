import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../src/metrics/families.ts';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { ensureDebianPackage } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { endPrograms, type ServedProgram, serveProgram, valuesIn } from '../support/program.ts';
import { type PrometheusUnderTest, startPrometheus } from '../support/prometheus.ts';
import { SELF_FAMILIES } from '../support/self-families.ts';
import {
  CONSOLE_LINES,
  configuration,
  type Expected,
  expectedOfPanels,
  expectedSeries,
  LAST_USAGE,
  LOBBY_USAGE,
  labelsOf,
  PEAK_USAGE,
  SERVERS,
  VALHEIM_USAGE,
} from './expected-series.ts';

const hasPrometheus = await ensureDebianPackage('prometheus', 'prometheus');

describe.skipIf(!hasPrometheus)('a real Prometheus', () => {
  let panel: Simulator;
  let exporter: ServedProgram;
  let prometheus: PrometheusUnderTest;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    panel = await startSimulator({ servers: SERVERS, startMs: 500, stopMs: 500, reviveMs: 3_600_000 });
    stops.unshift(() => panel.stop());
    panel.pin('survival', PEAK_USAGE);
    panel.pin('lobby', LOBBY_USAGE);
    panel.pin('valheim', VALHEIM_USAGE);
    exporter = await serveProgram({ yaml: configuration(panel) });
    stops.unshift(endPrograms);
    prometheus = await startPrometheus(new URL(exporter.url).host);
    stops.unshift(() => prometheus.stop());
    await causeEvents(panel, exporter);
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  it('finds every target up, and scrapes without problems', async () => {
    await eventually(async () => {
      const targets = await prometheus.targets();
      expect(targets).toMatchObject([{ scrapeUrl: `${exporter.url}/metrics`, health: 'up', lastError: '' }]);
      expect(await valuesOf('up')).toEqual([1]);
    });
  });

  it('receives every family in the metric table', () => {
    const named = [...Object.keys(expectedSeries(panel)), ...Object.keys(expectedOfPanels(panel))];
    const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES].map(({ name }) => name);
    expect(named.toSorted()).toEqual(families.toSorted());
  });

  it.each(SERVER_FAMILIES.map(({ name }) => name))('has the expected series of %s', (name) =>
    eventually(async () => {
      const rows = (expectedSeries(panel)[name] ?? []).map(
        ([server, value, labels]) => [{ ...labelsOf(panel, server), ...labels }, value] as const,
      );
      expect(await series(name, rows)).toEqual(asShown(rows));
    }),
  );

  it.each(PANEL_FAMILIES.map(({ name }) => name))('has the expected series of %s', (name) =>
    eventually(async () => {
      const rows = expectedOfPanels(panel)[name] ?? [];
      expect(await series(name, rows)).toEqual(asShown(rows));
    }),
  );

  it('has no other series about servers or panels', async () => {
    const known = [...SERVER_FAMILIES, ...PANEL_FAMILIES].map(({ name }) => name);
    const found = await prometheus.query(
      'count by (__name__) ({__name__=~"gameserver_.+", __name__!~"gameserver_exporter_.+"})',
    );
    expect(known).toEqual(expect.arrayContaining(found.map(({ labels }) => labels['__name__'])));
  });

  it('knows every type', async () => {
    const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES, ...SELF_FAMILIES];
    const types = await prometheus.types();
    const known = families.map(({ name }) => [name, types.get(name)]);
    expect(known).toEqual(families.map(({ name, type }) => [name, [type]]));
  });

  it('stored every scraped sample, none twice, none out of order', async () => {
    const [scraped] = await valuesOf('scrape_samples_scraped');
    expect(scraped).toBeGreaterThan(100);
    expect(await valuesOf('scrape_samples_scraped - scrape_samples_post_metric_relabeling')).toEqual([0]);
    expect(prometheus.log).not.toMatch(/Error on ingesting|Append failed|level=error/);
    const own = await (await fetch(`${prometheus.url}/metrics`)).text();
    for (const trouble of ['duplicate_timestamp', 'out_of_order', 'out_of_bounds']) {
      expect(own).toContain(`\nprometheus_target_scrapes_sample_${trouble}_total 0\n`);
    }
  });

  const valuesOf = async (expression: string) =>
    (await prometheus.query(expression)).map(({ value }) => value);

  /** A family's series in Prometheus; a value within its expected range is replaced by that range. */
  async function series(name: string, rows: readonly (readonly [Labels, Expected])[]): Promise<Shown> {
    const expected = new Map(rows.map(([labels, value]) => [keyOf(labels), value]));
    const found = await prometheus.query(name);
    return Object.fromEntries(
      found.map(({ labels: { __name__: _name, instance: _instance, job: _job, ...labels }, value }) => {
        const wanted = expected.get(keyOf(labels));
        const fits = typeof wanted === 'object' && value >= wanted.from && value <= wanted.to;
        return [keyOf(labels), fits ? wanted : value];
      }),
    );
  }
});

type Labels = Readonly<Record<string, string>>;
type Shown = Readonly<Record<string, Expected>>;

function asShown(rows: readonly (readonly [Labels, Expected])[]): Shown {
  return Object.fromEntries(rows.map(([labels, value]) => [keyOf(labels), value]));
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Temporary peaks, console lines, a restart and a crash: each once, and seen by the exporter. */
async function causeEvents(panel: Simulator, exporter: ServedProgram): Promise<void> {
  await exporter.until('gameserver_cpu_usage_cores', { server: 'survival' }, [PEAK_USAGE.cpuAbsolute / 100]);
  await eventually(async () => {
    const peaks = valuesIn(await exporter.scrape(), 'gameserver_cpu_usage_peak_cores');
    expect(peaks, 'of survival, lobby, skyblock, modded and arena').toHaveLength(5);
  });
  panel.pin('survival', LAST_USAGE);
  for (let line = 0; line < CONSOLE_LINES; line += 1) {
    panel.sockets({ kind: 'send', server: 'survival', event: 'console output', args: [`line ${line}`] });
  }
  panel.crash('modded', { code: 1 });
  panel.power('skyblock', 'restart');
  await exporter.until('gameserver_stops_total', { server: 'modded', reason: 'crashed' }, [1]);
  await exporter.until('gameserver_starts_total', { server: 'skyblock' }, [1]);
}
