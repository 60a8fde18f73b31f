import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterWalk, type Census, hasDoubts, reduced } from '../../../src/fleet/census.ts';
import { listed, uuidOf } from '../../support/listed.ts';

type Walk = Parameters<typeof afterWalk>[1];

const complete = (...servers: number[]): Walk => ({ servers: servers.map((n) => listed(n)), complete: true });
const partial = (...servers: number[]): Walk => ({ ...complete(...servers), complete: false });
const withUnreadable =
  (...hidden: number[]) =>
  (...servers: number[]): Walk => ({
    ...complete(...servers),
    unreadable: new Set(hidden.map((n) => uuidOf(n).slice(0, 8))),
  });
const after = (...walks: Walk[]): Census =>
  walks.reduce<Census>((census, walk) => afterWalk(census, walk), new Map());
const known = (census: Census) =>
  [...census.keys()].map((uuid) => Number.parseInt(uuid.slice(0, 8), 16)).toSorted((a, b) => a - b);

describe('a reduced census', () => {
  const census = after(complete(1, 2, 3), complete(1, 3));

  it('has only the kept servers, with the walks that missed them', () => {
    const next = reduced(census, (servers) => servers.slice(1));
    expect([...next.values()]).toEqual([...census.values()].slice(1));
    expect(hasDoubts(next)).toBe(true);
  });

  it('is the same one if all servers are kept', () => {
    expect(reduced(census, (servers) => servers)).toBe(census);
  });
});

describe('afterWalk', () => {
  it.each<[string, Walk[], number[]]>([
    ['a server is known once it is found', [complete(1, 2)], [1, 2]],
    ['a server is kept if one walk misses it', [complete(1, 2), complete(1)], [1, 2]],
    ['a server is kept if two walks miss it', [complete(1, 2), complete(1), complete(1)], [1, 2]],
    [
      'a server is removed if three walks miss it',
      [complete(1, 2), complete(1), complete(1), complete(1)],
      [1],
    ],
    [
      'a missing server is removed, even if one of the walks was incomplete',
      [complete(1, 2), complete(1), partial(1), complete(1), complete(1)],
      [1],
    ],
    [
      'a server with an unreadable entry is kept, other missing servers are not',
      [complete(1, 2, 3), ...Array.from({ length: 4 }, () => withUnreadable(2)(1))],
      [1, 2],
    ],
    [
      'a server that reappears starts over',
      [complete(1, 2), complete(1), complete(1, 2), complete(1)],
      [1, 2],
    ],
    ['failed walks remove no servers', [complete(1, 2), partial(), partial(), partial()], [1, 2]],
    ['failed walks add the servers that they found', [complete(1), partial(2)], [1, 2]],
    [
      'a failed walk between complete walks does not count',
      [complete(1, 2), complete(1), partial(1), complete(1)],
      [1, 2],
    ],
  ])('%s', (_what, walks, expected) => {
    expect(known(after(...walks))).toEqual(expected);
  });

  it('keeps the latest data of each server', () => {
    const walk = { servers: [listed(1, { name: 'renamed', suspended: true })], complete: false };
    expect(after(complete(1), walk).get(uuidOf(1))?.server).toMatchObject({
      name: 'renamed',
      suspended: true,
    });
  });

  it('has doubts while a server is missing', () => {
    expect(hasDoubts(after(complete(1, 2)))).toBe(false);
    expect(hasDoubts(after(complete(1, 2), complete(1)))).toBe(true);
    expect(hasDoubts(after(complete(1, 2), complete(1), complete(1), complete(1)))).toBe(false);
  });

  it.each<[string, Walk[], Walk, number[]]>([
    ['one complete walk without it is enough', [complete(1, 2)], complete(1), [1]],
    ['a complete walk before the 404 is enough', [complete(1, 2), complete(1)], partial(), [1]],
    ['an incomplete walk is not enough', [complete(1, 2)], partial(1), [1, 2]],
    ['a walk that finds it keeps it', [complete(1, 2)], complete(1, 2), [1, 2]],
    ['an unreadable entry keeps it', [complete(1, 2)], withUnreadable(2)(1), [1, 2]],
  ])('for a server whose calls return 404: %s', (_what, walks, last, expected) => {
    const notFound = new Set([uuidOf(2).slice(0, 8)]);
    expect(known(afterWalk(after(...walks), last, notFound))).toEqual(expected);
  });

  it('contains exactly the servers found by the last three complete walks', () => {
    const walks = fc.array(fc.uniqueArray(fc.nat(8)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(walks, (found) => {
        const expected = new Set(found.slice(-3).flat());
        expect(known(after(...found.map((servers) => complete(...servers))))).toEqual(
          [...expected].toSorted((a, b) => a - b),
        );
      }),
    );
  });

  it('never loses a server because of incomplete walks', () => {
    const walks = fc.array(fc.array(fc.nat(20), { maxLength: 20 }));
    fc.assert(
      fc.property(walks, fc.array(fc.nat(20)), (found, first) => {
        const census = after(complete(...first), ...found.map((servers) => partial(...servers)));
        expect(known(census)).toEqual(expect.arrayContaining(first));
      }),
    );
  });
});
