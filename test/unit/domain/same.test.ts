import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSame } from '../../../src/domain/same.ts';

it.each<[string, unknown, unknown, boolean]>([
  ['equal texts', 'a', 'a', true],
  ['different texts', 'a', 'b', false],
  ['a missing key and an undefined one', { a: 1 }, { a: 1, b: undefined }, true],
  ['a missing key and one with a value', { a: 1 }, { a: 1, b: 2 }, false],
  ['the same list', [1, { a: [2] }], [1, { a: [2] }], true],
  ['a longer list', [1], [1, 2], false],
  ['a different value deep inside', { a: { b: [1, 2] } }, { a: { b: [1, 3] } }, false],
  ['null and an empty map', null, {}, false],
])('%s', (_what, one, other, expected) => {
  expect(isSame(one, other)).toBe(expected);
  expect(isSame(other, one)).toBe(expected);
});

it('data is the same as its copy', () => {
  fc.assert(fc.property(fc.json(), (text) => isSame(JSON.parse(text), JSON.parse(text))));
});
