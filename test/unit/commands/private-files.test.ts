import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makePrivate, realPath, writePrivately } from '../../../src/commands/private-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string) => join(folder, name);
const files = () => [
  { path: at('panel-key'), text: 'secret\n' },
  { path: at('config.yaml'), text: 'panels: []\n' },
];
const modeOf = async (name: string) => (await stat(at(name))).mode & 0o777;

describe('private files', () => {
  it.each([0o022, 0o000, 0o077])('are readable only by their owner under umask %o', async (umask) => {
    const before = process.umask(umask);
    try {
      writePrivately(files(), false);
    } finally {
      process.umask(before);
    }
    expect(await readFile(at('panel-key'), 'utf8')).toBe('secret\n');
    expect(await readFile(at('config.yaml'), 'utf8')).toBe('panels: []\n');
    expect([await modeOf('panel-key'), await modeOf('config.yaml')]).toEqual([0o600, 0o600]);
    expect((await readdir(folder)).toSorted()).toEqual(['config.yaml', 'panel-key']);
  });

  it('never follow an existing symbolic link', async () => {
    await symlink(at('elsewhere'), at('panel-key'));
    expect(() => writePrivately(files(), false)).toThrow('exists');
    writePrivately(files(), true);
    expect((await readdir(folder)).toSorted()).toEqual(['config.yaml', 'panel-key']);
  });

  it('replace existing files and their modes if requested', async () => {
    await writeFile(at('panel-key'), 'old', { mode: 0o644 });
    writePrivately(files(), true);
    expect(await readFile(at('panel-key'), 'utf8')).toBe('secret\n');
    expect(await modeOf('panel-key')).toBe(0o600);
    expect((await readdir(folder)).toSorted()).toEqual(['config.yaml', 'panel-key']);
  });

  it('cannot replace a directory', async () => {
    await mkdir(at('config.yaml'));
    expect(() => writePrivately(files(), true)).toThrow(
      `${at('config.yaml')} can't be written: it is a directory`,
    );
  });

  it('can be made from existing files by restricting their mode', async () => {
    await writeFile(at('panel-key'), 'mine');
    await chmod(at('panel-key'), 0o644);
    makePrivate(at('panel-key'));
    expect(await modeOf('panel-key')).toBe(0o600);
  });

  it('keep read access for their group', async () => {
    await writeFile(at('panel-key'), 'mine');
    await chmod(at('panel-key'), 0o640);
    makePrivate(at('panel-key'));
    expect(await modeOf('panel-key')).toBe(0o640);
  });
});

describe('one file, which need not exist,', () => {
  it.each([
    ['the same way', 'a.yaml'],
    ['differently', '../{folder}/./a.yaml'],
    ['through a link', 'link/a.yaml'],
    ['below a folder that does not exist', 'nowhere/../a.yaml'],
  ])('is recognized if it is spelled %s', async (_how, path) => {
    await symlink(folder, at('link'));
    expect(realPath(`${folder}/${path.replace('{folder}', basename(folder))}`)).toBe(realPath(at('a.yaml')));
    expect(realPath(at('b.yaml'))).not.toBe(realPath(at('a.yaml')));
  });
});
