/** A heap from which any item can be taken in logarithmic time. */

/** The order of items: by the first number, among equals by the second, and so on, ascending. */
export type Rank = readonly number[];

interface Entry<Item> {
  readonly item: Item;
  readonly rank: Rank;
  place: number;
}

/**
 * Items below each one. In a large fleet, most of the time goes into fetching entries from memory:
 * with four items, there are half as many levels as with two, and their first numbers are adjacent.
 */
const WIDTH = 4;

/** Items by the ranks that they had when they were put in, whatever happened to them since. */
export class Ranking<Item> {
  readonly #heap: Entry<Item>[] = [];
  /** The first number of the rank in each place. */
  readonly #firsts: number[] = [];
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
    this.#firsts.pop();
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
      for (let below = 1; below <= WIDTH; below += 1) see(WIDTH * place + below);
    }
  }

  /** Fills a free place so that no item ranks before the one above it. */
  #settle(entry: Entry<Item>, free: number): void {
    let place = free;
    while (place > 0) {
      const above = Math.floor((place - 1) / WIDTH);
      if (!this.#isBefore(entry, above)) break;
      this.#move(above, place);
      place = above;
    }
    for (let below = this.#firstBelow(place); below !== undefined; below = this.#firstBelow(place)) {
      if (!this.#isAfter(entry, below)) break;
      this.#move(below, place);
      place = below;
    }
    this.#put(entry, place);
  }

  /** The place below this one whose item ranks first; undefined if there is none. */
  #firstBelow(place: number): number | undefined {
    const start = WIDTH * place + 1;
    const end = Math.min(start + WIDTH, this.#heap.length);
    if (start >= end) return undefined;
    let first = start;
    for (let below = start + 1; below < end; below += 1) {
      const [one, other] = [this.#firsts[below] ?? 0, this.#firsts[first] ?? 0];
      if (one < other || (one === other && isBefore(this.#rankAt(below), this.#rankAt(first)))) first = below;
    }
    return first;
  }

  /** Does it rank before the item in this place? */
  #isBefore({ rank }: Entry<Item>, place: number): boolean {
    const [one = 0, other = 0] = [rank[0], this.#firsts[place]];
    return one === other ? isBefore(rank, this.#rankAt(place)) : one < other;
  }

  #isAfter({ rank }: Entry<Item>, place: number): boolean {
    const [one = 0, other = 0] = [rank[0], this.#firsts[place]];
    return one === other ? isBefore(this.#rankAt(place), rank) : one > other;
  }

  #rankAt(place: number): Rank {
    return this.#heap[place]?.rank ?? [];
  }

  #move(from: number, to: number): void {
    const entry = this.#heap[from];
    if (entry !== undefined) this.#put(entry, to);
  }

  #put(entry: Entry<Item>, place: number): void {
    this.#heap[place] = entry;
    this.#firsts[place] = entry.rank[0] ?? 0;
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
