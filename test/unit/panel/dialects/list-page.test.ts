import { describe, expect, it } from 'vitest';
import { readListPage } from '../../../../src/panel/dialects/list-page.ts';
import { ShapeError } from '../../../../src/panel/responses.ts';

const even = (entry: unknown) => (Number(entry) % 2 === 0 ? entry : undefined);

/** A page with this list, in response to a request for three entries. */
const page = (list: unknown, pages?: unknown) => readListPage({ list, where: '"data"', pages }, 3, even);

describe('the entries of a page', () => {
  it('are those that can be used, in their order; others are bad', () => {
    expect(page([4, 1, 2])).toMatchObject({ usable: [4, 2], badEntries: 1 });
  });

  it('are at most as many as were requested', () => {
    expect(page([2, 4, 6, 8, 10])).toMatchObject({ usable: [2, 4, 6], badEntries: 2 });
  });

  it.each([undefined, null, {}, 'list'])('are never read from %j', (list) => {
    expect(() => page(list)).toThrow(new ShapeError('expected an array "data"'));
  });
});

it.each([
  [undefined, 1],
  [null, 1],
  ['7', 1],
  [0, 1],
  [-3, 1],
  [Number.NaN, 1],
  [1, 1],
  [2.9, 2],
  [10_000, 10_000],
  [1e300, 10_000],
])('a reported number of %j pages counts as %i', (pages, totalPages) => {
  expect(page([], pages).totalPages).toBe(totalPages);
});
