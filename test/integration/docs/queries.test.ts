import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { hasProgram } from '../../support/has-program.ts';

const hasPromtool = hasProgram('promtool');

/** The queries on all pages: in fenced blocks, and in the tables of the migration page. */
function queries(): readonly string[] {
  const fenced = documents().flatMap((document) => fencedBlocks(document, 'promql'));
  const migration = readFileSync('docs/migration.md', 'utf8');
  const cells = [...migration.matchAll(/`([^`\n]*(?:gameserver|pterodactyl_server)_[^`\n]*)`/g)]
    .map(([, cell = '']) => cell)
    .filter((cell) => !/label_values|…/.test(cell));
  return [...fenced, ...cells];
}

/** A server on two replicas, one of which doesn't know its egg yet. */
const REPLICAS = ['a', 'b'].flatMap((instance) => {
  const server = `instance="${instance}", panel="main", server="survival", server_id="1a7ce997"`;
  return [
    {
      series: `gameserver_info{${server}, node="n", egg="${instance === 'a' ? 'Paper' : ''}"}`,
      values: '1x100',
    },
    { series: `gameserver_players{${server}}`, values: '3x100' },
    { series: `gameserver_network_receive_bytes_total{${server}}`, values: '0+60x100' },
    { series: `gameserver_stops_total{${server}, reason="crashed"}`, values: '0x50 0+1x49' },
    { series: `gameserver_stops_total{${server}, reason="requested"}`, values: '0x100' },
    { series: `gameserver_schedules_last_read_timestamp_seconds{${server}}`, values: '1700x100' },
    {
      series: `gameserver_schedule_next_run_timestamp_seconds{${server}, schedule="Restart"}`,
      values: '1000x100',
    },
  ];
});

/** The expected results of queries with these metrics. */
const VALUES: readonly (readonly [metric: string, value: number])[] = [
  ['gameserver_players', 3],
  ['gameserver_network_receive', 1],
  ['gameserver_stops', 49],
  ['gameserver_schedule', 700],
];

describe.skipIf(!hasPromtool)('the queries in the docs', () => {
  const joins = queries().filter((query) => /group_(?:left|right)/.test(query));

  it('that join series are known here', () => {
    expect(joins).toHaveLength(4);
  });

  it.each(joins.map((query) => [query]))(
    'work with two replicas, and count each server once: %s',
    async (query) => {
      const folder = await mkdtemp(join(tmpdir(), 'joins-'));
      const file = join(folder, 'test.json');
      // Labels aren't compared, only the number of results and their sum.
      const [, expected = 0] = VALUES.find(([metric]) => query.includes(metric)) ?? [];
      const exprs = [
        [`count(${query})`, 1],
        [`round(sum(${query}))`, expected],
      ] as const;
      const tests = exprs.map(([expr, value]) => ({
        expr,
        eval_time: '100m',
        exp_samples: [{ labels: '{}', value }],
      }));
      await writeFile(
        file,
        JSON.stringify({ tests: [{ interval: '1m', input_series: REPLICAS, promql_expr_test: tests }] }),
      );
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
      await rm(folder, { recursive: true });
      expect(status, `${stdout}${stderr}`).toBe(0);
    },
  );

  it('are valid for Prometheus', async () => {
    const all = queries();
    expect(all.length).toBeGreaterThan(40);
    const folder = await mkdtemp(join(tmpdir(), 'queries-'));
    const file = join(folder, 'rules.json');
    const rules = all.map((expr, index) => ({ record: `query:${index}`, expr }));
    await writeFile(file, JSON.stringify({ groups: [{ name: 'docs', rules }] }));
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    await rm(folder, { recursive: true });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});
