import { describe, expect, test } from 'vitest';
import { TAKEN_LABELS } from '../../../src/config/server-schema.ts';
import { SERVER_STATES } from '../../../src/domain/power-states.ts';
import type { ServerReading } from '../../../src/domain/reading.ts';
import { BLOCKED_REASONS, type ServerTarget } from '../../../src/domain/server.ts';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { STOP_REASONS } from '../../../src/domain/stops.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { renderFleet } from '../../../src/metrics/exposition.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { readText } from '../../support/deploy-files.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { renderMetricTables } from '../../support/metric-tables.ts';
import {
  FULL_SAMPLE,
  fleetReading,
  type Observed,
  observedRecord,
  panelReading,
  READ_AT,
  streamingReading,
} from '../../support/readings.ts';
import { SELF_FAMILIES } from '../../support/self-families.ts';

const clock = new ManualClock();

/**
 * The series of one server as `name{own labels} value`, without the labels that all of its series
 * have.
 */
function seriesOf(server: ServerReading): string[] {
  const text = [...renderFleet(fleetReading([server], []), clock)].join('');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      expect(line).toContain('{panel="main",server="survival",server_id="1a7ce997"');
      return line
        .replace(/\{panel="main",server="survival",server_id="1a7ce997",?/, '{')
        .replace('{}', '')
        .replace(/^gameserver_/, '');
    });
}

/** The series of a real record. */
const series = (observed: Observed) => seriesOf(observedRecord(observed));

const state = (current: string) =>
  SERVER_STATES.map((name) => `state{state="${name}"} ${name === current ? 1 : 0}`);

const stopped = (...counts: readonly number[]) =>
  STOP_REASONS.map((reason, index) => `stops_total{reason="${reason}"} ${counts[index]}`);

const LIMITS = { memoryBytes: 8_589_934_592, diskBytes: 53_687_091_200, cpuCores: 4 };

/** A record without any sample. */
function unsampled(status?: CollectionStatus, target: Partial<ServerTarget> = {}): ServerReading {
  const record = new ServerRecord({ ...streamingReading().target, ...target }, { socket: 1, poll: 1 });
  if (status !== undefined) record.setCollection(status, 'none');
  return record;
}

describe('a streaming server', () => {
  test('has every series', () => {
    const server = streamingReading({
      target: { node: 'n1', egg: 'Paper', uuid: 'u-1' },
      memory_limit_bytes: 8_589_934_592,
      cpu_limit_cores: 4,
      disk_limit_bytes: 53_687_091_200,
    });
    expect(seriesOf(server)).toEqual([
      'info{node="n1",egg="Paper",uuid="u-1"} 1',
      ...state('running'),
      'memory_usage_bytes 1073741824',
      'memory_limit_bytes 8589934592',
      'cpu_usage_cores 1.53217',
      'cpu_seconds_total 123456.789',
      'cpu_limit_cores 4',
      'disk_usage_bytes 123456789',
      'disk_limit_bytes 53687091200',
      'network_receive_bytes_total 1000',
      'network_transmit_bytes_total 2000',
      'disk_read_bytes_total 3000',
      'disk_written_bytes_total 4000',
      'start_time_seconds 1699914599.377',
      'cpu_usage_peak_cores 2.5',
      'memory_usage_peak_bytes 2147483648',
      'state_changed_timestamp_seconds 1699914605.377',
      'starts_total 2',
      ...stopped(1, 2, 3, 4, 5, 6),
      'last_stop_timestamp_seconds 1699914595',
      'last_exit_code 137',
      'automatic_restart_aborted 0',
      'running_seconds_total 80000',
      'observed_seconds_total 86400.5',
      'cpu_saturated_seconds_total 12.5',
      'memory_saturated_seconds_total 0',
      'console_lines_total 1234',
      'expected_running 1',
      'collection_up 1',
      'collection_streaming 1',
      'last_sample_timestamp_seconds 1700000999.5',
    ]);
  });

  test('has no series for values that the panel did not send', () => {
    expect(series({ sample: { state: 'running' } })).toEqual([
      'info 1',
      ...state('running'),
      'state_changed_timestamp_seconds 1700000999.5',
      'starts_total 0',
      ...stopped(0, 0, 0, 0, 0, 0),
      'automatic_restart_aborted 0',
      'running_seconds_total 0',
      'observed_seconds_total 0',
      'console_lines_total 0',
      'expected_running 1',
      'collection_up 1',
      'collection_streaming 1',
      'last_sample_timestamp_seconds 1700000999.5',
    ]);
  });

  test('keeps a value of 0 that the panel sent', () => {
    const sample = { ...FULL_SAMPLE, memoryBytes: 0, cpuCores: 0, networkReceiveBytes: 0 };
    expect(series({ sample })).toEqual(
      expect.arrayContaining(['memory_usage_bytes 0', 'cpu_usage_cores 0', 'network_receive_bytes_total 0']),
    );
  });
});

const WITHOUT_SAMPLE = [
  'info 1',
  ...state('unknown'),
  'starts_total 0',
  ...stopped(0, 0, 0, 0, 0, 0),
  'automatic_restart_aborted 0',
  'running_seconds_total 0',
  'observed_seconds_total 0',
  'console_lines_total 0',
  'expected_running 1',
  'collection_up 0',
  'collection_streaming 0',
];

test('an unknown expectation and an unknown exit code have no series', () => {
  const names = seriesOf(streamingReading({ expected_running: undefined, last_exit_code: undefined })).join(
    ' ',
  );
  expect(names).not.toMatch(/expected_running|last_exit_code/);
});

test('a server without a sample has its own counters at 0 and no timestamp', () => {
  expect(seriesOf(unsampled())).toEqual(WITHOUT_SAMPLE);
});

test("limits, peaks, start time and the panel's counters are dropped when the last sample becomes stale", () => {
  const stale = { sampledAt: READ_AT - 60_001, target: { limits: LIMITS } };
  expect(series(stale)).toEqual([
    'info 1',
    ...state('unknown'),
    'starts_total 0',
    ...stopped(0, 0, 0, 0, 0, 0),
    'automatic_restart_aborted 0',
    'running_seconds_total 0',
    'observed_seconds_total 0',
    'cpu_saturated_seconds_total 0',
    'memory_saturated_seconds_total 0',
    'console_lines_total 0',
    'expected_running 1',
    'collection_up 0',
    'collection_streaming 1',
    'last_sample_timestamp_seconds 1700000939.999',
  ]);
});

test('an offline server has values of zero and no start time', () => {
  const sample = { ...FULL_SAMPLE, state: 'offline', memoryBytes: 0, cpuCores: 0 } as const;
  const lines = series({ sample });
  expect(lines).toEqual(
    expect.arrayContaining([...state('offline'), 'memory_usage_bytes 0', 'collection_up 1']),
  );
  expect(lines.filter((line) => line.startsWith('start_time'))).toEqual([]);
});

test('a server without options has at most 40 series, with all that a panel can report about it', () => {
  const server = streamingReading({
    target: { node: 'n1', egg: 'Paper', uuid: 'u-1' },
    cpu_limit_cores: 4,
    disk_limit_bytes: 53_687_091_200,
  });
  expect(seriesOf(server)).toHaveLength(40);
});

test.each(SERVER_STATES)('exactly one state is 1: %s', (current) => {
  const lines = series({ sample: { ...FULL_SAMPLE, state: current } }).filter((line) =>
    line.startsWith('state{'),
  );
  expect(lines).toEqual(state(current));
});

test.each(BLOCKED_REASONS)('a blocked server has the reason %s', (blocked) => {
  const lines = seriesOf(unsampled({ condition: 'blocked', blocked }));
  expect(lines).toEqual([...WITHOUT_SAMPLE, `blocked{reason="${blocked}"} 1`]);
});

test('a streaming server is not blocked, whatever the server list shows', () => {
  const streams = {
    status: { condition: 'streaming' } as const,
    target: { blocked: 'maintenance' } as const,
  };
  expect(series(streams).filter((line) => line.startsWith('blocked'))).toEqual([]);
});

test('schedules of a server that the panel holds are not shown', () => {
  const schedules = { schedules: [{ id: '1', name: 'a', processing: 0 }], staleAt: Number.POSITIVE_INFINITY };
  const shown = (target: Partial<ServerTarget>) => {
    const record = observedRecord({ target });
    record.schedules = schedules;
    return seriesOf(record).filter((line) => line.startsWith('schedule_'));
  };
  expect(shown({})).toEqual(['schedule_processing{schedule="a",schedule_id="1"} 0']);
  expect(shown({ blocked: 'suspended' })).toEqual([]);
});

test('info has the same node name as gameserver_node_up', () => {
  const record = observedRecord();
  record.socketHost = 'node-1.example.com:8080';
  expect(seriesOf(record)).toContain('info{node="node-1.example.com:8080"} 1');
});

test.each([
  [
    'a successful one',
    { backup_last_success_timestamp_seconds: 1_700_000_000.5, backup_last_size_bytes: 7 },
    ['backups 3', 'backup_last_success_timestamp_seconds 1700000000.5', 'backup_last_size_bytes 7'],
  ],
  [
    'a failed one',
    { backup_last_failure_timestamp_seconds: 1_700_000_001.5 },
    ['backups 3', 'backup_last_failure_timestamp_seconds 1700000001.5'],
  ],
  ['none', { backups: 0 }, ['backups 0']],
  ['an outdated reading', { staleAt: READ_AT }, []],
])('backups: %s', (_what, changes, lines) => {
  const backups = { backups: 3, staleAt: READ_AT + 1, ...changes };
  expect(series({ backups }).filter((line) => line.startsWith('backup'))).toEqual(lines);
  const target = { withoutBackups: true } as const;
  expect(series({ backups, target }).filter((line) => line.startsWith('backup'))).toEqual([]);
});

test.each([
  ['the configuration', { memoryBytes: 1, listedMemoryBytes: 3 }, 2, ['memory_limit_bytes 1']],
  ['the node', { listedMemoryBytes: 3 }, 2, ['memory_limit_bytes 2']],
  ['the server list, if the node reports none', { listedMemoryBytes: 3 }, 0, ['memory_limit_bytes 3']],
  ['the server list, for a polled server', { listedMemoryBytes: 3 }, undefined, ['memory_limit_bytes 3']],
  ['no source, because it is unlimited', { memoryBytes: 'unlimited', listedMemoryBytes: 3 }, 2, []],
  ['no source, if the node reports none', {}, 0, []],
  ['no source, if nothing is known', {}, undefined, []],
] as const)('the memory limit comes from %s', (_who, limits, ofNode, lines) => {
  const sample = { state: 'running', ...(ofNode !== undefined && { memoryLimitBytes: ofNode }) } as const;
  const found = series({ sample, target: { limits } }).filter((line) => line.startsWith('memory_limit'));
  expect(found).toEqual(lines);
});

test('a reason left from an earlier status does not block a server', () => {
  const lines = series({ status: { condition: 'polling', blocked: 'forbidden' } });
  expect(lines.filter((line) => line.startsWith('blocked'))).toEqual([]);
});

test('unlimited disk space and CPU have no limit series', () => {
  const limits = { diskBytes: 'unlimited', cpuCores: 'unlimited' } as const;
  const lines = series({ target: { limits } });
  expect(lines.filter((line) => /^(?:disk|cpu)_limit/.test(line))).toEqual([]);
});

test.each([
  [{ node: 'n1' }, 'info{node="n1"} 1'],
  [{ isProxy: true as const }, 'info{proxy="true"} 1'],
  [{ egg: 'Paper', uuid: 'u-1' }, 'info{egg="Paper",uuid="u-1"} 1'],
])('info has only known labels: %j', (target, line) => {
  expect(series({ target })).toContain(line);
});

test("the user's labels follow the exporter's", () => {
  expect(series({ target: { labels: { game: 'minecraft', tier: 'gold' } } })).toContain(
    'memory_usage_bytes{game="minecraft",tier="gold"} 1073741824',
  );
});

test('panel_up shows whether a panel is up', () => {
  const panels = [panelReading({ name: 'main' }), panelReading({ name: 'other', up: false })];
  expect([...renderFleet(fleetReading([], panels), clock)].join('')).toContain(
    '# TYPE gameserver_panel_up gauge\n' +
      'gameserver_panel_up{panel="main"} 1\n' +
      'gameserver_panel_up{panel="other"} 0\n',
  );
});

test('a panel has one series for each cause among its problems', () => {
  const problems = [
    { cause: 'challenge_page', detail: 'GET /api/client returned 403 with a page' },
    { cause: 'rate_limited', detail: 'no calls for 30 s' },
    { cause: 'challenge_page', detail: 'GET /api/client/… returned 403 with a page' },
  ] as const;
  const panels = [panelReading({ name: 'main' }), panelReading({ name: 'other', problems })];
  expect([...renderFleet(fleetReading([], panels), clock)].join('')).toContain(
    '# TYPE gameserver_panel_problem gauge\n' +
      'gameserver_panel_problem{panel="other",cause="challenge_page"} 1\n' +
      'gameserver_panel_problem{panel="other",cause="rate_limited"} 1\n\n',
  );
});

test('problems of panels and nodes show since when, in whole seconds', () => {
  const since = clock.now() - 1_500;
  const began = Math.floor(clock.toUnixMs(since) / 1_000);
  const problem = { cause: 'node_connection', detail: '', since } as const;
  const nodes = [
    { name: 'fra-1', up: true },
    { name: 'fra-2', up: true, problem },
    { name: 'fra-3', up: true, lost: new Map([['node_timeout', 4]] as const) },
  ];
  const problems = [{ cause: 'timeout', detail: '', since }] as const;
  const panels = [panelReading({ nodes, problems }), panelReading({ name: 'other', up: false, problems })];
  const lines = [...renderFleet(fleetReading([], panels), clock)].join('').split('\n');
  expect(
    lines.filter(
      (line) =>
        /^gameserver_\w+_since_timestamp_seconds\{panel="\w+"[,}]/.test(line) && !line.includes('server='),
    ),
  ).toEqual([
    `gameserver_panel_problem_since_timestamp_seconds{panel="main",cause="timeout"} ${began}`,
    `gameserver_panel_problem_since_timestamp_seconds{panel="other",cause="timeout"} ${began}`,
    `gameserver_panel_down_since_timestamp_seconds{panel="other"} ${began}`,
    `gameserver_node_problem_since_timestamp_seconds{panel="main",node="fra-2"} ${began}`,
  ]);
  expect(lines).toContain(
    'gameserver_node_servers_without_data{panel="main",node="fra-3",cause="node_timeout"} 4',
  );
});

test('a panel has a series for each known node', () => {
  const nodes = [
    { name: 'fra-1', up: true },
    { name: 'fra-2', up: false, problem: { cause: 'node_connection', detail: 'ECONNREFUSED' } as const },
  ];
  expect([...renderFleet(fleetReading([], [panelReading({ nodes })]), clock)].join('')).toContain(
    '# TYPE gameserver_node_up gauge\n' +
      'gameserver_node_up{panel="main",node="fra-1"} 1\n' +
      'gameserver_node_up{panel="main",node="fra-2"} 0\n' +
      '\n# HELP gameserver_node_problem 1 for each active problem of the node, or of its console WebSockets while its servers are polled, by cause; absent when there is none.\n' +
      '# TYPE gameserver_node_problem gauge\n' +
      'gameserver_node_problem{panel="main",node="fra-2",cause="node_connection"} 1\n',
  );
});

test('while a panel is down, a node that works is up, and nobody knows about the others', () => {
  const problem = { cause: 'node_connection', detail: '', since: clock.now() } as const;
  const nodes = [
    { name: 'fra-1', up: true },
    { name: 'fra-2', up: false, problem },
    { name: 'fra-3', up: true, problem },
  ];
  const problems = [{ cause: 'key_refused', detail: '' }] as const;
  const text = [...renderFleet(fleetReading([], [panelReading({ up: false, nodes, problems })]), clock)];
  expect(text.join('').match(/^gameserver_node_.*$/gm)).toEqual([
    'gameserver_node_up{panel="main",node="fra-1"} 1',
    'gameserver_node_up{panel="main",node="fra-3"} 1',
  ]);
});

test('the nodes of a panel are evaluated once per scrape', () => {
  const asked: number[] = [];
  const nodes = (now: number) => {
    asked.push(now);
    return [];
  };
  const text = [...renderFleet(fleetReading([], [{ ...panelReading(), nodes }]), clock)].join('');
  expect(text).toContain('# TYPE gameserver_node_up gauge\n');
  expect(asked).toEqual([READ_AT]);
});

test('names are unique, and only counters end in _total', () => {
  const names = SERVER_FAMILIES.map((family) => family.name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, type } of SERVER_FAMILIES) {
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
  }
});

test('users cannot configure a label that the exporter uses', () => {
  const ours = ['panel', 'server', 'server_id', ...SERVER_FAMILIES.flatMap((family) => family.labels ?? [])];
  expect(TAKEN_LABELS).toEqual(expect.arrayContaining(ours));
});

describe('a queried game', () => {
  const STALE_AT = READ_AT + 10_000;
  const answered = { players: 0, players_max: 40, query_duration_seconds: 0.05, staleAt: STALE_AT };
  const ofQuery = (changes: Observed) => series(changes).filter((line) => /^(?:players|query)/.test(line));

  test('has its players, including 0, and the duration of the query', () => {
    expect(ofQuery({ query: answered })).toEqual([
      'players 0',
      'players_max 40',
      'query_up 1',
      'query_duration_seconds 0.05',
    ]);
  });

  test('has no player limit if it reports none', () => {
    expect(ofQuery({ query: { players: 3, query_duration_seconds: 0.05, staleAt: STALE_AT } })).toEqual([
      'players 3',
      'query_up 1',
      'query_duration_seconds 0.05',
    ]);
  });
});

const names = (table: string) => [...table.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);

test('each metric has a row in one of the tables, with its own labels and its help', () => {
  const table = renderMetricTables();
  expect(table).toMatch(/^### State\n\n\| metric \| labels \| meaning \|\n(?:\| --- ){3}\|\n/);
  expect(table).toContain('| `gameserver_memory_usage_bytes` |  | Memory in use, in bytes. |\n');
  expect(table).toContain('| `gameserver_info` | `node`, `egg`, `uuid`, `proxy` | ');
  expect(table).toContain('| `gameserver_panel_up` | `panel` | ');
  const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES];
  expect(names(table)).toHaveLength(families.length);
  expect(new Set(names(table))).toEqual(new Set(families.map((family) => family.name)));
});

/** A line per metric: name, type and labels. Only major versions may remove or change a line. */
const PROMISED = 'test/fixtures/stable-metrics.txt';

test('a metric keeps its name, type and labels', () => {
  const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES, ...SELF_FAMILIES];
  const lines = families.map(({ name, type, labels }) => [name, type, ...labels].join(' '));
  expect(lines.toSorted()).toEqual(readText(PROMISED).trimEnd().split('\n').toSorted());
});
