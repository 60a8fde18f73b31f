import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterWalk, type Census, hasDoubts } from '../../../src/fleet/census.ts';
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

describe('afterWalk', () => {
  it.each<[string, Walk[], number[]]>([
    ['a server is there once it is found', [complete(1, 2)], [1, 2]],
    ['one that a walk passes by is kept', [complete(1, 2), complete(1)], [1, 2]],
    ['as one that two walks pass by is', [complete(1, 2), complete(1), complete(1)], [1, 2]],
    ['one that three walks pass by is gone', [complete(1, 2), complete(1), complete(1), complete(1)], [1]],
    [
      'one that no walk shows is gone, though one was not complete',
      [complete(1, 2), complete(1), partial(1), complete(1), complete(1)],
      [1],
    ],
    [
      "one whose entry can't be read is kept, the others are not",
      [complete(1, 2, 3), ...Array.from({ length: 4 }, () => withUnreadable(2)(1))],
      [1, 2],
    ],
    ['one that comes back is as new', [complete(1, 2), complete(1), complete(1, 2), complete(1)], [1, 2]],
    ['a walk that failed takes none away', [complete(1, 2), partial(), partial(), partial()], [1, 2]],
    ['and brings those that it found', [complete(1), partial(2)], [1, 2]],
    [
      'nor does it count between others that were complete',
      [complete(1, 2), complete(1), partial(1), complete(1)],
      [1, 2],
    ],
  ])('%s', (_what, walks, expected) => {
    expect(known(after(...walks))).toEqual(expected);
  });

  it('holds what was said last', () => {
    const walk = { servers: [listed(1, { name: 'renamed', suspended: true })], complete: false };
    expect(after(complete(1), walk).get(uuidOf(1))?.server).toMatchObject({
      name: 'renamed',
      suspended: true,
    });
  });

  it('has doubts while a server was passed by', () => {
    expect(hasDoubts(after(complete(1, 2)))).toBe(false);
    expect(hasDoubts(after(complete(1, 2), complete(1)))).toBe(true);
    expect(hasDoubts(after(complete(1, 2), complete(1), complete(1), complete(1)))).toBe(false);
  });

  it.each<[string, Walk[], Walk, number[]]>([
    ['one complete walk without it is enough', [complete(1, 2)], complete(1), [1]],
    ['also one before the 404', [complete(1, 2), complete(1)], partial(), [1]],
    ['an incomplete one is not', [complete(1, 2)], partial(1), [1, 2]],
    ['one that shows it keeps it', [complete(1, 2)], complete(1, 2), [1, 2]],
    ["an entry that can't be read keeps it", [complete(1, 2)], withUnreadable(2)(1), [1, 2]],
  ])('of a server that answers 404: %s', (_what, walks, last, expected) => {
    const notFound = new Set([uuidOf(2).slice(0, 8)]);
    expect(known(afterWalk(after(...walks), last, notFound))).toEqual(expected);
  });

  it('holds exactly the servers that one of the last three complete walks showed', () => {
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

  it('never loses a server to walks that were not complete', () => {
    const walks = fc.array(fc.array(fc.nat(20), { maxLength: 20 }));
    fc.assert(
      fc.property(walks, fc.array(fc.nat(20)), (found, first) => {
        const census = after(complete(...first), ...found.map((servers) => partial(...servers)));
        expect(known(census)).toEqual(expect.arrayContaining(first));
      }),
    );
  });
});
