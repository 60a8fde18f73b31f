import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KNOWN_SECRETS } from '../../../src/text/redaction.ts';
import { checkSettings } from '../../../src/yaml/check-settings.ts';
import { formatIssues } from '../../../src/yaml/issues.ts';
import { list, namedFile, positiveInteger, scalar, section } from '../../../src/yaml/setting-types.ts';
import { API_KEY_FILE } from '../../../src/yaml/text-file.ts';
import { isTreeMap, type SettingProblem, type Tree, valueAt } from '../../../src/yaml/tree.ts';

beforeEach(() => KNOWN_SECRETS.clear());

const server = section('a server', { id: scalar('an id'), port: positiveInteger().optional() });
const schema = section('a map with servers', {
  servers: list(server, 'servers', 'server'),
  api_key: scalar('a key', {
    read: (text) => (text.startsWith('ptlc_') ? text : undefined),
    isSecret: true,
  }).optional(),
  key_file: namedFile({ kind: API_KEY_FILE, problem: () => undefined }).optional(),
  labels: z.record(z.string().regex(/^[a-z]+$/, 'expected a label'), scalar('a text')).optional(),
});
const VALID = 'servers: [{ id: a }]';

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly rules?: (tree: Tree) => readonly SettingProblem[];
  readonly interpret?: (tree: Tree) => Tree;
}

/** The settings in a text, and its printed issues without the file's name. */
async function check(text: string, { env = {}, rules = () => [], ...more }: Options = {}) {
  const checked = await checkSettings(text, env, { file: 'f.yaml', schema, rules, ...more });
  const lines = formatIssues(checked.issues).replaceAll('f.yaml:', '');
  return { ...checked, lines: lines === '' ? [] : lines.split('\n') };
}

describe('a text', () => {
  it('that is valid gives its settings', async () => {
    const { settings, lines } = await check('servers: [{ id: a, port: 7 }]');
    expect([settings, lines]).toEqual([{ servers: [{ id: 'a', port: 7 }] }, []]);
  });

  it('may have another form', async () => {
    const interpret = (tree: Tree) => ({ servers: [{ id: tree }] });
    expect((await check('a', { interpret })).settings).toEqual({ servers: [{ id: 'a' }] });
  });

  it('may name files, which are read', async () => {
    const read = () => Promise.resolve({ ok: true, content: 'abc' } as const);
    const { settings } = await checkSettings(
      `${VALID}\nkey_file: k`,
      {},
      { file: 'f.yaml', schema, rules: () => [], read },
    );
    expect(settings?.key_file).toBe('abc');
    expect((await check(`${VALID}\nkey_file: k`)).settings?.key_file).toBe('');
  });

  it.each<[string, string, readonly string[]]>([
    ['that is no YAML', 'servers: [', ['1:11: ']],
    ['without a required setting', '{}', ['1:1: servers: is missing, expected a list of servers']],
    [
      'with a wrong value',
      'servers: [{ id: a, port: x }]',
      ['1:26: servers[0].port: expected a positive integer, got "x"'],
    ],
    [
      'with a wrong value of a variable',
      'servers: [{ id: a, port: "${PORT}" }]',
      ['1:26: servers[0].port: expected a positive integer, got "${PORT}"'],
    ],
    ['with a value of another kind', 'servers: {}', ['1:10: servers: expected a list of servers, got a map']],
    ['with a wrong secret', `${VALID}\napi_key: TopSecret`, ['2:10: api_key: expected a key']],
    ['with a wrong key of a map', `${VALID}\nlabels: { A: b }`, ['2:11: labels: expected a label']],
    [
      'with problems in several places, in the order of the text',
      'servers: [{ id: [] }, { port: 1 }]\nkey_file: ""',
      [
        '1:17: servers[0].id: expected an id, got an empty list',
        '1:23: servers[1].id: is missing, expected an id',
        '2:11: key_file: expected a file path, got ""',
      ],
    ],
    ['with a misspelled key', 'server: [{ id: a }]', ['1:1: server: unknown key, did you mean servers?']],
    [
      'with a misspelled key beside the right one',
      `${VALID}\nserver: a`,
      ['2:1: server: unknown key, did you mean servers?'],
    ],
    [
      'with an unknown key, which may be a secret',
      `${VALID}\nTopSecret: a`,
      ['2:1: unknown key, expected one of servers, api_key, key_file, labels'],
    ],
    [
      'with an unknown key within a setting',
      'servers: [{ id: a, prot: 1 }]',
      ['1:20: servers[0].prot: unknown key, did you mean port?'],
    ],
  ])('%s is rejected', async (_what, text, expected) => {
    const { settings, lines } = await check(text, { env: { PORT: 'TopSecret' } });
    expect(settings).toBeUndefined();
    expect(
      lines.map((line, index) =>
        expected[index]?.endsWith(': ') ? line.slice(0, expected[index].length) : line,
      ),
    ).toEqual(expected);
  });
});

describe('rules', () => {
  const noA = (tree: Tree): readonly SettingProblem[] => {
    const path = ['servers', 0, 'id'];
    return valueAt(tree, path) === 'a' ? [{ path, message: 'expected another id', at: 'value' }] : [];
  };

  it('of several settings are checked together with the schema', async () => {
    const { settings, lines } = await check('servers: [{ id: a, port: x }]', { rules: noA });
    expect(settings).toBeUndefined();
    expect(lines).toEqual([
      '1:17: servers[0].id: expected another id, got "a"',
      '1:26: servers[0].port: expected a positive integer, got "x"',
    ]);
  });

  it.each<[string, string, SettingProblem, readonly string[]]>([
    [
      'about a setting that is wrong itself',
      'servers: [{ id: [] }]',
      { path: ['servers', 0, 'id'], message: 'no', at: 'key' },
      ['1:17: servers[0].id: expected an id, got an empty list'],
    ],
    [
      'about a part of such a setting',
      'servers: x',
      { path: ['servers', 0, 'id'], message: 'no', at: 'key' },
      ['1:10: servers: expected a list of servers, got "x"'],
    ],
    [
      'about a setting whose key is misspelled',
      'server: [{ id: a }]',
      { path: ['servers'], message: 'no', at: 'key' },
      ['1:1: server: unknown key, did you mean servers?'],
    ],
  ])('tell nothing %s', async (_what, text, problem, expected) => {
    expect((await check(text, { rules: () => [problem] })).lines).toEqual(expected);
  });

  it('are told at the place that they give, without known secrets', async () => {
    KNOWN_SECRETS.add('TopSecret');
    const problem: SettingProblem = { path: [], message: 'not TopSecret', at: { line: 7, column: 8 } };
    expect((await check(VALID, { rules: () => [problem] })).lines).toEqual(['7:8: not <secret>']);
  });
});

describe('many problems', () => {
  const servers = (count: number) => `servers:\n${'- { id: a, port: x }\n'.repeat(count)}`;

  it.each([
    [100, undefined],
    [101, '1:1: more than 100 problems, showing the first ones found'],
  ])('are told up to a hundred: %d', async (count, first) => {
    const { lines } = await check(servers(count));
    expect(lines.slice(first === undefined ? 0 : 1)).toHaveLength(100);
    if (first !== undefined) expect(lines[0]).toBe(first);
  });
});

it('other problems get their place in the file, too', async () => {
  const { toIssue, document } = await check(VALID);
  expect(isTreeMap(document.tree)).toBe(true);
  expect(toIssue({ path: ['servers', 0, 'id'], message: 'unusual', at: 'value' })).toEqual({
    file: 'f.yaml',
    line: 1,
    column: 17,
    path: 'servers[0].id',
    message: 'unusual, got "a"',
  });
});
