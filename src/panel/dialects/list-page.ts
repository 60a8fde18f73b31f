// One page of a list in a panel's response.

import { ShapeError } from '../responses.ts';

/** A higher page count is the panel's error: no panel lists a million servers. */
const MAX_PAGE_COUNT = 10_000;

/** The entries of a page that can be used. */
export interface ListPage<Entry> {
  readonly usable: readonly Entry[];
  /** Entries that can't be used, or are beyond the requested ones. */
  readonly badEntries: number;
  readonly totalPages: number;
}

/**
 * Decodes as many entries of the list as were requested; `decode` returns undefined for one that
 * can't be used. `pages` is the number of pages, of which there is one if the panel reports none.
 * Throws a ShapeError if there is no list.
 */
export function readListPage<Entry>(
  { list, where, pages }: { readonly list: unknown; readonly where: string; readonly pages: unknown },
  requested: number,
  decode: (entry: unknown) => Entry | undefined,
): ListPage<Entry> {
  if (!Array.isArray(list)) throw new ShapeError(`expected an array ${where}`);
  const entries: readonly unknown[] = list.slice(0, requested);
  const usable = entries.map(decode).filter((entry) => entry !== undefined);
  const isCount = typeof pages === 'number' && pages >= 1;
  return {
    usable,
    badEntries: list.length - usable.length,
    totalPages: isCount ? Math.min(Math.floor(pages), MAX_PAGE_COUNT) : 1,
  };
}
