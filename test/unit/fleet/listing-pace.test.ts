import { expect, it } from 'vitest';
import { listingPace } from '../../../src/fleet/listing-pace.ts';

const facts = { isDiscovering: false, limitPerMinute: 240, configured: 10, pages: 1 };
const discovering = { ...facts, isDiscovering: true };

it.each([
  ['as often as configured', 300_000, facts, 300_000, 60_000],
  ['at most once a minute and page, if it only adds facts', 30_000, { ...facts, pages: 4 }, 120_000, 120_000],
  [
    'as often as the pages of the configured servers need',
    60_000,
    { ...facts, configured: 400 },
    60_000,
    60_000,
  ],
  [
    'with a tenth of the calls, if servers are discovered',
    30_000,
    { ...discovering, pages: 24 },
    60_000,
    60_000,
  ],
  ['again sooner after a failure', 600_000, { ...discovering, pages: 24 }, 600_000, 60_000],
  ['before the first walk as if it had one page', 30_000, { ...discovering, pages: 0 }, 30_000, 30_000],
])('the server list is read %s', (_, configuredMs, load, intervalMs, repeatMs) => {
  expect(listingPace(configuredMs, load)).toEqual({ intervalMs, repeatMs });
});
