import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { hasProgram } from '../../support/has-program.ts';

const hasPromtool = hasProgram('promtool');

const configurations = documents().flatMap((document) =>
  fencedBlocks(document, 'yaml')
    .filter((block) => block.startsWith('scrape_configs:'))
    .map((block, index) => [document.path, index, block] as const),
);

async function check(text: string): Promise<{ readonly status: number | null; readonly output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'scrape-configs-'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, text);
  // The files that an example names exist only on the reader's machine.
  const args = ['check', 'config', '--syntax-only', file];
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  await rm(folder, { recursive: true });
  return { status, output: `${stdout}${stderr}` };
}

describe.skipIf(!hasPromtool)('the scrape configurations in the docs', () => {
  it.each(configurations)('%s, number %i, is valid for Prometheus', async (_path, _index, block) => {
    const { status, output } = await check(block);
    expect(status, output).toBe(0);
  });

  it('exist, and an invalid one would be found', async () => {
    expect(configurations.map(([path]) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/service-discovery.md']),
    );
    expect((await check('scrape_configs: [{ job_name: a, relabel: [] }]')).status).toBe(1);
  });
});
