import { expect, test } from 'vitest';
import { playersOf } from '../../../../src/status-page/browser/live-fleet.ts';

test('players of a proxy are on other servers, and counted there', () => {
  const players = [{ players: 5 }, { players: 7, proxy: true as const }, { players: 2 }, {}].map((server) =>
    Object.assign({ players: undefined, proxy: undefined }, server),
  );
  expect(playersOf(players)).toBe(7);
  expect(playersOf(players.slice(3))).toBeUndefined();
});
