/** A binary heap from which any item can be taken in logarithmic time. */

/** By which items are in order: the first number, among equals the second, and so on. The lowest comes first. */
export type Rank = readonly number[];

interface Entry<Item> {
  readonly item: Item;
  readonly rank: Rank;
  place: number;
}

/** Items by the ranks that they had when they were put in, whatever happened to them since. */
export class Ranking<Item> {
  readonly #heap: Entry<Item>[] = [];
  readonly #entries = new Map<Item, Entry<Item>>();

  get size(): number {
    return this.#heap.length;
  }

  get first(): Item | undefined {
    return this.#heap[0]?.item;
  }

  get firstRank(): Rank | undefined {
    return this.#heap[0]?.rank;
  }

  /** All items, in no particular order. */
  get items(): Iterable<Item> {
    return this.#entries.keys();
  }

  has(item: Item): boolean {
    return this.#entries.has(item);
  }

  /** Puts the item in, or gives it another rank. */
  put(item: Item, ...rank: Rank): void {
    const place = this.#entries.get(item)?.place ?? this.#heap.length;
    const entry = { item, rank, place };
    this.#entries.set(item, entry);
    this.#settle(entry, place);
  }

  /** Returns whether the item was in here. */
  delete(item: Item): boolean {
    const entry = this.#entries.get(item);
    if (entry === undefined) return false;
    this.#entries.delete(item);
    const last = this.#heap.pop();
    if (last !== undefined && last !== entry) this.#settle(last, entry.place);
    return true;
  }

  /** The items by rank, without taking them out: the first `n` take n × log(n) steps. */
  *inOrder(): Generator<Item, void, undefined> {
    const next = new Ranking<number>();
    const see = (place: number) => {
      const entry = this.#heap[place];
      if (entry !== undefined) next.put(place, ...entry.rank);
    };
    see(0);
    for (let place = next.first; place !== undefined; place = next.first) {
      next.delete(place);
      const entry = this.#heap[place];
      if (entry !== undefined) yield entry.item;
      see(2 * place + 1);
      see(2 * place + 2);
    }
  }

  /** Fills a free place so that no item ranks before the one above it. */
  #settle(entry: Entry<Item>, free: number): void {
    let place = free;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !isBefore(entry.rank, parent.rank)) break;
      this.#put(parent, place);
      place = above;
    }
    for (;;) {
      const below = this.#lower(2 * place + 1, 2 * place + 2);
      const child = this.#heap[below];
      if (child === undefined || !isBefore(child.rank, entry.rank)) break;
      this.#put(child, place);
      place = below;
    }
    this.#put(entry, place);
  }

  #lower(left: number, right: number): number {
    const [one, other] = [this.#heap[left], this.#heap[right]];
    return one !== undefined && other !== undefined && isBefore(other.rank, one.rank) ? right : left;
  }

  #put(entry: Entry<Item>, place: number): void {
    this.#heap[place] = entry;
    entry.place = place;
  }
}

function isBefore(one: Rank, other: Rank): boolean {
  for (let index = 0; index < one.length; index += 1) {
    const [mine, theirs = Number.NEGATIVE_INFINITY] = [one[index] as number, other[index]];
    if (mine !== theirs) return mine < theirs;
  }
  return false;
}
