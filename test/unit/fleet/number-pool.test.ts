import { expect, it } from 'vitest';
import { NumberPool } from '../../../src/fleet/number-pool.ts';

it('gives arrays of NaN that share no element, also across buffers', () => {
  const pool = new NumberPool((length) => new Float64Array(length), 3);
  const arrays = Array.from({ length: 40 }, (_, index) => {
    const array = pool.take();
    expect([...array]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    return array.fill(index);
  });
  expect(arrays.map((array) => [...array])).toEqual(arrays.map((_, index) => [index, index, index]));
});
