// Servers with every kind of problem, for tests of the dashboards.
import type { FleetReading, ServerReading } from '../../src/domain/reading.ts';
import { NO_STOPS } from '../../src/domain/stops.ts';
import { expositionOf } from './exposition-target.ts';
import {
  fleetReading,
  panelReading,
  type ServerReadingChanges,
  serverReading,
  streamingReading,
} from './readings.ts';

const OFF = { state: 'offline', start_time_seconds: undefined } as const;

type Target = ServerReadingChanges['target'];

function running(name: string, changes: ServerReadingChanges = {}, target: Target = {}): ServerReading {
  return streamingReading({
    memory_usage_bytes: 1e9,
    memory_limit_bytes: 4e9,
    disk_usage_bytes: 1e9,
    disk_limit_bytes: 10e9,
    cpu_limit_cores: 4,
    stops: NO_STOPS,
    observed_seconds_total: 1_000,
    running_seconds_total: 1_000,
    cpu_saturated_seconds_total: 0,
    memory_saturated_seconds_total: 0,
    ...changes,
    target: { name, id: name, node: 'node-1', egg: 'Paper', ...target },
  });
}

function without(name: string, changes: ServerReadingChanges, target: Target = {}): ServerReading {
  return serverReading({
    condition: 'failing',
    ...changes,
    target: { name, id: name, node: 'node-1', egg: 'Paper', ...target },
  });
}

/** A server with each kind of problem, and some without problems. */
const SERVERS: readonly ServerReading[] = [
  running('fine'),
  running('viking', {}, { egg: 'Valheim' }),
  running('off', OFF),
  running('gave-up', { ...OFF, automatic_restart_aborted: 1 }),
  running('looping', { stops: { ...NO_STOPS, crashed: 3 } }),
  running('crashed', { stops: { ...NO_STOPS, out_of_memory: 1 } }),
  running('full', { disk_usage_bytes: 9.6e9 }),
  running('hungry', { memory_usage_bytes: 3.9e9 }),
  running('slow', {
    observed_seconds_total: 1_600,
    running_seconds_total: 1_600,
    cpu_saturated_seconds_total: 600,
  }),
  running('mute'),
  running('season', OFF, { expect: 'any' }),
  without('silent', {}),
  without('forbidden', { condition: 'blocked', blocked: 'forbidden' }),
  without('unpaid', { condition: 'blocked', blocked: 'suspended' }),
  without('dark-1', {}, { node: 'node-2' }),
  without('dark-2', {}, { node: 'node-2' }),
  without('adrift', {}, { panel: 'broken' }),
];

function fleet(servers: readonly ServerReading[], inTrouble: boolean): FleetReading {
  const problem = (cause: 'node_connection' | 'key_console_permission' | 'timeout') =>
    inTrouble ? [{ cause, detail: '' }] : [];
  return fleetReading(servers, [
    panelReading({
      problems: problem('key_console_permission'),
      nodes: [
        { name: 'node-1', up: true },
        {
          name: 'node-2',
          up: !inTrouble,
          ...(inTrouble && { problem: { cause: 'node_connection', detail: '' } }),
        },
      ],
    }),
    panelReading({ name: 'broken', up: !inTrouble, problems: problem('timeout') }),
  ]);
}

function ofQueries(mute: number): readonly string[] {
  const of = (server: string) => `panel="main",server="${server}",server_id="${server}"`;
  return [
    `gameserver_players{${of('fine')}} 12`,
    `gameserver_query_up{${of('fine')}} 1`,
    `gameserver_query_up{${of('mute')}} ${mute}`,
  ];
}

/** The exposition of the same servers without problems. */
export const FINE = expositionOf(
  fleet(
    SERVERS.map(({ target }) => running(target.name, {}, target)),
    false,
  ),
  ...ofQueries(1),
);

/** The exposition of the servers with problems. */
export const TROUBLED = expositionOf(fleet(SERVERS, true), ...ofQueries(0));

/** The expected rows: urgency, problem, server, node or exporter, panel. */
export const NEEDS_ATTENTION = [
  '1 timeout: broken',
  '1 node_connection: node-2 · main',
  '2 key_console_permission: main',
  '1 gave_up: gave-up · node-1 · main',
  '1 off: off · node-1 · main',
  '2 crash_loop: looping · node-1 · main',
  '1 forbidden: forbidden · node-1 · main',
  '1 no_data: silent · node-1 · main',
  '2 not_answering: mute · node-1 · main',
  '2 disk_nearly_full: full · node-1 · main',
  '2 cpu_saturated: slow · node-1 · main',
  '3 recent_crash: crashed · node-1 · main',
];
