import type { FleetReading, ServerReading } from '../../src/domain/reading.ts';
import { NO_STOPS } from '../../src/domain/reading.ts';
import { expositionOf } from './exposition-target.ts';
import {
  FULL_SAMPLE,
  fleetReading,
  panelReading,
  type ServerReadingChanges,
  serverReading,
  streamingReading,
} from './readings.ts';

const LIMITS = { memoryBytes: 4e9, diskBytes: 10e9, cpuCores: 4 };
const SAMPLE = { ...FULL_SAMPLE, memoryBytes: 1e9, memoryLimitBytes: 4e9, diskBytes: 1e9 };
const OFF = {
  state: 'offline' as const,
  sample: { ...SAMPLE, state: 'offline' as const },
  startedAt: undefined,
};

type Target = ServerReadingChanges['target'];

function running(name: string, changes: ServerReadingChanges = {}, target: Target = {}): ServerReading {
  return streamingReading({
    sample: SAMPLE,
    stops: NO_STOPS,
    durations: { observed: 1_000, running: 1_000, cpuSaturated: 0, memorySaturated: 0 },
    ...changes,
    target: { name, id: name, node: 'node-1', egg: 'Paper', limits: LIMITS, ...target },
  });
}

function without(name: string, status: ServerReadingChanges['status'], target: Target = {}): ServerReading {
  return serverReading({
    status: status ?? { condition: 'failing' },
    target: { name, id: name, node: 'node-1', egg: 'Paper', limits: LIMITS, ...target },
  });
}

/** A server with each kind of problem, and some without any. */
const SERVERS: readonly ServerReading[] = [
  running('fine'),
  running('viking', {}, { egg: 'Valheim' }),
  running('off', OFF),
  running('gave-up', { ...OFF, isRestartAborted: true, stops: { ...NO_STOPS, crashed: 0 } }),
  running('looping', { stops: { ...NO_STOPS, crashed: 3 } }),
  running('crashed', { stops: { ...NO_STOPS, out_of_memory: 1 } }),
  running('full', { sample: { ...SAMPLE, diskBytes: 9.6e9 } }),
  running('hungry', { sample: { ...SAMPLE, memoryBytes: 3.9e9 } }),
  running('slow', { durations: { observed: 1_600, running: 1_600, cpuSaturated: 600, memorySaturated: 0 } }),
  running('mute'),
  running('season', OFF, { expect: 'any' }),
  without('silent', { condition: 'failing' }),
  without('forbidden', { condition: 'blocked', blocked: 'forbidden' }),
  without('unpaid', { condition: 'blocked', blocked: 'suspended' }),
  without('dark-1', { condition: 'failing' }, { node: 'node-2' }),
  without('dark-2', { condition: 'failing' }, { node: 'node-2' }),
  without('adrift', { condition: 'failing' }, { panel: 'broken' }),
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

/** The exposition of the same servers while they are healthy. */
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
  '1 down: off · node-1 · main',
  '1 crash_loop: looping · node-1 · main',
  '1 forbidden: forbidden · node-1 · main',
  '1 no_data: silent · node-1 · main',
  '1 not_answering: mute · node-1 · main',
  '2 disk_full: full · node-1 · main',
  '2 memory_full: hungry · node-1 · main',
  '2 cpu_saturated: slow · node-1 · main',
  '3 crashed: crashed · node-1 · main',
];
