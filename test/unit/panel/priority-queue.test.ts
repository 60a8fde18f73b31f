import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PriorityQueue, type Rank } from '../../../src/panel/priority-queue.ts';

/**
 * An item and its new rank. Undefined removes the item. Infinite ranks are common, for items that
 * don't depend on a time.
 */
const anyRank = fc.array(fc.constantFrom(0, 1, 2, 3, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY), {
  minLength: 2,
  maxLength: 2,
});
const anySteps = fc.array(fc.tuple(fc.nat(20), fc.option(anyRank, { nil: undefined })), { maxLength: 80 });

/** The items by rank. Each rank contains the item's number, so that no two are equal. */
function sorted(model: ReadonlyMap<number, Rank>): readonly number[] {
  const byRank = ([, one]: [number, Rank], [, other]: [number, Rank]) => {
    const at = one.findIndex((value, index) => value !== other[index]);
    return (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1;
  };
  return [...model].toSorted(byRank).map(([item]) => item);
}

describe('a priority queue', () => {
  it('is what sorting gives, after any additions, changes of rank and removals', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const queue = new PriorityQueue<number>();
        const model = new Map<number, Rank>();
        for (const [item, rank] of steps) {
          if (rank === undefined) {
            expect(queue.delete(item)).toBe(model.delete(item));
          } else {
            model.set(item, [...rank, item]);
            queue.put(item, ...rank, item);
          }
          const order = sorted(model);
          expect(queue.first).toBe(order[0]);
          expect(queue.firstRank).toEqual(model.get(order[0] ?? -1));
          expect(queue.size).toBe(model.size);
        }
      }),
    );
  });

  it('keeps the rank with which something was put in', () => {
    const queue = new PriorityQueue<{ at: number }>();
    const [early, late] = [{ at: 1 }, { at: 2 }];
    for (const one of [early, late]) queue.put(one, one.at);
    early.at = 3;
    queue.put({ at: 4 }, 4);
    expect(queue.first).toBe(early);
    queue.put(early, early.at);
    expect(queue.first).toBe(late);
  });
});
