import { expect, it } from 'vitest';
import { ListingLog } from '../../../src/fleet/listing-log.ts';
import { NEVER_READ } from '../../../src/fleet/listing-state.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { collectingLogger } from '../../support/logger.ts';
import { target } from '../../support/targets.ts';

const COMPLETE = { servers: [], unreadable: new Set<string>(), complete: true, pages: 1, problem: undefined };
const failure = (cause: 'panel_error' | 'key_refused') =>
  new PanelError({ cause, detail: 'GET /api/client failed' }, { status: 500 });
const seen = {
  configured: [],
  before: NEVER_READ,
  after: NEVER_READ,
  isDiscovering: false,
  isRefused: false,
};

function log(health: 'up' | 'down' = 'up') {
  const { lines, ...logger } = collectingLogger();
  return { lines, listing: new ListingLog({ panel: 'main', log: logger, gateway: { health } }) };
}

it('walks that fail again and again are one warning, and their end is logged', () => {
  const { lines, listing } = log();
  for (const problem of [failure('panel_error'), failure('panel_error'), undefined, undefined])
    listing.walked({ ...COMPLETE, complete: problem === undefined, problem }, seen);
  expect(lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    'warn panel main: server list unavailable: no servers known yet; last error: GET /api/client failed',
    'debug panel main: server list unavailable: no servers known yet; last error: GET /api/client failed',
    'info panel main: server list available again',
  ]);
});

it('what the panel itself reports is not logged of its list as well', () => {
  const { lines, listing } = log('down');
  listing.walked({ ...COMPLETE, complete: false, problem: failure('key_refused') }, seen);
  expect(lines).toEqual([]);
});

it('the first complete walk shows which configured servers the list lacks', () => {
  const { lines, listing } = log();
  const configured = [target({ name: 'survival' })];
  listing.walked(COMPLETE, { ...seen, configured });
  listing.walked(COMPLETE, { ...seen, configured, before: { ...NEVER_READ, completeAt: 0 } });
  expect(lines.map(({ level, message }) => [level, message.slice(0, 41)])).toEqual([
    ['warn', 'panel main: 1 of 1 configured servers are'],
  ]);
});
