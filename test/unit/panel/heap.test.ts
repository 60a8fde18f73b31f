import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, type HeapItem, HeapSlot } from '../../../src/panel/heap.ts';

interface Item extends HeapItem {
  readonly id: number;
  lot: number;
}

/**
 * An item and its new rank and lot. Undefined removes the item. Infinite ranks are common, for
 * items that don't depend on a time.
 */
const anyRank = fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
const anySteps = fc.array(fc.tuple(fc.nat(20), fc.option(fc.tuple(anyRank, fc.nat(3)), { nil: undefined })), {
  maxLength: 80,
});

describe('a heap', () => {
  it('is in the order that sorting gives, after any additions, changes of rank and removals', () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const heap = new Heap<Item>((one, other) => one.lot < other.lot);
        const items = Array.from({ length: 21 }, (_, id): Item => ({ id, lot: 0, place: -1 }));
        const ranks = new Map<Item, number>();
        for (const [id, to] of steps) {
          const item = items[id];
          if (item === undefined) continue;
          if (to === undefined) {
            expect(heap.delete(item)).toBe(ranks.delete(item));
          } else {
            // The lot contains the item's number, so that no two are equal.
            item.lot = to[1] + id / 100;
            heap.put(item, to[0]);
            ranks.set(item, to[0]);
          }
          const order = [...ranks]
            .toSorted(([one, its], [other, others]) => (its === others ? one.lot - other.lot : its - others))
            .map(([one]) => one.id);
          expect(heap.first?.id).toBe(order[0]);
          expect(heap.size).toBe(order.length);
          expect([...heap.inOrder()].map((one) => one.id)).toEqual(order);
          expect(new Set(heap.items)).toEqual(new Set(ranks.keys()));
          expect(items.map((one) => heap.has(one))).toEqual(items.map((one) => ranks.has(one)));
        }
      }),
    );
  });

  it('has nothing of another heap, whatever place that has there', () => {
    const [one, other] = [new Heap<HeapSlot<string>>(), new Heap<HeapSlot<string>>()];
    const slot = new HeapSlot('a');
    one.put(slot, 1);
    other.put(new HeapSlot('b'), 1);
    expect([other.has(slot), other.delete(slot), one.has(slot)]).toEqual([false, false, true]);
  });

  it('changes one place, and finds the first of many, in the time of its levels', () => {
    let compared = 0;
    const heap = new Heap<HeapSlot<number>>((one, other) => {
      compared += 1;
      return one.item < other.item;
    });
    const slots = Array.from({ length: 10_000 }, (_, index) => new HeapSlot((index * 7_919) % 10_007));
    for (const slot of slots) heap.put(slot, 0);
    compared = 0;
    const [first] = slots;
    if (first !== undefined) {
      heap.delete(first);
      heap.put(first, 0);
    }
    expect([...heap.inOrder()].slice(0, 3).map(({ item }) => item)).toEqual([0, 1, 2]);
    compared = 0;
    for (const slot of slots.slice(0, 100)) heap.put(slot, 1);
    expect(compared / 100).toBeLessThan(100);
  });
});
