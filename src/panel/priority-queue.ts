/** Items in order, from which any can be removed in logarithmic time. */
import { Heap, type HeapItem } from './heap.ts';

/** The order of items: by the first number, then the second, and so on, ascending. */
export type Rank = readonly number[];

interface Entry<Item> extends HeapItem {
  readonly item: Item;
  rank: Rank;
}

/** Items by the ranks that they had when they were added, whatever happened to them since. */
export class PriorityQueue<Item> {
  readonly #heap = new Heap<Entry<Item>>(isBefore);
  readonly #entries = new Map<Item, Entry<Item>>();

  get size(): number {
    return this.#heap.size;
  }

  get first(): Item | undefined {
    return this.#heap.first?.item;
  }

  get firstRank(): Rank | undefined {
    return this.#heap.first?.rank;
  }

  /** The first number of the first item's rank; infinite if there is none. */
  get lowest(): number {
    return this.firstRank?.[0] ?? Number.POSITIVE_INFINITY;
  }

  /** Adds the item, or changes its rank. */
  put(item: Item, ...rank: Rank): void {
    let entry = this.#entries.get(item);
    if (entry === undefined) this.#entries.set(item, (entry = { item, rank, place: -1 }));
    entry.rank = rank;
    this.#heap.put(entry, rank[0] ?? 0);
  }

  /** Returns whether the item was in the ranking. */
  delete(item: Item): boolean {
    const entry = this.#entries.get(item);
    if (entry === undefined) return false;
    this.#entries.delete(item);
    return this.#heap.delete(entry);
  }

  /** Removes and returns the items whose ranks begin with at most this number, in order. */
  *takeUpTo(bound: number): Generator<Item, void, undefined> {
    for (let item = this.first; item !== undefined && this.lowest <= bound; item = this.first) {
      this.delete(item);
      yield item;
    }
  }
}

/** Orders entries whose first numbers are equal. */
function isBefore({ rank: one }: Entry<unknown>, { rank: other }: Entry<unknown>): boolean {
  for (let index = 1; index < one.length; index += 1) {
    const [mine, theirs = Number.NEGATIVE_INFINITY] = [one[index] as number, other[index]];
    if (mine !== theirs) return mine < theirs;
  }
  return false;
}
