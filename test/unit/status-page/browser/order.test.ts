import { describe, expect, it } from 'vitest';
import { LiveFleet } from '../../../../src/status-page/browser/live-fleet.ts';
import { order, SORT_KEYS } from '../../../../src/status-page/browser/order.ts';
import type { ServerSelection } from '../../../../src/status-page/browser/view.ts';
import { LiveEncoder } from '../../../../src/status-page/data/live-encoder.ts';
import type { Full } from '../../../../src/status-page/data/protocol.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { READ_AT, type ServerReadingChanges, streamingReading } from '../../../support/readings.ts';

const ALL: ServerSelection = { search: '', filter: undefined, sorting: undefined };

const named = (name: string, cpu_usage_cores: number | undefined, changes: ServerReadingChanges = {}) =>
  streamingReading({ cpu_usage_cores, ...changes, target: { id: name, name, ...changes.target } });

const ARENA = '1a7ce997-259b-452e-8b4e-cecc464142ca';

const clock = new ManualClock();
const servers = [
  named('lobby-10', 1),
  named('lobby-2', 3, { target: { node: 'berlin', labels: { game: 'minecraft' } } }),
  named('arena', undefined, {
    state: 'offline',
    start_time_seconds: undefined,
    starts_total: 1,
    last_stop: { timestamp_seconds: 1_699_911_000, reason: 'crashed', exit_code: 137 },
    target: { uuid: ARENA },
  }),
  named('Broken', 2, {
    starts_total: 9,
    start_time_seconds: 1_700_000_995,
    condition: 'failing',
    problem: { cause: 'node_dns', detail: 'the node could not be reached' },
  }),
];
const text = [...new LiveEncoder(servers, '1', clock).full({ servers, panels: [], now: READ_AT })].join('');
const fleet = new LiveFleet(JSON.parse(text) as Full);
const names = (changes: Partial<ServerSelection>) =>
  order(fleet, { ...ALL, ...changes }).map(({ server }) => server);

describe('the order', () => {
  it('begins with servers that have problems, those that are counted first, followed by the order of the configuration', () => {
    expect(names({})).toEqual(['arena', 'Broken', 'lobby-10', 'lobby-2']);
  });

  it.each([
    ['name', false, ['arena', 'Broken', 'lobby-2', 'lobby-10']],
    ['name', true, ['lobby-10', 'lobby-2', 'Broken', 'arena']],
    ['cpu', true, ['lobby-2', 'Broken', 'lobby-10', 'arena']],
    ['cpu', false, ['lobby-10', 'Broken', 'lobby-2', 'arena']],
    ['state', false, ['arena', 'lobby-10', 'lobby-2', 'Broken']],
    ['trouble', false, ['Broken', 'arena', 'lobby-10', 'lobby-2']],
    ['node', false, ['lobby-2', 'lobby-10', 'arena', 'Broken']],
    ['labels', false, ['lobby-2', 'lobby-10', 'arena', 'Broken']],
    ['condition', true, ['lobby-10', 'lobby-2', 'arena', 'Broken']],
    ['starts', true, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
    ['uptime', false, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
  ] as const)('is by %s, descending %s', (key, isDescending, expected) => {
    expect(names({ sorting: { key, isDescending } })).toEqual(expected);
  });

  it('has a comparison for every sort key', () => {
    for (const key of SORT_KEYS) {
      expect(names({ sorting: { key, isDescending: true } })).toHaveLength(4);
    }
  });

  it.each([
    ['LOBBY', ['lobby-10', 'lobby-2']],
    ['berlin', ['lobby-2']],
    ['game=mine lobby', ['lobby-2']],
    [ARENA.slice(9), ['arena']],
    ['reached', ['Broken']],
    ['node_dns', ['Broken']],
    ['resolved', ['Broken']],
    ['failing', ['Broken']],
    // The text of the row, and the text that the page shows instead of a code.
    ['fix DNS on this machine', ['Broken']],
    ['but expected to run', ['arena']],
    ['start it', ['arena']],
    ['exit code 137', ['arena']],
    ['nobody', []],
  ])('contains the matches of %s', (search, expected) => expect(names({ search })).toEqual(expected));

  it.each([
    ['attention', 'any', ['arena']],
    ['attention', 'off', ['arena']],
    ['attention', 'down', ['arena']],
    ['attention', 'warning', []],
    ['attention', 'no_data', []],
    ['attention', 'crashed', []],
    ['state', 'offline', ['arena']],
    ['condition', 'failing', ['Broken']],
    ['panel', 'main', ['arena', 'Broken', 'lobby-10', 'lobby-2']],
    ['panel', 'other', []],
  ] as const)('contains only servers with %s %s', (kind, word, expected) => {
    expect(names({ filter: { kind, word } })).toEqual(expected);
  });
});
