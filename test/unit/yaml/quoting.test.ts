import { describe, expect, test } from 'vitest';
import { quote, withoutCredentials } from '../../../src/yaml/quoting.ts';

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
