import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCommand } from '../../../src/commands/check.ts';
import type { Simulator } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';

let panel: Simulator;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'check-'));
  const names = ['survival-1', 'survival-2', 'survival-test', 'lobby', 'creative'];
  panel = await startSimulator({ servers: names.map((name) => ({ name })) });
});

afterEach(async () => {
  process.exitCode = undefined;
  await panel.stop();
  await rm(folder, { recursive: true });
});

async function check(discover: string, key = panel.apiKey): Promise<string> {
  const file = join(folder, 'config.yaml');
  await writeFile(
    file,
    `panels: [{ name: main, url: ${panel.url}, api_key: ${key}, ${discover} }, { name: other, url: ${panel.url}, api_key: ${key}, servers: [{ id: 1a7ce997 }] }]`,
  );
  let out = '';
  const command = checkCommand().configureOutput({ writeOut: (text) => (out += text) });
  await command.parseAsync(['--listing', file], { from: 'user' });
  return out.slice(out.indexOf('\nlog: '));
}

describe('check --listing', () => {
  it('says how many servers each rule covers, by the first that fits', async () => {
    const rules = '{ match: { name: ["survival-*"] } }, { match: { name: ["*-1", lobby] }, state: any }';
    const text = await check(`discover: { exclude: { name: ["*-test"] }, expect: [${rules}] }`);
    expect(text.replaceAll(/ {2,}/g, '  ')).toContain(`
panel main: 5 servers listed, 4 of them watched

  EXPECT  SERVERS
  running where name survival-*  2
  any where name *-1 or lobby  1
  auto where no rule above fits  1
`);
    expect(process.exitCode).toBe(0);
  });

  it('leaves nothing to say where a rule fits all', async () => {
    const text = await check('discover: { expect: [{ match: {}, state: auto }] }');
    expect(text.match(/no rule above fits/g)).toHaveLength(1);
    expect(text).toMatch(/auto where no rule above fits +5\n/);
  });

  it('fails with the reason where a listing can not be read', async () => {
    await expect(check('discover: {}', 'ptlc_not_a_key_of_this_panel_at_all')).rejects.toThrow(
      /^panel main: GET .*answered 401/,
    );
  });

  it('says so where no panel discovers', async () => {
    expect(await check('servers: [{ id: d3aac109 }]')).toContain('no panel discovers servers');
  });
});
