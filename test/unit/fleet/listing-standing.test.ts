import { describe, expect, it } from 'vitest';
import { NO_SURPLUS } from '../../../src/fleet/census.ts';
import { type ListingStanding, NEVER_READ, standingAfter } from '../../../src/fleet/listing-standing.ts';
import { listed } from '../../support/listed.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const UNREADABLE = new Error('1 entries on page 1 have no valid UUID');
const FAILED = new Error('no response');

const walk = (servers: number, problem?: Error) => ({
  complete: problem !== FAILED,
  servers: Array.from({ length: servers }, (_, n) => listed(n)),
  problem,
  pages: 1,
  surplus: NO_SURPLUS,
  surplusEntries: 0,
});

describe('what the server list shows about blocked servers is believed', () => {
  it.each<[boolean, string, Error | undefined, number | undefined, number]>([
    [true, 'if the last walk was complete', undefined, 60, 1],
    [true, 'if the last walk was the first', undefined, undefined, 1],
    [true, 'if the last walk read all pages, but not all entries', UNREADABLE, 60, 1],
    [true, 'for five minutes after the last complete walk', FAILED, 5, 1],
    [false, 'no longer than five minutes after it', FAILED, 5.1, 1],
    [true, 'for an interval that is longer', FAILED, 60, 60],
    [false, 'no longer than that interval', FAILED, 60.1, 60],
    [false, 'not without a complete walk', FAILED, undefined, 60],
  ])('(%s) %s', (isCurrent, _what, problem, age, interval) => {
    const completeAt = age === undefined ? undefined : NOW - age * MINUTE;
    const after = standingAfter({ ...NEVER_READ, completeAt }, walk(3, problem), {
      now: NOW,
      intervalMs: interval * MINUTE,
      isIncluded: () => true,
    });
    expect(after).toMatchObject({ isCurrent, completeAt: problem === FAILED ? completeAt : NOW });
  });
});

describe('no server is discovered', () => {
  const NOTHING = { cause: 'nothing_listed', detail: 'the server list is empty' } as const;
  const EMPTY: ListingStanding = { ...NEVER_READ, empty: NOTHING };

  it.each<[boolean, string, ListingStanding, ReturnType<typeof walk>]>([
    [true, 'if a complete walk found no server', NEVER_READ, walk(0)],
    [false, 'unless the walk found one', NEVER_READ, walk(1)],
    [false, 'unless it has entries that cannot be read', NEVER_READ, walk(0, UNREADABLE)],
    [false, 'not because it cannot be read', NEVER_READ, walk(0, FAILED)],
    [true, 'until it can be read again', EMPTY, walk(0, FAILED)],
    [false, 'no longer than until an incomplete walk finds a server', EMPTY, walk(1, FAILED)],
  ])('(%s) %s', (isEmpty, _what, before, ended) => {
    const after = standingAfter(before, ended, { now: NOW, intervalMs: MINUTE, isIncluded: () => true });
    expect(after.empty).toEqual(isEmpty ? NOTHING : undefined);
  });

  it('if the rules include none of the listed servers', () => {
    const context = { now: NOW, intervalMs: MINUTE, isIncluded: () => false };
    expect(standingAfter(NEVER_READ, walk(3), context).empty).toEqual({
      cause: 'all_excluded',
      detail: 'discover excludes all 3 listed servers',
    });
    expect(standingAfter(NEVER_READ, walk(3, FAILED), context).empty).toBeUndefined();
  });
});
