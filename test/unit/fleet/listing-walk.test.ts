import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { walkListing } from '../../../src/fleet/listing-walk.ts';
import type { ListedServer, ListingPage } from '../../../src/panel/responses.ts';
import { listed, uuidOf } from '../../support/listed.ts';

type Page = readonly ListedServer[] | Error;

/** Reads fake pages, and records the requested ones. */
function listingOf(pages: readonly Page[], more: Partial<ListingPage> = {}) {
  const asked: number[] = [];
  const read: Parameters<typeof walkListing>[0] = ({ page }) => {
    asked.push(page);
    const servers = pages[page - 1] ?? [];
    if (servers instanceof Error) return Promise.reject(servers);
    return Promise.resolve({ servers, totalPages: pages.length, badEntries: 0, ...more });
  };
  return { asked, read };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const names = (servers: readonly ListedServer[]) => servers.map(({ name }) => name);
const GONE = new Error('no response');

describe('walkListing', () => {
  it('reads every page, and lists a server on two pages once, with its latest data', async () => {
    const { asked, read } = listingOf([
      [listed(1), listed(2)],
      [listed(2, { name: 'renamed' }), listed(3)],
    ]);
    const walk = await walkListing(read);
    expect(asked).toEqual([1, 2]);
    expect(names(walk.servers)).toEqual(['server-1', 'renamed', 'server-3']);
    expect(walk).toMatchObject({ complete: true, pages: 2, problem: undefined });
  });

  it('requests pages of 100', async () => {
    const perPages: number[] = [];
    await walkListing(({ perPage }) => {
      perPages.push(perPage);
      return Promise.resolve({ servers: [], totalPages: 1, badEntries: 0 });
    });
    expect(perPages).toEqual([100]);
  });

  it('continues after a failed page, stops after a second one, and keeps what it found', async () => {
    const { asked, read } = listingOf([[listed(1)], GONE, [listed(3)], GONE, [listed(5)]]);
    const walk = await walkListing(read);
    expect(asked).toEqual([1, 2, 3, 4]);
    expect(names(walk.servers)).toEqual(['server-1', 'server-3']);
    expect(walk).toMatchObject({ complete: false, pages: 5, problem: GONE });
  });

  it('ends when its signal aborts, and reports that', async () => {
    const controller = new AbortController();
    const { asked, read } = listingOf([[listed(1)], [listed(2)], [listed(3)]]);
    const stopping: typeof read = (query) => {
      if (query.page === 2) controller.abort(GONE);
      return read(query);
    };
    const walk = await walkListing(stopping, controller.signal);
    expect(asked).toEqual([1, 2]);
    expect(walk).toMatchObject({ complete: false, problem: GONE });
  });

  it('is complete if an entry has no valid UUID, and identifies the entry as well as possible', async () => {
    const bad = listed(2, { uuid: 'nonsense' });
    const { read } = listingOf([[listed(1), bad]], { badEntries: 1 });
    const walk = await walkListing(read);
    expect(names(walk.servers)).toEqual(['server-1']);
    expect(walk.complete).toBe(true);
    expect([...walk.unreadable]).toContain('00000002');
    expect(walk.problem?.message).toBe(
      '2 entries on page 1 have no valid UUID, or are beyond the 100 requested',
    );
  });

  it('does not end early if a page reports fewer pages than an earlier one', async () => {
    const { asked, read } = listingOf([[listed(1)], [listed(2)], [listed(3)]]);
    await walkListing(async (query) => {
      const page = await read(query);
      return query.page === 2 ? { ...page, totalPages: 1 } : page;
    });
    expect(asked).toEqual([1, 2, 3]);
  });

  it('reads at most 500 pages, and is incomplete if there are more', async () => {
    const { asked, read } = listingOf([], { totalPages: 5_000 });
    const walk = await walkListing(read);
    expect(asked).toHaveLength(500);
    expect(walk).toMatchObject({ complete: false, pages: 500 });
    expect(walk.problem?.message).toBe('the server list is longer than 500 pages');
  });

  it('tells its last failure, also if a page has flaws after it', async () => {
    const { read } = listingOf([[listed(1)], GONE, [listed(3, { uuid: 'nonsense' })]]);
    expect((await walkListing(read)).problem).toBe(GONE);
  });
});

describe('a listed server', () => {
  const shownAs = async (changes: Partial<ListedServer>, n = 1) => {
    const { servers } = await walkListing(listingOf([[listed(n, changes)]]).read);
    return servers[0];
  };

  it('has texts of one line and bounded length', async () => {
    const shown = await shownAs({
      name: ` a\nb${'x'.repeat(1_000)}`,
      node: '\u001b[2J',
      egg: 'Pa\u202eper',
    });
    expect(shown?.name).toMatch(/^a bx{100,200}…$/);
    expect(shown?.node).toBeUndefined();
    expect(shown?.egg).toBe('Pa per');
  });

  it('does not retain the long texts that it was decoded from', async () => {
    const words = () => Buffer.alloc(80_000, 'x').toString();
    const long = () => ({ name: words(), node: words(), egg: words(), identifier: words() });
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const walk = await walkListing(() => {
      const servers = Array.from({ length: 200 }, (_, n) => listed(n, long()));
      return Promise.resolve({ servers, totalPages: 1, badEntries: 0 });
    });
    collectGarbage();
    expect(walk.servers).toHaveLength(200);
    // The texts of the entries had 80 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  });

  it('without a name is named after its short id', async () => {
    expect((await shownAs({ name: '\u200b' }))?.name).toBe('00000001');
  });

  it.each(['', 'abc', '../../admin', `${uuidOf(1)}x`])('is skipped if its UUID is %j', async (uuid) => {
    expect(await shownAs({ uuid })).toBeUndefined();
  });

  it('is the same with its UUID in upper case', async () => {
    expect((await shownAs({ uuid: uuidOf(0xab).toUpperCase() }, 0xab))?.uuid).toBe(uuidOf(0xab));
  });
});
