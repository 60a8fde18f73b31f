/** How much may wait. */
export interface QueueBounds {
  readonly total: number;
  readonly perClient: number;
}

/**
 * What clients wait for, each client in its turn, so that one that asks for much doesn't keep the others waiting. It is bounded:
 * where it is full, the client with the most in it gives way.
 */
export class FairQueue<Item> {
  readonly #bounds: QueueBounds;
  /** The client whose turn is next comes first; none is without items. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Takes an item in; gives the one that had to give way, which may be the same. */
  offer(client: string, item: Item): Item | undefined {
    const own = this.#waiting.get(client) ?? [];
    if (own.length >= this.#bounds.perClient) return item;
    own.push(item);
    this.#waiting.set(client, own);
    this.#size += 1;
    return this.#size > this.#bounds.total ? this.#displace() : undefined;
  }

  /** The item whose turn it is; undefined where none waits. */
  next(): Item | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [client, items] = first;
    const item = items.shift();
    this.#size -= 1;
    // Taken out and put back, so that the client goes to the end.
    this.#waiting.delete(client);
    if (items.length > 0) this.#waiting.set(client, items);
    return item;
  }

  #displace(): Item | undefined {
    // Among equals the newest client gives way: whoever was there first keeps its place.
    let [client, most]: [string, Item[]] = ['', []];
    for (const [name, items] of this.#waiting)
      if (items.length >= most.length) [client, most] = [name, items];
    const item = most.pop();
    this.#size -= 1;
    if (most.length === 0) this.#waiting.delete(client);
    return item;
  }
}
