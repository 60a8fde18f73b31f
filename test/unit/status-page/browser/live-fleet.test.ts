import { expect, test } from 'vitest';
import { countPlayers } from '../../../../src/status-page/browser/live-fleet.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { serverReading, staleReading, streamingReading } from '../../../support/readings.ts';

test('players of a proxy are on other servers, and counted there', () => {
  const players = [{ players: 5 }, { players: 7, proxy: true as const }, { players: 2 }, {}].map((server) =>
    Object.assign({ players: undefined, proxy: undefined }, server),
  );
  expect(countPlayers(players)).toBe(7);
  expect(countPlayers(players.slice(3))).toBeUndefined();
});

test('servers are counted once by each trait: panel, state, condition, and the problem with its group', () => {
  const off = streamingReading({ state: 'offline', start_time_seconds: undefined });
  const { counts } = shownFleet([streamingReading(), off, staleReading(), serverReading()]);
  expect(Object.fromEntries(counts)).toMatchObject({
    'panel:main': 4,
    'state:running': 1,
    'state:offline': 1,
    'state:unknown': 2,
    'condition:streaming': 3,
    'attention:any': 2,
    'attention:off': 1,
    'verdict:down': 1,
    'verdict:no_data': 1,
    'data:unread': 1,
  });
});
