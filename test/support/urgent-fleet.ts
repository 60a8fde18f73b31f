// Servers with each kind of problem that the status page shows, and some without problems.
import type { ServerReading } from '../../src/domain/reading.ts';
import type { ShownStop } from '../../src/domain/stops.ts';
import { type ServerReadingChanges, serverReading, streamingReading } from './readings.ts';
import { stripWith } from './strips.ts';

/** The exporter's wall clock at these readings, in Unix seconds. */
export const NOW = 1_700_001_000;

export const crash = (secondsAgo: number, exit_code: number): ShownStop => ({
  timestamp_seconds: NOW - secondsAgo,
  reason: 'crashed',
  exit_code,
});

const RUNNING: ServerReadingChanges = {
  cpu_limit_cores: 2,
  cpu_usage_cores: 0.5,
  cpu_saturated_share: 0,
  disk_limit_bytes: 10 * 2 ** 30,
  disk_usage_bytes: 2 ** 30,
  network_receive_bytes_per_second: 2_048,
  network_transmit_bytes_per_second: 4_096,
  expected_running: 1,
};

const OFF: ServerReadingChanges = {
  ...RUNNING,
  state: 'offline',
  start_time_seconds: undefined,
  cpu_usage_cores: 0,
};

const target = (name: string) => ({ name, id: name, node: 'fra-1', egg: 'Paper' });

export const running = (name: string, changes: ServerReadingChanges = {}): ServerReading =>
  streamingReading({ ...RUNNING, ...changes, target: { ...target(name), ...changes.target } });

export const off = (name: string, changes: ServerReadingChanges = {}): ServerReading =>
  streamingReading({
    ...OFF,
    strip: stripWith(
      [
        ['unknown', 58],
        ['down', 2],
      ],
      { down: 150 },
    ),
    ...changes,
    target: { ...target(name), ...changes.target },
  });

/** Running servers with the names `server-1`, `server-2` and so on. */
export const manyRunning = (count: number): readonly ServerReading[] =>
  Array.from({ length: count }, (_, index) =>
    running(`server-${index + 1}`, { target: { id: String(index).padStart(8, '0') } }),
  );

/** The servers in the order of the configuration, which differs from that of the page. */
export const URGENT_FLEET: readonly ServerReading[] = [
  running('calm'),
  off('spare', { expected_running: 0 }),
  serverReading({
    condition: 'blocked',
    blocked: 'suspended',
    problem: { cause: 'suspended', detail: 'the panel reports is_suspended' },
    target: target('old-season'),
  }),
  running('full', { disk_usage_bytes: 9.7 * 2 ** 30 }),
  running('hot', { cpu_usage_cores: 1.99, cpu_saturated_share: 1 }),
  serverReading({
    condition: 'failing',
    expected_running: 1,
    problem: { cause: 'node_connection', detail: 'connect ECONNREFUSED 127.0.0.1:8080' },
    target: target('lost'),
  }),
  off('forgotten'),
  off('broken', {
    last_stop: crash(60, 139),
    off_reason: 'crashed',
    automatic_restart_aborted: 1,
    starts_total: 1,
    history: {
      end_timestamp_seconds: NOW,
      series: {},
      state_changes: [
        { timestamp_seconds: NOW - 600, state: 'running' },
        { timestamp_seconds: NOW - 60, state: 'offline', reason: 'crashed', exit_code: 139 },
      ],
    },
  }),
];

/** The names in the order of the page. */
export const URGENT = ['broken', 'forgotten', 'lost', 'hot', 'full'];
export const NEUTRAL = ['calm', 'spare', 'old-season'];
