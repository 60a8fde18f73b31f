// Splits work on all servers into bounded blocks.

/** Items per block. Even with the most expensive items, a block takes less than a millisecond. */
const BLOCK_ITEMS = 16;

/** The items in blocks. */
function* split<Item>(items: readonly Item[]): Generator<readonly Item[], void, void> {
  for (let at = 0; at < items.length; at += BLOCK_ITEMS) yield items.slice(at, at + BLOCK_ITEMS);
}

/** The result for each item. Yields an empty block of text after every few items. */
export function* inBlocks<Item, Result>(
  items: readonly Item[],
  resultOf: (item: Item, index: number) => Result,
): Generator<'', readonly Result[], void> {
  const results: Result[] = [];
  for (const block of split(items)) {
    for (const item of block) results.push(resultOf(item, results.length));
    yield '';
  }
  return results;
}

/** The values of these items as a JSON array, in blocks of text. Undefined becomes null. */
export function* arrayText<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => unknown,
): Generator<string, void, void> {
  let before = '[';
  for (const block of split(items)) {
    yield before + JSON.stringify(Array.from(block, valueOf)).slice(1, -1);
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
