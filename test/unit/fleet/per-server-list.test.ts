import { expect, it } from 'vitest';
import { allPages, seconds } from '../../../src/fleet/per-server-list.ts';

it.each([
  [0, 1],
  [1, 1],
  [3, 3],
  [1_000, 20],
])('of %i pages, %i are read in order', async (totalPages, read) => {
  const pages = await allPages(async (page) => ({ page, totalPages }));
  expect(pages.map(({ page }) => page)).toEqual(Array.from({ length: read }, (_, index) => index + 1));
});

it('a page that fails ends it', async () => {
  const pages = allPages((page) =>
    page === 2 ? Promise.reject(new Error('no')) : Promise.resolve({ totalPages: 3 }),
  );
  await expect(pages).rejects.toThrow('no');
});

it.each([
  [undefined, undefined],
  [1_500, 1.5],
])('%s ms are %s s', (ms, expected) => {
  expect(seconds(ms)).toBe(expected);
});
