// The numbers of players, on one server and on all.
import type { LiveServer } from '../data/live-fields.ts';

/** Players online and the maximum, such as 12/40; undefined if unknown. */
export function playerText({ players, players_max: most }: LiveServer): string | undefined {
  if (players === undefined) return undefined;
  return most === undefined ? String(players) : `${players}/${most}`;
}

/**
 * The number of players on all servers; undefined if none is known. Players of a proxy aren't
 * counted, because they are on other servers as well.
 */
export function totalPlayers(servers: readonly Pick<LiveServer, 'players' | 'proxy'>[]): number | undefined {
  const known = servers.flatMap(({ players, proxy }) => (proxy === true ? [] : (players ?? [])));
  return known.length === 0 ? undefined : known.reduce((sum, players) => sum + players, 0);
}
