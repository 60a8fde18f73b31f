import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import {
  GROUPED_FROM,
  isGroup,
  linesOf,
  order,
  playersOf,
  readView,
  SORT_KEYS,
  titleOf,
  type View,
  waysOf,
  writeView,
} from '../../../../src/status-page/browser/live-fleet.ts';
import { shownFleet } from '../../../support/page-data.ts';
import {
  type ServerReadingChanges,
  serverReading,
  staleReading,
  streamingReading,
} from '../../../support/readings.ts';

test('players of a proxy are on other servers, and counted there', () => {
  const players = [{ players: 5 }, { players: 7, proxy: true as const }, { players: 2 }, {}].map((server) =>
    Object.assign({ players: undefined, proxy: undefined }, server),
  );
  expect(playersOf(players)).toBe(7);
  expect(playersOf(players.slice(3))).toBeUndefined();
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
    'attention:down': 1,
    'attention:no_data': 1,
  });
});

test('a server of which it is not known whether it should run is counted, but not as a problem', () => {
  const unclear = streamingReading({
    state: 'offline',
    start_time_seconds: undefined,
    expected_running: undefined,
  });
  const fleet = shownFleet([unclear, streamingReading()]);
  expect(fleet.counts.get('attention:unclear')).toBe(1);
  expect(fleet.counts.has('attention:any')).toBe(false);
  expect(titleOf(fleet)).toBe('1/2 running, 1 off, not known whether it should run · Game servers');
  expect(titleOf(shownFleet([unclear, unclear]))).toBe(
    '0/2 running, 2 off, not known whether they should run · Game servers',
  );
});

const NONE: View = { q: '', show: '', sort: '', open: '' };

describe('the view in the URL', () => {
  it.each<[string, Partial<View>]>([
    ['', {}],
    ['?q=valheim+1', { q: 'valheim 1' }],
    ['?show=attention%3Aany', { show: 'attention:any' }],
    ['?show=panel%3Aa%3Ab', { show: 'panel:a:b' }],
    ['?sort=cpu', { sort: 'cpu' }],
    ['?sort=-cpu', { sort: '-cpu' }],
    ['?open=main%2F1a7ce997', { open: 'main/1a7ce997' }],
  ])('is read from and written to %s', (query, view) => {
    expect(readView(query)).toEqual({ ...NONE, ...view });
    expect(writeView({ ...NONE, ...view }, '')).toBe(query);
  });

  it.each(['?show=nothing', '?show=state%3A', '?sort=beauty', '?sort=', '?open=', '?what=ever'])(
    'ignores %s',
    (query) => expect(readView(query)).toEqual(NONE),
  );

  it('keeps other parameters', () => {
    expect(writeView({ ...NONE, q: 'a' }, '?token=x&sort=cpu')).toBe('?token=x&q=a');
  });

  it('is read back as it was written', () => {
    const text = fc.string({ unit: 'grapheme' });
    const kind = fc.constantFrom('attention', 'state', 'condition', 'panel');
    const word = fc.string({ minLength: 1, unit: 'grapheme' });
    const show = fc.tuple(kind, word).map((parts) => parts.join(':'));
    const view = fc.record<View>({
      q: text,
      show: fc.oneof(fc.constant(''), show),
      sort: fc.constantFrom('', ...SORT_KEYS.flatMap((key) => [key, `-${key}`])),
      open: text,
    });
    fc.assert(
      fc.property(view, (view) => {
        expect(readView(writeView(view, ''))).toEqual(view);
      }),
    );
  });
});

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

  it('are one for a problem of their own on all panels, unless what to do differs', () => {
    const off = (panel: string, reason: 'requested' | 'exited') =>
      Array.from({ length: MANY }, (_, at) =>
        named(`${panel}-${reason}-${at}`, 0, {
          state: 'offline',
          start_time_seconds: undefined,
          expected_running: 1,
          last_stop: { timestamp_seconds: 1_699_911_000, reason },
          target: { panel },
        }),
      );
    const readings = [...off('a', 'requested'), ...off('b', 'requested'), ...off('b', 'exited')];
    expect(shown(readings)).toEqual([2 * MANY, MANY]);
  });

  it('are one for servers of which it is not known whether they should run', () => {
    const unclear = Array.from({ length: MANY }, (_, at) =>
      named(`spare-${at}`, 0, {
        state: 'offline',
        start_time_seconds: undefined,
        expected_running: undefined,
      }),
    );
    expect(shown([...unclear, named('lobby', 1)])).toEqual([MANY, 'lobby']);
  });

  it('are not together if there are few, and never if nothing is wrong', () => {
    expect(shown(lost(MANY - 1, 'node_connection', 'n1'))).toHaveLength(MANY - 1);
    const fine = Array.from({ length: MANY }, (_, at) => named(`lobby-${at}`, 1));
    expect(shown(fine)).toHaveLength(MANY);
  });
});
