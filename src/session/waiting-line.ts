// A queue that any item can leave at any time.

/** Items in the order of their arrival. Each operation takes constant time. */
export class WaitingLine<Item> {
  readonly #items = new Set<Item>();
  /** One iterator for all items, because a new one would have to skip all removed items. */
  #next = this.#items.values();

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Adds the item at the end. A waiting item keeps its place. */
  add(item: Item): void {
    this.#items.add(item);
  }

  /** Removes the item if it is waiting. */
  leave(item: Item): void {
    this.#items.delete(item);
  }

  /** Removes the first item; undefined if there is none. */
  take(): Item | undefined {
    let first = this.#next.next();
    if (first.done === true) {
      this.#next = this.#items.values();
      first = this.#next.next();
    }
    if (first.done === true) return undefined;
    this.#items.delete(first.value);
    return first.value;
  }
}
