import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { ensureDebianPackage } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { configFile, endPrograms, metricsAt, runProgram } from '../support/program.ts';
import { type PrometheusUnderTest, startPrometheus } from '../support/prometheus.ts';

const hasPrometheus = await ensureDebianPackage('prometheus', 'prometheus');

describe.skipIf(!hasPrometheus)('in Prometheus, a server that was renamed', () => {
  let panel: Simulator;
  let prometheus: PrometheusUnderTest;

  const yaml = (name: string) =>
    [
      'panels:',
      '  - name: main',
      `    url: ${panel.url}`,
      '    api_key_file: key',
      '    servers:',
      `      - { id: "${panel.server('survival').identifier}", name: ${name} }`,
    ].join('\n');

  /** The values of a query by the name of the server. */
  const byName = async (query: string) =>
    Object.fromEntries((await prometheus.query(query)).map(({ labels, value }) => [labels['server'], value]));

  beforeAll(async () => {
    panel = await startSimulator({
      servers: [{ name: 'survival', profile: 'steady' }],
      startMs: 500,
      stopMs: 500,
      reviveMs: 3_600_000,
    });
    const file = await configFile(yaml('survival'));
    await writeFile(join(dirname(file), 'key'), panel.apiKey);
    const program = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0']);
    const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
    prometheus = await startPrometheus(new URL(url).host);
    const metrics = metricsAt(url);
    await metrics.until('gameserver_collection_up', { server: 'survival' }, [1]);
    await eventually(async () => expect(await byName('gameserver_starts_total')).toEqual({ survival: 0 }));
    panel.power('survival', 'restart');
    await metrics.until('gameserver_starts_total', { server: 'survival' }, [1]);
    await eventually(async () => expect(await byName('gameserver_starts_total')).toEqual({ survival: 1 }));
    await writeFile(file, yaml('renamed'));
    program.kill('SIGHUP');
    await metrics.until('gameserver_collection_up', { server: 'renamed' }, [1]);
    await eventually(async () =>
      expect(Object.keys(await byName('gameserver_starts_total'))).toEqual(['renamed']),
    );
  });

  afterAll(async () => {
    await prometheus.stop();
    await endPrograms();
    await panel.stop();
  });

  it('continues its counters in new series, so that the rename is not an increase', () =>
    eventually(async () => {
      expect(await byName('gameserver_starts_total')).toEqual({ renamed: 1 });
      const increase = await byName('increase(gameserver_starts_total[5m])');
      expect(increase['survival']).toBeGreaterThan(0);
      expect(increase['renamed']).toBe(0);
    }));

  it('has one result if series are summed by its identifier, with the name that it has now', () =>
    eventually(async () => {
      const total = 'sum by (panel, server_id) (increase(gameserver_starts_total[5m]))';
      const found = await prometheus.query(total);
      expect(found).toHaveLength(1);
      expect(found[0]?.value).toBeGreaterThan(0);
      const named = `${total} * on (panel, server_id) group_left (server) gameserver_info`;
      expect(Object.keys(await byName(named))).toEqual(['renamed']);
    }));
});
