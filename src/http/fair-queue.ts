/** How much may wait. */
export interface QueueBounds {
  readonly total: number;
  readonly perClient: number;
}

interface FairQueueOptions {
  readonly bounds: QueueBounds;
  /** How often a client was refused lately; never where absent. */
  readonly refusalsOf?: (client: string) => number;
  readonly random?: () => number;
}

/**
 * What clients wait for, each client in its turn, those first that were refused least: a newcomer doesn't wait for a flood. The queue
 * is bounded: when it is full, the client with the most refusals and waiting items gives way, a random one among equals.
 */
export class FairQueue<Item> {
  readonly #bounds: QueueBounds;
  readonly #refusalsOf: (client: string) => number;
  readonly #random: () => number;
  /** In the order of their turns; none is without items. */
  readonly #waiting = new Map<string, Item[]>();
  #size = 0;

  constructor({ bounds, refusalsOf = () => 0, random = Math.random }: FairQueueOptions) {
    this.#bounds = bounds;
    this.#refusalsOf = refusalsOf;
    this.#random = random;
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

  /** The item whose turn it is; undefined if none waits. */
  next(): Item | undefined {
    const [client] = leastBy([...this.#waiting.keys()], this.#refusalsOf);
    if (client === undefined) return undefined;
    const items = this.#waiting.get(client) ?? [];
    const item = items.shift();
    this.#size -= 1;
    // Taken out and put back, so that the client goes to the end.
    this.#waiting.delete(client);
    if (items.length > 0) this.#waiting.set(client, items);
    return item;
  }

  // If the newest gave way among equals, a flood that came first would keep every newcomer out.
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

/** Those for which the measure is least, in their order. */
function leastBy<Value>(values: readonly Value[], measure: (value: Value) => number): readonly Value[] {
  const measured = values.map((value) => ({ value, amount: measure(value) }));
  const least = Math.min(...measured.map(({ amount }) => amount));
  return measured.filter(({ amount }) => amount === least).map(({ value }) => value);
}
