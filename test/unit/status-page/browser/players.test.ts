import { expect, test } from 'vitest';
import { countPlayers } from '../../../../src/status-page/browser/players.ts';

test('players of a proxy are on other servers, and counted there', () => {
  const players = [{ players: 5 }, { players: 7, proxy: true as const }, { players: 2 }, {}].map((server) =>
    Object.assign({ players: undefined, proxy: undefined }, server),
  );
  expect(countPlayers(players)).toBe(7);
  expect(countPlayers(players.slice(3))).toBeUndefined();
});
