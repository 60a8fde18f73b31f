import fc from 'fast-check';
import { expect, test } from 'vitest';
import { basicCredentials } from '../../../src/http/credentials.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('are read from the header, whatever they hold', () => {
  const user = fc.string().filter((name) => !name.includes(':'));
  fc.assert(
    fc.property(user, fc.string({ unit: 'grapheme' }), (name, password) => {
      expect(basicCredentials(`Basic ${base64(`${name}:${password}`)}`)).toEqual({ user: name, password });
    }),
  );
});

test.each([
  [`basic ${base64('a:b')}`, { user: 'a', password: 'b' }],
  [`BASIC  ${base64('a:b:c')} `, { user: 'a', password: 'b:c' }],
  [`Basic ${base64(':')}`, { user: '', password: '' }],
  [undefined, undefined],
  ['', undefined],
  ['Basic', undefined],
  ['Basic ', undefined],
  [`Bearer ${base64('a:b')}`, undefined],
  [`Basic ${base64('nothing')}`, undefined],
  ['Basic a:b', undefined],
  [`Basic ${base64('a:b')}, Basic ${base64('c:d')}`, undefined],
])('%j gives %j', (header, credentials) => {
  expect(basicCredentials(header)).toEqual(credentials);
});
