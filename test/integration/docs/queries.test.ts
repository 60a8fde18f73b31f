import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { hasProgram } from '../../support/has-program.ts';

const hasPromtool = hasProgram('promtool');

/** The queries of the pages: in fenced blocks, and in the tables of the migration page. */
function queries(): readonly string[] {
  const fenced = documents().flatMap((document) => fencedBlocks(document, 'promql'));
  const migration = readFileSync('docs/migration.md', 'utf8');
  const cells = [...migration.matchAll(/`([^`\n]*(?:gameserver|pterodactyl_server)_[^`\n]*)`/g)]
    .map(([, cell = '']) => cell)
    .filter((cell) => !/label_values|…/.test(cell));
  return [...fenced, ...cells];
}

describe.skipIf(!hasPromtool)('the queries in the docs', () => {
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
