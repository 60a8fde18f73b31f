/** Numbers of players as a protocol gave them: anything at all. */
export interface PlayerCounts {
  readonly players: unknown;
  readonly maxPlayers: unknown;
}

/** Protocols count with 32 bits at most. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined for what is none. Some protocols give numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/** How many may play at once; undefined for what is no limit. Servers say 0, -1 or something huge where they have none. */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}
