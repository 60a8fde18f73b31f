// The memory of a function that finds the same for the same text.

/** More addresses or sites than any panel has. When the limit is reached, all are forgotten. */
const MAX_KEYS = 1_000;

/**
 * The function with a memory: it is called once for all texts with the same key, and each time for
 * a text without a key.
 */
export function remembered<Found>(
  find: (text: string) => Found,
  keyFor: (text: string) => string | undefined,
): (text: string) => Found {
  const found = new Map<string, Found>();
  return (text) => {
    const key = keyFor(text);
    if (key === undefined) return find(text);
    const known = found.get(key);
    if (known !== undefined || found.has(key)) return known as Found;
    const value = find(text);
    if (found.size === MAX_KEYS) found.clear();
    found.set(key, value);
    return value;
  };
}
