import { expect, test } from 'vitest';
import { liveTitle, lostTitle } from '../../../../src/status-page/browser/tab-title.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { serverReading, streamingReading } from '../../../support/readings.ts';

test('a server of which it is not known whether it should run is counted, but not as a problem', () => {
  const unclear = streamingReading({
    state: 'offline',
    start_time_seconds: undefined,
    expected_running: undefined,
  });
  const fleet = shownFleet([unclear, streamingReading()]);
  expect(fleet.counts.get('verdict:unclear')).toBe(1);
  expect(fleet.counts.has('attention:any')).toBe(false);
  expect(liveTitle(fleet)).toBe('1/2 running, 1 off, not known whether it should run · Game servers');
  expect(liveTitle(shownFleet([unclear, unclear]))).toBe(
    '0/2 running, 2 off, not known whether they should run · Game servers',
  );
});

test('servers that were not read yet are named, with separators between thousands', () => {
  const unread = Array.from({ length: 1_654 }, (_, at) => serverReading({ target: { id: `new-${at}` } }));
  const fleet = shownFleet([...Array.from({ length: 346 }, () => streamingReading()), ...unread]);
  expect(liveTitle(fleet)).toBe('346/2,000 running, 1,654 not read yet · Game servers');
});

test('without a connection, the title has no counts', () => {
  expect(lostTitle('15:46')).toBe('No connection since 15:46 · Game servers');
});
