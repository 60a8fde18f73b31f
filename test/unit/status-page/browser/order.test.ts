import { describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import {
  GROUPED_FROM,
  isGroup,
  linesOf,
  order,
  SORT_KEYS,
  type View,
  waysOf,
} from '../../../../src/status-page/browser/view.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, serverReading, streamingReading } from '../../../support/readings.ts';

const ALL: Omit<View, 'open'> = { q: '', show: '', sort: '' };

const named = (name: string, cpu_usage_cores: number | undefined, changes: ServerReadingChanges = {}) =>
  streamingReading({ cpu_usage_cores, ...changes, target: { id: name, name, ...changes.target } });

const ARENA = '1a7ce997-259b-452e-8b4e-cecc464142ca';

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
const fleet = shownFleet(servers);
const names = (changes: Partial<View>) => order(fleet, { ...ALL, ...changes }).map(({ server }) => server);

describe('the order', () => {
  it('begins with servers that have problems, those that are counted first, followed by the order of the configuration', () => {
    expect(names({})).toEqual(['arena', 'Broken', 'lobby-10', 'lobby-2']);
  });

  it('continues with servers that crashed in the last hour', () => {
    const unwanted_stops = [{ timestamp_seconds: 1_700_000_900, reason: 'crashed' }] as const;
    const crashed = shownFleet([
      named('calm', 1),
      named('restarted', 1, { unwanted_stops }),
      ...servers.slice(2),
    ]);
    expect(order(crashed, ALL).map(({ server }) => server)).toEqual(['arena', 'Broken', 'restarted', 'calm']);
  });

  it.each([
    ['name', false, ['arena', 'Broken', 'lobby-2', 'lobby-10']],
    ['name', true, ['lobby-10', 'lobby-2', 'Broken', 'arena']],
    ['cpu', true, ['lobby-2', 'Broken', 'lobby-10', 'arena']],
    ['cpu', false, ['lobby-10', 'Broken', 'lobby-2', 'arena']],
    ['state', false, ['arena', 'lobby-10', 'lobby-2', 'Broken']],
    ['node', false, ['lobby-2', 'lobby-10', 'arena', 'Broken']],
    ['uptime', false, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
  ] as const)('is by %s, descending %s', (key, isDescending, expected) => {
    expect(names({ sort: isDescending ? `-${key}` : key })).toEqual(expected);
  });

  it('begins with the highest numbers, and otherwise with the first', () => {
    expect([waysOf('cpu'), waysOf('uptime'), waysOf('name')]).toEqual([
      ['-cpu', 'cpu'],
      ['-uptime', 'uptime'],
      ['name', '-name'],
    ]);
  });

  it('has a comparison for every sort key', () => {
    for (const key of SORT_KEYS) {
      expect(names({ sort: `-${key}` })).toHaveLength(4);
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
  ])('contains the matches of %s', (search, expected) => expect(names({ q: search })).toEqual(expected));

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
    expect(names({ show: `${kind}:${word}` })).toEqual(expected);
  });
});

describe('lines of the table', () => {
  /** Servers that have this cause on this node, without data. */
  const lost = (count: number, cause: 'node_connection' | 'node_timeout' | 'closed_for_good', node: string) =>
    Array.from({ length: count }, (_, at) =>
      serverReading({
        condition: 'failing',
        problem: { cause, detail: `attempt ${at}` },
        target: { id: `${node}-${cause}-${at}`, name: `${node} ${at}`, node },
      }),
    );
  const MANY = GROUPED_FROM;
  /** The sizes of groups, and the names of servers, with these groups open. */
  const shown = (readings: readonly ServerReading[], isOpen = false) =>
    linesOf(order(shownFleet(readings), ALL), () => isOpen).map((line) =>
      isGroup(line) ? line.servers.length : line.server,
    );

  it('are one for all servers of a dead node, however its failure shows', () => {
    const dead = [...lost(199, 'node_connection', 'n1'), ...lost(3, 'node_timeout', 'n1')];
    expect(shown([...dead, named('lobby', 1)])).toEqual([202, 'lobby']);
    expect(shown([...dead, named('lobby', 1)], true)).toHaveLength(204);
  });

  it('are others for other nodes and other causes', () => {
    const readings = [
      ...lost(MANY, 'node_connection', 'n1'),
      ...lost(MANY + 1, 'node_connection', 'n2'),
      ...lost(MANY + 2, 'closed_for_good', 'n1'),
    ];
    expect(shown(readings)).toEqual([MANY, MANY + 1, MANY + 2]);
  });

  it('are not together if there are few, and never if nothing is wrong', () => {
    expect(shown(lost(MANY - 1, 'node_connection', 'n1'))).toHaveLength(MANY - 1);
    const fine = Array.from({ length: MANY }, (_, at) => named(`lobby-${at}`, 1));
    expect(shown(fine)).toHaveLength(MANY);
  });
});
