/** The limits on waiting items. */
export interface QueueBounds {
  readonly total: number;
  readonly perClient: number;
}

interface FairQueueOptions {
  readonly bounds: QueueBounds;
  /** How often a client was refused recently; 0 if absent. */
  readonly refusalsOf?: (client: string) => number;
  readonly random?: () => number;
}

/**
 * Items that clients wait for. Clients take turns, least refused first, so a newcomer doesn't wait behind a flood. The queue is
 * bounded: when it is full, the client with the most refusals and waiting items loses an item (a random
 * client among equals).
 */
export class FairQueue<Item> {
  readonly #bounds: QueueBounds;
  readonly #refusalsOf: (client: string) => number;
  readonly #random: () => number;
  /** In turn order; no list is empty. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  constructor({ bounds, refusalsOf = () => 0, random = Math.random }: FairQueueOptions) {
    this.#bounds = bounds;
    this.#refusalsOf = refusalsOf;
    this.#random = random;
  }

  /** Adds an item; returns the item that was displaced, which may be the same. */
  offer(client: string, item: Item): Item | undefined {
    const own = this.#waiting.get(client) ?? [];
    if (own.length >= this.#bounds.perClient) return item;
    own.push(item);
    this.#waiting.set(client, own);
    this.#size += 1;
    return this.#size > this.#bounds.total ? this.#displace() : undefined;
  }

  /** The next item; undefined if none is waiting. */
  next(): Item | undefined {
    const [client] = leastBy([...this.#waiting.keys()], this.#refusalsOf);
    if (client === undefined) return undefined;
    const items = this.#waiting.get(client) ?? [];
    const item = items.shift();
    this.#size -= 1;
    // Removed and added again, so that the client moves to the end.
    this.#waiting.delete(client);
    if (items.length > 0) this.#waiting.set(client, items);
    return item;
  }

  // If the newest were displaced among equals, a flood that came first would keep every newcomer out.
  #displace(): Item | undefined {
    const candidates = leastBy(
      [...this.#waiting],
      ([client, items]) => -(this.#refusalsOf(client) + items.length),
    );
    const chosen = candidates[Math.floor(this.#random() * candidates.length)];
    if (chosen === undefined) return undefined;
    const [client, items] = chosen;
    const item = items.pop();
    this.#size -= 1;
    if (items.length === 0) this.#waiting.delete(client);
    return item;
  }
}

/** The values with the lowest measure, in order. */
function leastBy<Value>(values: readonly Value[], measure: (value: Value) => number): readonly Value[] {
  const measured = values.map((value) => ({ value, amount: measure(value) }));
  const least = Math.min(...measured.map(({ amount }) => amount));
  return measured.filter(({ amount }) => amount === least).map(({ value }) => value);
}
