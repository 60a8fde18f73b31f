// Validates the numbers of players in a game's response.

import { type Answer, QueryError } from './query-model.ts';

export function countPlayers({ players, bots: given, maxPlayers, isHidden = false }: Counts): Answer {
  if (isHidden) return {};
  const count = toCount(players);
  const bots = toCount(given);
  const limit = toLimit(maxPlayers);
  if (count === undefined) throw new QueryError('the response contains no player count');
  // Some servers don't count bots as players.
  const people = bots === undefined || bots > count ? count : count - bots;
  return {
    players: people,
    ...(bots !== undefined && { bots }),
    ...(limit !== undefined && { players_max: limit }),
  };
}

/** The maximum count: protocols use at most 32 bits. */
const MAX_COUNT = 2 ** 31 - 1;

/** A number of players; undefined if the value isn't one. Some protocols return numbers as text. */
export function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return undefined;
  return number >= 0 && number <= MAX_COUNT ? number : undefined;
}

/**
 * The maximum number of players; undefined if the value isn't a limit. Servers without a limit
 * report 0, -1 or a huge number.
 */
export function toLimit(value: unknown): number | undefined {
  const count = toCount(value);
  return count === 0 || count === MAX_COUNT ? undefined : count;
}

/** Numbers of players as returned by a protocol, of any type. */
export interface Counts {
  /** Includes the bots if their number is known. */
  readonly players?: unknown;
  readonly bots?: unknown;
  readonly maxPlayers?: unknown;
  /** Whether the server responded but hides its players. */
  readonly isHidden?: boolean;
}
