import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../src/metrics/families.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { hasProgram } from '../support/has-program.ts';
import { endPrograms, type ServedProgram, serveProgram } from '../support/program.ts';
import { type PrometheusUnderTest, startPrometheus } from '../support/prometheus.ts';
import { SELF_FAMILIES } from '../support/self-families.ts';

/** The values that `survival` sends on its socket. */
const STREAMED = {
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuAbsolute: 153.25,
  diskBytes: 123_456_789,
  rxBytes: 601_000,
  txBytes: 902_000,
  readBytes: 11,
  writtenBytes: 22,
};

/** The values of `valheim` in a poll. */
const POLLED = {
  memoryBytes: 3_221_225_472,
  memoryLimitBytes: 4_294_967_296,
  cpuAbsolute: 50,
  diskBytes: 2_048,
  rxBytes: 4_321,
  txBytes: 8_765,
};

/** The expected value of each family about a server; undefined if there is no series. */
const EXPECTED: readonly (readonly [name: string, survival: number, valheim: number | undefined])[] = [
  ['gameserver_memory_usage_bytes', STREAMED.memoryBytes, POLLED.memoryBytes],
  // A poll doesn't contain the limit.
  ['gameserver_memory_limit_bytes', STREAMED.memoryLimitBytes, undefined],
  ['gameserver_cpu_usage_cores', 1.5325, 0.5],
  ['gameserver_disk_usage_bytes', STREAMED.diskBytes, POLLED.diskBytes],
  ['gameserver_network_receive_bytes_total', STREAMED.rxBytes, POLLED.rxBytes],
  ['gameserver_network_transmit_bytes_total', STREAMED.txBytes, POLLED.txBytes],
  ['gameserver_disk_read_bytes_total', STREAMED.readBytes, undefined],
  ['gameserver_disk_written_bytes_total', STREAMED.writtenBytes, undefined],
  ['gameserver_cpu_usage_peak_cores', 1.5325, undefined],
  ['gameserver_memory_usage_peak_bytes', STREAMED.memoryBytes, undefined],
  ['gameserver_collection_up', 1, 1],
  ['gameserver_collection_streaming', 1, 0],
];

const hasPrometheus = hasProgram('prometheus');

describe.skipIf(!hasPrometheus)('a real Prometheus', () => {
  let panel: Simulator;
  let exporter: ServedProgram;
  let prometheus: PrometheusUnderTest;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    panel = await startSimulator({
      servers: [
        { name: 'survival', profile: 'steady' },
        { name: 'valheim', profile: 'steady' },
        { name: 'season', profile: 'suspended' },
      ],
    });
    stops.unshift(() => panel.stop());
    panel.pin('survival', STREAMED);
    panel.pin('valheim', POLLED);
    exporter = await serveProgram({ yaml: configuration(panel) });
    stops.unshift(endPrograms);
    prometheus = await startPrometheus(new URL(exporter.url).host);
    stops.unshift(() => prometheus.stop());
    for (const server of ['survival', 'valheim'])
      await exporter.until('gameserver_collection_up', { server }, [1]);
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

  it.each(EXPECTED)('has the reported values of %s', (name, survival, valheim) =>
    eventually(async () => {
      expect(await valuesOf(`${name}{server="survival"}`)).toEqual([survival]);
      expect(await valuesOf(`${name}{server="valheim"}`)).toEqual(valheim === undefined ? [] : [valheim]);
    }),
  );

  it('has labels as they are configured', () =>
    eventually(async () => {
      const [found] = await prometheus.query('gameserver_collection_up{server="survival"}');
      const { __name__: _name, instance: _instance, job: _job, ...labels } = found?.labels ?? {};
      expect(labels).toEqual({
        panel: 'main',
        server: 'survival',
        server_id: panel.server('survival').identifier,
        ...SURVIVAL_LABELS,
      });
    }));

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
});

const SURVIVAL_LABELS = { game: 'minecraft', region: 'eu "west" \\ 1' };

function configuration(panel: Simulator): string {
  const id = (name: string) => panel.server(name).uuid;
  return [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    '    limits_from_listing: false',
    '    servers:',
    `      - { id: ${id('survival')}, name: survival, labels: ${JSON.stringify(SURVIVAL_LABELS)} }`,
    `      - { id: ${id('valheim')}, name: valheim, mode: poll }`,
    `      - { id: ${id('season')}, name: season, expect: any }`,
  ].join('\n');
}
