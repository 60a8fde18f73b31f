/** Protocols use at most 32 bits for counts. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined if it isn't one. Some protocols return numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/** The maximum number of players; undefined if it isn't a limit. Servers without one report 0, -1 or something huge. */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}
