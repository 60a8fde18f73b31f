import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterWalk, hasDoubts, type ListingState, NEVER_READ } from '../../../src/fleet/listing-state.ts';
import type { ListingWalk } from '../../../src/fleet/listing-walk.ts';
import { listed, uuidOf } from '../../support/listed.ts';

const MINUTE = 60_000;

/** A reading of the server list with these servers, and with unreadable entries for others. */
function walk(found: readonly number[], { complete = true, unreadable = [] as number[] } = {}): ListingWalk {
  const problem = complete && unreadable.length === 0 ? undefined : new Error('a page or an entry failed');
  return {
    servers: found.map((n) => listed(n)),
    unreadable: new Set(unreadable.map((n) => uuidOf(n).slice(0, 8))),
    complete,
    problem,
    pages: 1,
  };
}

/** The state after these readings, five minutes apart. */
const after = (
  walks: readonly ListingWalk[],
  isIncluded = () => true,
  notFound: ReadonlySet<string> = new Set(),
): ListingState =>
  walks.reduce<ListingState>(
    (state, one, index) => afterWalk(state, one, index * 5 * MINUTE, isIncluded, notFound),
    NEVER_READ,
  );
const knownTo = ({ known }: ListingState) =>
  [...known.keys()].map((uuid) => Number.parseInt(uuid.slice(0, 8), 16)).toSorted((a, b) => a - b);

const ALL = walk([1, 2, 3]);
const MOST = walk([1, 2]);
const PARTIAL = walk([1, 2], { complete: false });
const times = (count: number, one: ListingWalk) => Array.from({ length: count }, () => one);

describe('a server of the server list', () => {
  it.each<[string, ListingWalk[], number[]]>([
    ['one complete walk without it is enough', [ALL, MOST], [1, 2]],
    ['an incomplete walk is not enough', [ALL, PARTIAL], [1, 2, 3]],
    ['a walk that finds it keeps it', [ALL, ALL], [1, 2, 3]],
    ['an unreadable entry keeps it', [ALL, walk([1, 2], { unreadable: [3] })], [1, 2, 3]],
    ['a list that is too short keeps it', [ALL, walk([])], [1, 2, 3]],
  ])('whose calls return 404: %s', (_what, walks, expected) => {
    expect(knownTo(after(walks, () => true, new Set(['00000003'])))).toEqual(expected);
  });

  it.each<[string, ListingWalk[], number[]]>([
    ['is known once it is found', [ALL], [1, 2, 3]],
    ['is kept if two walks miss it', [ALL, MOST, MOST], [1, 2, 3]],
    ['is gone if three walks miss it', [ALL, MOST, MOST, MOST], [1, 2]],
    ['is gone although an incomplete walk came between', [ALL, MOST, PARTIAL, MOST, MOST], [1, 2]],
    ['is kept by incomplete walks', [ALL, ...times(9, PARTIAL)], [1, 2, 3]],
    ['is kept if an incomplete walk comes third', [ALL, MOST, MOST, PARTIAL], [1, 2, 3]],
    ['starts over when it is found again', [ALL, MOST, MOST, ALL, MOST, MOST], [1, 2, 3]],
    [
      'is kept while its entry is unreadable',
      [ALL, ...times(9, walk([1, 2], { unreadable: [3] }))],
      [1, 2, 3],
    ],
    ['is added by an incomplete walk', [MOST, walk([3], { complete: false })], [1, 2, 3]],
    ['is kept by seven walks in half an hour that find none', [ALL, ...times(7, walk([]))], [1, 2, 3]],
    ['is gone three walks after half an hour without any', [ALL, ...times(9, walk([]))], []],
    ['is kept by walks that find less than half', [ALL, ...times(7, walk([1]))], [1, 2, 3]],
    ['is gone three walks after half an hour with less than half', [ALL, ...times(9, walk([1]))], [1]],
    ['is kept by a walk that finds others instead', [ALL, walk([4, 5, 6])], [1, 2, 3, 4, 5, 6]],
    ['is gone after three more such walks', [ALL, ...times(4, walk([4, 5, 6]))], [4, 5, 6]],
    [
      'waits anew after a list that is long enough',
      [ALL, ...times(6, walk([])), ALL, ...times(7, walk([]))],
      [1, 2, 3],
    ],
    ['is gone after three walks without half of them', [walk([1, 2, 3, 4]), ...times(3, MOST)], [1, 2]],
  ])('%s', (_what, walks, expected) => {
    expect(knownTo(after(walks))).toEqual(expected);
  });

  it('has its latest data, also from an incomplete walk', () => {
    const renamed = { ...PARTIAL, servers: [listed(1, { name: 'renamed', blocked: 'suspended' })] };
    expect(after([ALL, renamed]).known.get(uuidOf(1))?.entry).toMatchObject({
      name: 'renamed',
      blocked: 'suspended',
    });
  });

  it('is doubted while walks miss it, or too many others', () => {
    const doubts = [[ALL], [ALL, MOST], [ALL, ...times(3, MOST)], [ALL, walk([])], [ALL, walk([]), ALL]];
    expect(doubts.map((walks) => hasDoubts(after(walks)))).toEqual([false, true, false, true, false]);
  });

  const numbers = fc.uniqueArray(fc.nat(8));

  it('is known exactly if one of the last three walks found it, while each finds half of those before', () => {
    const walks = fc.array(numbers, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(walks, (found) => {
        const always = [20, 21, 22, 23, 24, 25, 26, 27, 28];
        const expected = new Set([...found.slice(-3).flat(), ...always]);
        expect(knownTo(after(found.map((some) => walk([...some, ...always]))))).toEqual(
          [...expected].toSorted((a, b) => a - b),
        );
      }),
    );
  });

  it('is never lost because of incomplete walks, or of walks within half an hour that find none', () => {
    const steps = fc.array(
      fc.oneof(
        numbers.map((some) => walk(some, { complete: false })),
        fc.constant(walk([])),
      ),
      {
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(steps, numbers, (walks, first) => {
        const all = walks.reduce(
          (state, one, index) => afterWalk(state, one, index * MINUTE, () => true, new Set()),
          after([walk(first)]),
        );
        expect(knownTo(all)).toEqual(expect.arrayContaining(first));
      }),
    );
  });

  it('is remembered beside at most 49,999 others, of which the last walk found some', () => {
    const walkFrom = (first: number) => walk(Array.from({ length: 30_000 }, (_, n) => first + n));
    const state = after([walkFrom(0), walkFrom(30_000)]);
    expect(state.known.size).toBe(50_000);
    expect(state.known.has(uuidOf(59_999))).toBe(true);
  });
});

describe('a walk', () => {
  it('counts as a failure if it had a problem, and as a reading of the list if it was complete', () => {
    const state = after([ALL, PARTIAL, walk([1, 2], { unreadable: [3] }), PARTIAL]);
    expect(state).toMatchObject({ failures: 3, completeAt: 10 * MINUTE });
  });

  it.each<[string, ListingWalk[], boolean, string | undefined]>([
    ['no server is listed', [walk([])], true, 'nothing_listed'],
    ['the rules include none', [ALL], false, 'all_excluded'],
    ['no list was complete', [walk([], { complete: false })], true, undefined],
    ['entries are unreadable', [walk([], { unreadable: [1] })], true, undefined],
    ['the last complete list was empty', [walk([]), walk([], { complete: false })], true, 'nothing_listed'],
    ['an incomplete walk found a server', [walk([]), PARTIAL], true, undefined],
  ])('tells why nothing is discovered: %s', (_what, walks, isIncluded, cause) => {
    expect(after(walks, () => isIncluded).empty?.cause).toBe(cause);
  });
});
