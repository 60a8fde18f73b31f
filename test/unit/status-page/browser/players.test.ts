import { expect, test } from 'vitest';
import { totalPlayers } from '../../../../src/status-page/browser/players.ts';

test('players of a proxy are on other servers, and counted there', () => {
  const players = [{ players: 5 }, { players: 7, proxy: true as const }, { players: 2 }, {}].map((server) =>
    Object.assign({ players: undefined, proxy: undefined }, server),
  );
  expect(totalPlayers(players)).toBe(7);
  expect(totalPlayers(players.slice(3))).toBeUndefined();
});
