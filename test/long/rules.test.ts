import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withDiscordAddress } from '../support/alertmanager.ts';
import { repositoryPath } from '../support/deploy-files.ts';
import { hasProgram } from '../support/has-program.ts';

const execute = promisify(execFile);

const hasPromtool = hasProgram('promtool');
const hasAmtool = hasProgram('amtool');

describe.skipIf(!hasPromtool)('promtool', () => {
  it('accepts the rules', async () => {
    expect(
      await run(
        'promtool',
        'check',
        'rules',
        '--lint=all',
        '--lint-fatal',
        ...inFolder('rules'),
        ...inFolder('simple'),
      ),
    ).toContain('SUCCESS');
  });

  it('accepts the example configuration', async () => {
    const file = repositoryPath('deploy/prometheus/prometheus.yml');
    expect(await run('promtool', 'check', 'config', file)).toContain('SUCCESS');
  });

  it.each(readdirSync(repositoryPath('deploy/prometheus/tests')))(
    'sees each alert of tests/%s fire, or not, as expected',
    async (name) => {
      const file = repositoryPath(`deploy/prometheus/tests/${name}`);
      expect(await run('promtool', 'test', 'rules', file)).toContain('SUCCESS');
    },
  );
});

describe.skipIf(!hasPromtool)('of 500 servers on ten nodes', () => {
  const onNodes = Array.from({ length: 10 }, (_, node) => node * 50);

  it.each([
    ['nine that crash at once, each on a node of its own, are not many', onNodes.slice(1), []],
    ['ten, which are 2 %, are many', onNodes, [{ value: 10 }]],
    [
      'five of one node are many, without the one of another',
      [0, 1, 2, 3, 4, 100],
      [{ node: 'n0', value: 5 }],
    ],
  ])('%s', async (_, crashed, groups) => {
    const folder = await mkdtemp(join(tmpdir(), 'many-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'test.json');
    const series = Array.from({ length: 500 }, (_server, index) => seriesOf(index, crashed.includes(index)));
    const group = 'panel:gameserver_one_of_many:count';
    const expected = groups.map(({ node, value }: { node?: string; value: number }) => ({
      labels: `${group}{job="gameserver",panel="main",failure="crashed",since="300"${node === undefined ? '' : `,node="${node}"`}}`,
      value,
    }));
    const tests = [
      {
        interval: '15s',
        input_series: [
          { series: 'up{job="gameserver",instance="a"}', values: '1x60' },
          // The rules use a server's node only if its panel has this series.
          { series: 'gameserver_panel_up{job="gameserver",instance="a",panel="main"}', values: '1x60' },
          ...series.flat(),
        ],
        promql_expr_test: [{ expr: group, eval_time: '7m', exp_samples: expected }],
      },
    ];
    const rules = repositoryPath('deploy/prometheus/rules/gameserver.yml');
    await writeFile(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '15s', tests }));
    expect(await run('promtool', 'test', 'rules', file)).toContain('SUCCESS');
  });
});

/** A server in a fleet with fifty servers per node. Some servers crash after five minutes. */
function seriesOf(index: number, isCrashed: boolean) {
  const server = `job="gameserver",instance="a",panel="main",server="s${index}",server_id="id-${index}"`;
  const quiet = [
    { series: `gameserver_collection_up{${server}}`, values: '1x60' },
    { series: `gameserver_info{${server},node="n${Math.floor(index / 50)}"}`, values: '1x60' },
  ];
  const crash = [
    { series: `gameserver_stops_total{${server},reason="crashed"}`, values: '0x19 1x40' },
    { series: `gameserver_last_stop_timestamp_seconds{${server}}`, values: '_x20 300x40' },
  ];
  return isCrashed ? [...quiet, ...crash] : quiet;
}

describe.skipIf(!hasAmtool)('amtool', () => {
  const files = readdirSync(repositoryPath('deploy/alertmanager')).filter((name) => name.endsWith('.yml'));

  it.each(files)('accepts %s', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'amtool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await cp(repositoryPath('deploy/alertmanager/templates'), join(folder, 'templates'), { recursive: true });
    const file = join(folder, name);
    await writeFile(
      file,
      withDiscordAddress(await readFile(repositoryPath(`deploy/alertmanager/${name}`), 'utf8')),
    );
    expect(await run('amtool', 'check-config', file)).toContain('SUCCESS');
  });
});

function inFolder(folder: string): readonly string[] {
  return readdirSync(repositoryPath(`deploy/prometheus/${folder}`)).map((name) =>
    repositoryPath(`deploy/prometheus/${folder}/${name}`),
  );
}

/** The output of a program. Rejects with the complete output if the program fails. */
async function run(command: string, ...args: readonly string[]): Promise<string> {
  return (await execute(command, args)).stdout;
}
