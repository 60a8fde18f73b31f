import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeAtomically } from '../../../src/storage/atomic-write.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-'));
  file = join(folder, 'state');
});

afterEach(() => rm(folder, { recursive: true }));

it('a file is replaced by all blocks, and readable only by its owner', async () => {
  await writeFile(file, 'before');
  await writeAtomically(file, ['one ', 'two ', 'three']);
  expect(await readFile(file, 'utf8')).toBe('one two three');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['state']);
});

it('a file stays as it was until all is written', async () => {
  await writeFile(file, 'before');
  const seen: string[] = [];
  function* blocks() {
    yield 'one';
    seen.push(readFileSync(file, 'utf8'));
    yield 'two';
    seen.push(readFileSync(file, 'utf8'));
  }
  await writeAtomically(file, blocks());
  expect(seen).toEqual(['before', 'before']);
  expect(await readFile(file, 'utf8')).toBe('onetwo');
});

it('a file stays as it was, and nothing is left behind, if that fails', async () => {
  await writeFile(file, 'before');
  function* blocks() {
    yield 'half';
    throw new Error('no more');
  }
  await expect(writeAtomically(file, blocks())).rejects.toThrow('no more');
  expect(await readFile(file, 'utf8')).toBe('before');
  expect(await readdir(folder)).toEqual(['state']);
});

it('a file cannot be written if there is a folder in its place', async () => {
  await mkdir(join(file, 'inside'), { recursive: true });
  await expect(writeAtomically(file, ['text'])).rejects.toMatchObject({ code: expect.any(String) });
  expect(await readdir(folder)).toEqual(['state']);
});

it('a draft that a killed process left behind is written over', async () => {
  await writeFile(`${file}.tmp`, 'a long draft of before');
  await writeAtomically(file, ['new']);
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await readdir(folder)).toEqual(['state']);
});
