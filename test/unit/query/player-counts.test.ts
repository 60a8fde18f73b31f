import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCount, toLimit } from '../../../src/query/player-counts.ts';

const MAX = 2 ** 31 - 1;

describe('a player count', () => {
  it.each([
    [0, 0],
    [12, 12],
    [MAX, MAX],
    ['12', 12],
    ['0', 0],
  ])('of %j is %j', (value, count) => {
    expect(toCount(value)).toBe(count);
  });

  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, MAX + 1, 2 ** 53];
  const texts = ['', '-1', '1e3', ' 1', '99999999999'];
  const others = [null, undefined, true, [], [3], {}];

  it.each([...numbers, ...texts, ...others])('of %j is unknown', (value) => {
    expect(toCount(value)).toBeUndefined();
  });

  it('is an integer of at most 31 bits, whatever the server sends', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const count = toCount(value);
        expect(count === undefined || (Number.isInteger(count) && count >= 0 && count <= MAX)).toBe(true);
      }),
    );
  });
});

describe('a player limit', () => {
  it.each([
    [20, 20],
    ['40', 40],
    [0, undefined],
    [-1, undefined],
    [MAX, undefined],
    [Number.NaN, undefined],
    [undefined, undefined],
  ])('of %j is %j', (value, limit) => {
    expect(toLimit(value)).toBe(limit);
  });
});
