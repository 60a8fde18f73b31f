import { describe, expect, test } from 'vitest';
import { countLimit, mostSimilar, quote, sizeLimit, withoutCredentials } from '../../../src/yaml/settings.ts';

describe('limits', () => {
  test.each([
    ['4GiB', 4 * 2 ** 30],
    ['512MiB', 512 * 2 ** 20],
    ['1.5 KiB', 1536],
    ['7B', 7],
    ['unlimited', 'unlimited'],
    ['4GB', undefined],
    ['4096', undefined],
    ['0GiB', undefined],
    ['-1GiB', undefined],
    ['9999999999PiB', undefined],
  ])('of size %j are %s bytes', (text, bytes) => {
    expect(sizeLimit().safeParse(text).data).toBe(bytes);
  });

  test.each([
    ['1.5', 1.5],
    ['4', 4],
    ['unlimited', 'unlimited'],
    ['0', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['150%', undefined],
  ])('of count %j are %s', (text, count) => {
    expect(countLimit().safeParse(text).data).toBe(count);
  });
});

describe('quoting', () => {
  test.each([
    ['text', '"text"'],
    ['', '""'],
    [null, 'nothing'],
    [undefined, 'nothing'],
    [[], 'an empty list'],
    [['a'], 'a list'],
    [{}, 'a map'],
    ['http://me:p@ss/w@host/', '"http://<secret>@host/"'],
    ['me:pass@host', '"<secret>@host"'],
    ['key is ptlc_abc and pacc_def', '"key is <secret> and <secret>"'],
    ['x'.repeat(200), `"${'x'.repeat(120)}…"`],
  ])('%j is quoted as %s', (value, quoted) => {
    expect(quote(value)).toBe(quoted);
  });

  test('an address without credentials is unchanged', () => {
    expect(withoutCredentials('http://proxy.example.com:3128')).toBe('http://proxy.example.com:3128');
  });
});

test.each([
  ['poll_intervall', 'poll_interval'],
  ['pollInterval', 'poll_interval'],
  ['API-KEY', 'api_key'],
  ['nmae', 'name'],
  ['interval', undefined],
  ['x', undefined],
])('%s suggests %s', (word, meant) => {
  expect(mostSimilar(word, ['name', 'url', 'api_key', 'poll_interval'])).toBe(meant);
});
