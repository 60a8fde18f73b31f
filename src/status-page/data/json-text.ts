/** Items per block of text: few enough that a block of the most expensive items takes less than a millisecond. */
const BLOCK_ITEMS = 16;

/** The items in blocks, each a bounded piece of work. */
export function* blocksOf<Item>(items: readonly Item[]): Generator<readonly Item[], void, void> {
  for (let at = 0; at < items.length; at += BLOCK_ITEMS) yield items.slice(at, at + BLOCK_ITEMS);
}

/** The values of these items as a JSON array, in blocks of text; undefined becomes null. */
export function* arrayText<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => unknown,
): Generator<string, void, void> {
  let before = '[';
  for (const block of blocksOf(items)) {
    yield before + JSON.stringify(Array.from(block, valueOf)).slice(1, -1);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** A JSON array whose items are given as blocks of text. */
export function* joined(items: readonly Iterable<string>[]): Generator<string, void, void> {
  let before = '[';
  for (const item of items) {
    yield before;
    yield* item;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
