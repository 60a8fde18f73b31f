/** A heap whose items know their places, so that any of them can be removed. */

/** An item that can be in one heap at a time. */
export interface HeapItem {
  /** Set only by the heap; -1 before the first time. */
  place: number;
}

/** An item's place in one of several heaps. */
export class HeapSlot<Item> implements HeapItem {
  readonly item: Item;
  place = -1;

  constructor(item: Item) {
    this.item = item;
  }
}

/**
 * The number of items below each one. In a large fleet, most of the time is spent on fetching items
 * from memory: with 32, there are few levels, and their ranks are adjacent.
 */
const WIDTH = 32;

const inAnyOrder = () => false;

/**
 * Items by the rank that they had when they were put in, ascending.
 *
 * With one node per server, nearly every heap has a single item. The first item therefore needs no
 * arrays, which an event would have to fetch from memory, too.
 */
export class Heap<Item extends HeapItem> {
  #first: Item | undefined = undefined;
  #firstRank = Number.NaN;
  /** The other items and their ranks, by place from 1; undefined until there is a second item. */
  #others: Item[] | undefined = undefined;
  #ranks: number[] | undefined = undefined;
  readonly #isBefore: (one: Item, other: Item) => boolean;

  /** `isBefore` orders items of the same rank. Without it, they are in no particular order. */
  constructor(isBefore: (one: Item, other: Item) => boolean = inAnyOrder) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#first === undefined ? 0 : 1 + (this.#others?.length ?? 0);
  }

  get first(): Item | undefined {
    return this.#first;
  }

  get firstRank(): number | undefined {
    return this.#first === undefined ? undefined : this.#firstRank;
  }

  /** All items, in no particular order. */
  get items(): readonly Item[] {
    return this.#first === undefined ? [] : [this.#first, ...(this.#others ?? [])];
  }

  has(item: Item): boolean {
    const { place } = item;
    return place > 0 ? this.#others?.[place - 1] === item : place === 0 && this.#first === item;
  }

  /** Adds the item, or changes its rank. */
  put(item: Item, rank: number): void {
    const isNew = !this.has(item);
    const place = isNew ? this.size : item.place;
    const mayMove = isNew || this.#isBefore !== inAnyOrder || this.#rankAt(place) !== rank;
    if (mayMove) this.#settle(item, rank, place);
  }

  /** Returns whether the item was in the heap. */
  delete(item: Item): boolean {
    if (!this.has(item)) return false;
    const free = item.place;
    item.place = -1;
    const last = this.#others?.pop();
    const rank = this.#ranks?.pop();
    if (last === undefined || rank === undefined) this.#first = undefined;
    else if (last !== item) this.#settle(last, rank, free);
    return true;
  }

  /** The items by rank, without removing them: the first `n` take n × log(n) steps. */
  *inOrder(): Generator<Item, void, undefined> {
    const next = new Heap<HeapSlot<number>>(({ item: one }, { item: other }) =>
      this.#isBefore(this.#itemAt(one), this.#itemAt(other)),
    );
    const see = (place: number) => {
      if (place < this.size) next.put(new HeapSlot(place), this.#rankAt(place));
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

  /** The place with the first rank below this one; undefined if there is none. */
  #firstBelow(place: number): number | undefined {
    const ranks = this.#ranks;
    const start = WIDTH * place;
    if (ranks === undefined || start >= ranks.length) return undefined;
    const end = Math.min(start + WIDTH, ranks.length);
    let [first, rank] = [start, ranks[start] as number];
    for (let below = start + 1; below < end; below += 1) {
      const other = ranks[below] as number;
      const isFirst =
        other === rank ? this.#isBefore(this.#itemAt(below + 1), this.#itemAt(first + 1)) : other < rank;
      if (isFirst) [first, rank] = [below, other];
    }
    return first + 1;
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
    return (place === 0 ? this.#first : this.#others?.[place - 1]) as Item;
  }

  #rankAt(place: number): number {
    return place === 0 ? this.#firstRank : (this.#ranks?.[place - 1] as number);
  }

  #move(from: number, to: number): void {
    this.#put(this.#itemAt(from), this.#rankAt(from), to);
  }

  #put(item: Item, rank: number, place: number): void {
    if (place === 0) {
      this.#first = item;
      this.#firstRank = rank;
    } else {
      (this.#others ??= [])[place - 1] = item;
      (this.#ranks ??= [])[place - 1] = rank;
    }
    item.place = place;
  }
}
