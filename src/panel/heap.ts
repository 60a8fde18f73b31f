/** A heap whose items know their places in it, so that any of them can be taken out. */

/** What can be in one heap at a time. */
export interface Placed {
  /** Only the heap sets it; -1 before the first. */
  place: number;
}

/** Something that can be in several heaps has a seat for each. */
export class Seat<Item> implements Placed {
  readonly item: Item;
  place = -1;

  constructor(item: Item) {
    this.item = item;
  }
}

/**
 * Items below each one. In a large fleet, most of the time goes into fetching items from memory:
 * with sixteen items, there are few levels, and their ranks are adjacent.
 */
const WIDTH = 16;

/** Items by the rank that they had when they were put in, ascending. */
export class Heap<Item extends Placed> {
  readonly #items: Item[] = [];
  /** The rank of the item in each place. */
  readonly #ranks: number[] = [];
  readonly #isOrdered: boolean;
  readonly #isBefore: (one: Item, other: Item) => boolean;

  /** `isBefore` orders items of the same rank; without it, they are in no particular order. */
  constructor(isBefore?: (one: Item, other: Item) => boolean) {
    this.#isOrdered = isBefore !== undefined;
    this.#isBefore = isBefore ?? (() => false);
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  get firstRank(): number | undefined {
    return this.#ranks[0];
  }

  /** All items, in no particular order. */
  get items(): readonly Item[] {
    return this.#items;
  }

  has(item: Item): boolean {
    return item.place >= 0 && this.#items[item.place] === item;
  }

  /** Puts the item in, or gives it another rank. */
  put(item: Item, rank: number): void {
    const place = this.has(item) ? item.place : this.#items.length;
    if (this.#isOrdered || this.#ranks[place] !== rank) this.#settle(item, rank, place);
  }

  /** Returns whether the item was in here. */
  delete(item: Item): boolean {
    if (!this.has(item)) return false;
    const free = item.place;
    item.place = -1;
    const last = this.#items.pop();
    const rank = this.#ranks.pop();
    if (last !== undefined && rank !== undefined && last !== item) this.#settle(last, rank, free);
    return true;
  }

  /** The items by rank, without taking them out: the first `n` take n × log(n) steps. */
  *inOrder(): Generator<Item, void, undefined> {
    const next = new Heap<Seat<number>>(({ item: one }, { item: other }) =>
      this.#isBefore(this.#itemAt(one), this.#itemAt(other)),
    );
    const see = (place: number) => {
      const rank = this.#ranks[place];
      if (rank !== undefined) next.put(new Seat(place), rank);
    };
    see(0);
    for (let seen = next.first; seen !== undefined; seen = next.first) {
      next.delete(seen);
      yield this.#itemAt(seen.item);
      for (let below = 1; below <= WIDTH; below += 1) see(WIDTH * seen.item + below);
    }
  }

  /** Fills a free place so that no item ranks before the one above it. */
  #settle(item: Item, rank: number, free: number): void {
    let place = free;
    while (place > 0) {
      const above = Math.floor((place - 1) / WIDTH);
      if (!this.#ranksBefore(item, rank, above)) break;
      this.#move(above, place);
      place = above;
    }
    for (let below = this.#firstBelow(place); below !== undefined; below = this.#firstBelow(place)) {
      if (!this.#ranksAfter(item, rank, below)) break;
      this.#move(below, place);
      place = below;
    }
    this.#put(item, rank, place);
  }

  /** The place below this one whose item ranks first; undefined if there is none. */
  #firstBelow(place: number): number | undefined {
    const start = WIDTH * place + 1;
    const end = Math.min(start + WIDTH, this.#items.length);
    if (start >= end) return undefined;
    let first = start;
    for (let below = start + 1; below < end; below += 1)
      if (this.#ranksBefore(this.#itemAt(below), this.#rankAt(below), first)) first = below;
    return first;
  }

  #ranksBefore(item: Item, rank: number, place: number): boolean {
    const other = this.#rankAt(place);
    return rank === other ? this.#isBefore(item, this.#itemAt(place)) : rank < other;
  }

  #ranksAfter(item: Item, rank: number, place: number): boolean {
    const other = this.#rankAt(place);
    return rank === other ? this.#isBefore(this.#itemAt(place), item) : rank > other;
  }

  #itemAt(place: number): Item {
    return this.#items[place] as Item;
  }

  #rankAt(place: number): number {
    return this.#ranks[place] as number;
  }

  #move(from: number, to: number): void {
    this.#put(this.#itemAt(from), this.#rankAt(from), to);
  }

  #put(item: Item, rank: number, place: number): void {
    this.#items[place] = item;
    this.#ranks[place] = rank;
    item.place = place;
  }
}
