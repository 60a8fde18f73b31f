import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkSettings } from '../../../src/yaml/check-settings.ts';
import { NamedFile, namesFile, withNamedFiles } from '../../../src/yaml/named-files.ts';
import { namedFile, optional, section, settings } from '../../../src/yaml/setting-types.ts';
import { API_KEY_FILE, type FileKind } from '../../../src/yaml/text-file.ts';

const file = () => namesFile(z.unknown(), API_KEY_FILE);
const read = async (name: string, kind: FileKind) => ({
  ok: true as const,
  content: `${name}, ${kind.content}`,
});
const found = (name: string) => new NamedFile(name, { ok: true, content: `${name}, only the API key in it` });

describe('the name of a file is found', () => {
  it.each<[string, z.ZodType, unknown, unknown]>([
    ['itself', file(), 'a', found('a')],
    [
      'in a map',
      z.object({ one: file(), other: z.string() }),
      { one: 'a', other: 'b' },
      { one: found('a'), other: 'b' },
    ],
    [
      'in a list',
      z.array(z.object({ one: file() })),
      [{ one: 'a' }, {}, { one: 'b' }],
      [{ one: found('a') }, {}, { one: found('b') }],
    ],
    ['under any key', z.record(z.string(), file()), { a: 'x', b: 'y' }, { a: found('x'), b: found('y') }],
    [
      'if it may be missing',
      z.object({ one: file().optional().describe('text') }),
      { one: 'a' },
      { one: found('a') },
    ],
    [
      'if it has a default',
      z.object({ one: file().prefault('b') }).prefault({}),
      { one: 'a' },
      { one: found('a') },
    ],
    [
      'if it is transformed',
      settings('a map', { oneFile: file().transform(String) }),
      { one_file: 'a' },
      { one_file: found('a') },
    ],
    [
      'after a transformation',
      z.preprocess((tree) => tree, z.object({ one: file() })),
      { one: 'a' },
      { one: found('a') },
    ],
    [
      'in one of several',
      z.union([z.string(), z.object({ one: file() })]),
      { one: 'a' },
      { one: found('a') },
    ],
  ])('%s', async (_where, schema, tree, expected) => {
    const before = JSON.stringify(tree);
    expect(await withNamedFiles(schema, tree, read)).toEqual(expected);
    expect(JSON.stringify(tree)).toBe(before);
  });

  it.each([[{ one: '' }], [{ one: null }], [{ one: ['a'] }], [{ other: 'a' }], ['a'], [undefined]])(
    'only where it is a text: %j',
    async (tree) => {
      expect(await withNamedFiles(z.object({ one: file() }), tree, read)).toBe(tree);
    },
  );
});

const KEY = namedFile({ kind: API_KEY_FILE, problem: () => undefined });
const check = (schema: z.ZodType, given?: typeof read) =>
  checkSettings(
    '{ key: a, other: { key: b } }',
    {},
    { file: 'c.yaml', schema, read: given, rules: () => [] },
  );

it('settings have the contents of the files that they name, and empty ones if none is to be read', async () => {
  const schema = section('a map', { key: KEY, other: section('a map', { key: optional(KEY) }) });
  expect((await check(schema, read)).settings).toEqual({
    key: 'a, only the API key in it',
    other: { key: 'b, only the API key in it' },
  });
  expect((await check(schema)).settings).toEqual({ key: '', other: { key: '' } });
});

it('a file in a schema of which it is unknown is an exception, and not empty', async () => {
  const hidden = z
    .unknown()
    .transform((tree) => section('a map', { key: KEY, other: z.unknown() }).parse(tree));
  await expect(check(hidden, read)).rejects.toThrow('a named file was not read');
});
