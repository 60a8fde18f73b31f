import { expect, it } from 'vitest';
import { readCount } from '../../../src/simulator/pages.ts';

it.each<[text: string | undefined, count: number | undefined]>([
  [undefined, 50],
  ['1', 1],
  ['100', 100],
  ['999999999', 999_999_999],
  ['', undefined],
  ['0', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['ten', undefined],
  ['9999999999', undefined],
])('a count of %j is %j, and 50 by default', (text, count) => {
  expect(readCount(text, 50)).toBe(count);
});
