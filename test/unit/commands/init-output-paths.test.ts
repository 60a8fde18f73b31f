import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OutputFlags, OutputPaths } from '../../../src/commands/init-output-paths.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const answering = (answer: boolean) => ({ confirms: () => Promise.resolve(answer) });

it.each<[string, OutputFlags, string, string]>([
  ['beside the configuration', { config: 'config.yaml' }, 'panel-key', 'panel-key'],
  ['in its folder', { config: '/etc/exporter/config.yaml' }, '/etc/exporter/panel-key', 'panel-key'],
  ['below its folder', { config: '/etc/a.yaml', saveKeyTo: '/etc/keys/main' }, '/etc/keys/main', 'keys/main'],
  ['elsewhere', { config: '/etc/a.yaml', saveKeyTo: '/root/key' }, '/root/key', '/root/key'],
])(
  'a key %s is named relative to the configuration if it is in the same folder',
  (_where, flags, key, named) => {
    const paths = new OutputPaths(flags);
    expect([paths.key, paths.keyInConfig]).toEqual([key, named]);
  },
);

it('one file for both is a problem, however it is spelled', () => {
  expect(new OutputPaths({ config: at('a.yaml'), saveKeyTo: `${folder}/./a.yaml` }).problem).toMatch(
    /^expected different files/,
  );
  expect(new OutputPaths({ config: at('a.yaml') }).problem).toBeUndefined();
});

describe('existing files', () => {
  const flags = () => ({ config: at('config.yaml') });

  it('need no consent if there are none', async () => {
    expect(await new OutputPaths(flags()).mayReplace(false, undefined)).toBe(false);
  });

  it('are overwritten by force, or if the user agrees', async () => {
    await writeFile(at('config.yaml'), 'old');
    expect(await new OutputPaths(flags()).mayReplace(true, undefined)).toBe(true);
    expect(await new OutputPaths(flags()).mayReplace(false, answering(true))).toBe(true);
  });

  it('are kept if the user refuses, or if nobody can be asked', async () => {
    await writeFile(at('panel-key'), 'old');
    await expect(new OutputPaths(flags()).mayReplace(false, answering(false))).rejects.toThrow('canceled');
    await expect(new OutputPaths(flags()).mayReplace(false, undefined)).rejects.toThrow(
      `${at('panel-key')} already exists: add --force`,
    );
  });

  it('cannot be in a folder that does not exist, even by force', async () => {
    const paths = new OutputPaths({ config: at('nowhere/config.yaml') });
    await expect(paths.mayReplace(true, undefined)).rejects.toThrow('no such directory');
  });
});

it('the key is not written again to the file from which it was read, but made private', async () => {
  await writeFile(at('mine'), 'as it was', { mode: 0o644 });
  const paths = new OutputPaths({ config: at('config.yaml'), keyFile: at('mine'), saveKeyTo: at('mine') });
  expect(paths.written).toEqual([at('config.yaml')]);
  expect(await paths.mayReplace(false, undefined)).toBe(false);
  paths.write('panels: []\n', 'the key', false);
  expect(await readFile(at('mine'), 'utf8')).toBe('as it was');
  expect((await stat(at('mine'))).mode & 0o777).toBe(0o600);
  expect(await readFile(at('config.yaml'), 'utf8')).toBe('panels: []\n');
});

it('a key from elsewhere is written beside the configuration', async () => {
  const paths = new OutputPaths({ config: at('config.yaml'), keyFile: '-' });
  paths.write('panels: []\n', 'the key', false);
  expect(await readFile(at('panel-key'), 'utf8')).toBe('the key\n');
  expect(paths.written).toEqual([at('config.yaml'), at('panel-key')]);
});
