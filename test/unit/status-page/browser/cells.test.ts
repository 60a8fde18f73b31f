import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  describePlace,
  networkCell,
  problemCell,
  serverCell,
  stateCell,
} from '../../../../src/status-page/browser/cells.tsx';
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, serverReading, streamingReading } from '../../../support/readings.ts';
import { crash, NOW } from '../../../support/urgent-fleet.ts';
import { drawPart, textOf } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A cell of a running server that streams, with changes. */
function cell(draw: typeof problemCell | typeof networkCell, changes: ServerReadingChanges = {}) {
  const fleet = shownFleet([streamingReading(changes)]);
  const [server] = fleet.servers;
  return server && draw(server, fleet);
}

const UNKNOWN = { state: 'unknown', collection_up: 0 } as const;
const OFF = { state: 'offline', expected_running: 1 } as const;

describe('the cell of the name', () => {
  it.each<[string, ServerReadingChanges, string]>([
    ['has the name alone', {}, 'survival'],
    ['has the egg', { target: { egg: 'Paper' } }, 'survivalPaper'],
    ['has the players for small screens', { players: 3, players_max: 20 }, 'survival3/20 players'],
    ['has the players before the egg', { players: 3, target: { egg: 'Paper' } }, 'survival3 players · Paper'],
  ])('%s', (_what, changes, text) => {
    expect(textOf(cell(serverCell, changes))).toBe(text);
  });

  it.each<[panels: number, nodes: number, place: string]>([
    [1, 1, 'Paper'],
    [2, 1, 'main · Paper'],
    [1, 2, 'node-0 · Paper'],
    [2, 2, 'main · node-0 · Paper'],
  ])(
    'says where the server is as far as servers of %d panels and %d nodes differ',
    (panels, nodes, place) => {
      const servers = Array.from({ length: nodes }, (_, index) =>
        streamingReading({ node: `node-${index}`, target: { egg: 'Paper' } }),
      );
      const fleet = shownFleet(servers);
      const status = { ...fleet.status, panels: Array.from({ length: panels }) } as typeof fleet.status;
      const [server] = fleet.servers;
      expect(describePlace(Object.assign(fleet, { status }), server ?? {})).toBe(place);
    },
  );
});

describe('the cell of the state', () => {
  it.each<[string, ServerReadingChanges, string, string]>([
    ['of a server that is well', {}, 'running', 'running'],
    ['of a polled server', { condition: 'polling' }, 'runningpolled', 'running'],
    [
      'of a polled server with an old sample',
      { condition: 'polling', sample_age_seconds: 20, last_sample_timestamp_seconds: NOW - 20 },
      'runningpolled · 20 s',
      'running',
    ],
    [
      'of a server that fails, which its problem says',
      { ...UNKNOWN, condition: 'failing', problem: { cause: 'timeout', detail: '' } },
      'no data',
      'down',
    ],
    [
      'of a server that is blocked',
      { ...UNKNOWN, condition: 'blocked', blocked: 'suspended', problem: { cause: 'suspended', detail: '' } },
      'no datasuspended',
      'unknown',
    ],
    ['of a server that is down', OFF, 'offline', 'down'],
    ['of a server that may be off', { ...OFF, expected_running: 0 }, 'offline', 'offline'],
    ['of a state that the exporter does not know', { state: 'unknown' }, 'unknown state', 'unknown'],
  ])('%s', (_what, changes, text, badge) => {
    const drawn = drawPart(cell(stateCell, changes));
    expect([drawn.textContent, drawn.querySelector('.badge')?.getAttribute('data-state')]).toEqual([
      text,
      badge,
    ]);
  });

  it('of a server of which nothing was read yet', () => {
    const fleet = shownFleet([serverReading({ condition: 'waiting' })]);
    const [server] = fleet.servers;
    expect(server && textOf(stateCell(server, fleet))).toBe('not read yetwaiting');
  });
});

describe('the cell of the problem', () => {
  it.each<[string, ServerReadingChanges, RegExp]>([
    ['is empty without one', {}, /^$/],
    [
      'has what it is, since when, and what to do',
      { ...OFF, state_changed_timestamp_seconds: NOW - 600, last_stop: crash(600, 1), off_reason: 'crashed' },
      /^Crashed, exit code 110 min agoCheck its console/,
    ],
    [
      'has since when there is no data',
      {
        ...UNKNOWN,
        condition: 'failing',
        problem: { cause: 'timeout', detail: '' },
        last_sample_timestamp_seconds: NOW - 300,
        sample_age_seconds: 300,
      },
      /no data for 5 min/,
    ],
    [
      'has the last crash of a server with a problem that began at no known time',
      { disk_usage_bytes: 1, disk_limit_bytes: 1, unwanted_stops: [crash(60, 1)] },
      /^Disk 100 % fullcrashed 60 s ago/,
    ],
    [
      'has the last crash of a server that runs again',
      { unwanted_stops: [crash(60, 1)] },
      /^Crashed, exit code 160 s ago$/,
    ],
  ])('%s', (_what, changes, text) => {
    expect(textOf(cell(problemCell, changes))).toMatch(text);
  });

  it('shows the names of settings as code', () => {
    const drawn = drawPart(cell(problemCell, OFF));
    expect(drawn.querySelector('.action code')?.textContent).toBe('expect: any');
    expect(drawn.querySelector('.what')?.getAttribute('data-severity')).toBe('error');
  });
});

describe('the cell of the network', () => {
  const rates = { network_receive_bytes_per_second: 2_048, network_transmit_bytes_per_second: 100 };

  it.each<[string, ServerReadingChanges, string]>([
    ['has both rates', rates, '↓ 2.0 KiB/s↑ 100 B/s'],
    ['has what is known', { ...rates, network_transmit_bytes_per_second: undefined }, '↓ 2.0 KiB/s↑ 0 B/s'],
    ['is a dash without rates', {}, '–'],
    ['is a dash while the server is off', { ...rates, state: 'offline' }, '–'],
  ])('%s', (_what, changes, text) => {
    expect(textOf(cell(networkCell, changes))).toBe(text);
  });
});
