import { expect, test } from 'vitest';
import { shownFleet } from '../../../support/page-data.ts';
import { serverReading, staleReading, streamingReading } from '../../../support/readings.ts';

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
