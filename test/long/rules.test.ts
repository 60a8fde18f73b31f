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

/** The output of a program; rejects with all of it if the program fails. */
async function run(command: string, ...args: readonly string[]): Promise<string> {
  return (await execute(command, args)).stdout;
}
