// How many people play, on one server or all.
import type { LiveServer } from '../data/live-fields.ts';

/** Players online and the maximum, such as 12/40; undefined if unknown. */
export function playerText({ players, players_max: most }: LiveServer): string | undefined {
  if (players === undefined) return undefined;
  return most === undefined ? String(players) : `${players}/${most}`;
}

/**
 * The players of all servers, each once: those of a proxy are on other servers. Undefined if none
 * are known.
 */
export function countPlayers(servers: readonly Pick<LiveServer, 'players' | 'proxy'>[]): number | undefined {
  const known = servers.flatMap(({ players, proxy }) => (proxy === true ? [] : (players ?? [])));
  return known.length === 0 ? undefined : known.reduce((sum, players) => sum + players, 0);
}
