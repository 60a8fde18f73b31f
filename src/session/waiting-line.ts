// A line that any item can leave at any time.

/** Items in the order in which they came; each operation takes the same time in a long line. */
export class WaitingLine<Item> {
  readonly #items = new Set<Item>();
  /** One iterator for all items: another one would have to pass all that were removed. */
  #next = this.#items.values();

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Adds it as the last one; an item that waits already keeps its place. */
  add(item: Item): void {
    this.#items.add(item);
  }

  /** Removes it, if it waits. */
  leave(item: Item): void {
    this.#items.delete(item);
  }

  /** Removes the first one; undefined if there is none. */
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
