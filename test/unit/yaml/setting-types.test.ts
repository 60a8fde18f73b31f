import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatDuration } from '../../../src/text/duration.ts';
import { KNOWN_SECRETS } from '../../../src/text/redaction.ts';
import { NamedFile } from '../../../src/yaml/named-files.ts';
import {
  byDefault,
  duration,
  flag,
  list,
  namedFile,
  oneOf,
  optional,
  orVariable,
  positiveInteger,
  scalar,
  secretFiles,
  section,
  settings,
} from '../../../src/yaml/setting-types.ts';
import { API_KEY_FILE } from '../../../src/yaml/text-file.ts';
import { YamlDocument } from '../../../src/yaml/yaml-document.ts';

beforeEach(() => KNOWN_SECRETS.clear());

/** The value of a setting, or the problem and the part of the value that it is about. */
function read(type: z.ZodType, value: unknown): unknown {
  const { data, error } = type.safeParse(value);
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return data;
  const at = issue.code === 'custom' ? (issue.params?.['at'] as string) : 'value';
  return `${at}: ${issue.message}`;
}

const even = scalar('an even number', {
  example: '42',
  problem: (text) => (text.startsWith('-') ? 'expected a positive number' : undefined),
  read: (text) => (Number(text) % 2 === 0 ? Number(text) : undefined),
});

describe('a setting', () => {
  it.each<[string, z.ZodType, unknown, unknown]>([
    ['that is a text', scalar('a text'), '1e5', '1e5'],
    ['that is no text', scalar('a text'), ['a'], 'value: expected a text'],
    ['that is missing', scalar('a text'), undefined, 'value: expected a text'],
    ['that is read', even, '6', 6],
    ['that can not be read', even, '7', 'value: expected an even number, such as 42'],
    ['with a more precise problem', even, '-2', 'value: expected a positive number'],
    [
      'that is a secret',
      scalar('a key', { read: () => undefined, isSecret: true }),
      'a',
      'hidden value: expected a key',
    ],
    ['with a value of several', oneOf(['auto', 'poll']), 'poll', 'poll'],
    ['with none of several values', oneOf(['auto', 'poll']), 'Poll', 'value: expected one of auto, poll'],
    ['that is true', flag(), 'true', true],
    ['that is false', flag(), 'false', false],
    ['that is neither', flag(), 'yes', 'value: expected true or false'],
    ['that is a number', positiveInteger(), '12', 12],
    ['that is zero', positiveInteger(), '0', 'value: expected a positive integer'],
    ['that is a number with a sign', positiveInteger(), '+1', 'value: expected a positive integer'],
    ['that is a long number', positiveInteger(), '1234567890', 'value: expected a positive integer'],
    ['that is a duration', duration(), '1m30s', 90_000],
    ['that is the longest duration', duration(), '1d', 86_400_000],
    ['that is a longer duration', duration(), '25h', 'value: expected a duration of at most 1d'],
    ['that is no time', duration(), '0s', 'value: expected a duration above 0'],
    [
      'that is a duration without a unit',
      duration(),
      '30',
      'value: expected a duration such as 30s or 1m30s',
    ],
    [
      'that is a short duration',
      duration('10s', 'the panel caches'),
      '9s',
      'value: expected a duration of at least 10s (the panel caches)',
    ],
    ['that is the shortest duration', duration('10s', 'the panel caches'), '10s', 10_000],
    ['that may be missing', optional(flag()), undefined, undefined],
    ['with a default', byDefault(30, positiveInteger()), undefined, 30],
    ['with an item', list(flag(), 'flags', 'flag'), ['true'], [true]],
    ['without an item', list(flag(), 'flags', 'flag'), [], 'value: expected at least one flag'],
    ['that is no list', list(flag(), 'flags', 'flag'), 'true', 'value: expected a list of flags'],
    ['that is no map', section('a map', {}), 'a', 'value: expected a map'],
  ])('%s', (_what, type, value, expected) => {
    expect(read(type, value)).toEqual(expected);
  });

  it('may be any duration up to a day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 86_400_000 }), (ms) => {
        expect(read(duration(), formatDuration(ms))).toBe(ms);
      }),
    );
  });

  it('that is a secret is one also if it is invalid', () => {
    read(scalar('a key', { isSecret: true }), 'TopSecret-0');
    read(scalar('a key', { read: () => undefined, isSecret: true }), 'TopSecret-1');
    read(scalar('a text'), 'TopSecret-2');
    const texts = [0, 1, 2].map((index) => `TopSecret-${index}`);
    expect(texts.map((text) => KNOWN_SECRETS.redact(text) === text)).toEqual([false, false, true]);
  });

  it.each([
    ['a default', byDefault(30, positiveInteger()), { default: 30 }],
    ['examples', optional(even, 8), { examples: [8] }],
    ['an example', even, { examples: ['42'] }],
  ])('is described with %s', (_what, type, described) => {
    expect(z.globalRegistry.get(type)).toMatchObject(described);
  });

  it('may be a variable, whatever its type, as editors see it', () => {
    const pattern = { type: 'string', pattern: '\\$\\{' };
    expect(orVariable({ type: 'integer' })).toEqual({ anyOf: [{ type: 'integer' }, pattern] });
    const json = (type: z.ZodType) => z.toJSONSchema(type, { io: 'input' });
    expect(json(flag())).toMatchObject({ anyOf: [{ type: 'boolean' }, pattern] });
    expect(json(even)).toMatchObject({ type: 'string' });
  });
});

describe('settings', () => {
  const poll = settings('a map', {
    pollIntervalMs: duration(),
    maxBytes: positiveInteger(),
    allowInsecure: optional(flag()),
  });

  it('have other names in the program', () => {
    const tree = { poll_interval: '30s', max: '7', allow_insecure: 'true' };
    expect(read(poll, tree)).toEqual({ pollIntervalMs: 30_000, maxBytes: 7, allowInsecure: true });
  });

  it('are no others', () => {
    const { error } = poll.safeParse({ poll_interval: '30s', max: '7', pollInterval: '30s' });
    expect(error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['pollInterval'] }]);
  });
});

describe('a named file', () => {
  const type = namedFile({
    kind: API_KEY_FILE,
    expected: 'the path of a file',
    nameProblem: (name) => (name.startsWith('ptlc_') ? 'this is a key' : undefined),
    problem: (content) => (content === '' ? 'is empty' : undefined),
  });
  const readable = (content: string) => ({ ok: true, content }) as const;
  const missing = { ok: false, problem: "can't be read: no such file" } as const;

  it.each<[string, unknown, unknown]>([
    ['is its content', new NamedFile('key', readable('abc')), 'abc'],
    ['that is not read is empty', new NamedFile('key', undefined), ''],
    ['without a name is none', '', 'value: expected the path of a file'],
    ['that is no text is none', ['key'], 'value: expected the path of a file'],
    [
      "that can't be read is told",
      new NamedFile('key', missing),
      `hidden value: the file "key" can't be read: no such file`,
    ],
    ['that is unusable is told', new NamedFile('key', readable('')), 'hidden value: the file "key" is empty'],
    ['with a wrong name is told as such', new NamedFile('ptlc_1', missing), 'hidden value: this is a key'],
    ['with an unusual name may be good', new NamedFile('ptlc_1', readable('abc')), 'abc'],
  ])('%s', (_what, value, expected) => {
    expect(read(type, value)).toBe(expected);
  });

  it('has to be read before', () => {
    expect(() => type.safeParse('key')).toThrow('was not read');
  });
});

it('files with keys are those that are named, with their place', () => {
  const document = new YamlDocument('panels:\n  - api_key_file: keys/main\n  - name: other\n', {});
  const paths = [0, 1].map((index) => ['panels', index, 'api_key_file']);
  expect(secretFiles('/etc/config.yaml', document, paths)).toEqual([
    { file: '/etc/keys/main', shown: 'keys/main', place: '/etc/config.yaml:2:19: panels[0].api_key_file' },
  ]);
});
