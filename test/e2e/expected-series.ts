import { STOP_REASONS } from '../../src/domain/reading.ts';
import { SERVER_STATES, type ServerState } from '../../src/domain/server.ts';
import type { Simulator } from '../../src/simulator/api.ts';
import type { ServerSpec } from '../../src/simulator/schema.ts';

/** Survival's backups. */
const BACKUP = { is_successful: true, completed_at: '2026-11-01T03:04:05+00:00', bytes: 7_654_321 };
const FAILED_BACKUP = { is_successful: false, completed_at: '2026-11-02T03:04:05+00:00', bytes: 0 };

/** Servers of every kind that the metric table distinguishes, all on one simulated panel. */
export const SERVERS = [
  {
    name: 'survival',
    profile: 'steady',
    consoleLinesPerSecond: 0,
    backups: [BACKUP, FAILED_BACKUP],
    players: { online: 12, max: 40 },
  },
  { name: 'lobby', profile: 'idle' },
  { name: 'valheim', profile: 'steady' },
  { name: 'skyblock', profile: 'steady' },
  { name: 'modded', profile: 'steady' },
  { name: 'arena', profile: 'offline' },
  { name: 'season', profile: 'suspended' },
] as const satisfies readonly ServerSpec[];

/**
 * `elsewhere` is on a second panel entry, which has a rejected key; `kept` is survival in a third entry, which polls it, queries
 * its game, and reads its backups.
 */
export type ServerName = (typeof SERVERS)[number]['name'] | 'elsewhere' | 'kept';

/** Lines that the test sends to survival's console. */
export const CONSOLE_LINES = 3;

/** What survival reports until the exporter has seen it, so that it is the peak. */
export const PEAK_USAGE = {
  memoryBytes: 2_147_483_648,
  memoryLimitBytes: 4_509_715_660,
  cpuAbsolute: 275,
  diskBytes: 123_000_000,
  rxBytes: 1_000,
  txBytes: 2_000,
  readBytes: 1,
  writtenBytes: 2,
};

/** What survival reports from then on. */
export const LAST_USAGE = {
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuAbsolute: 153.25,
  diskBytes: 123_456_789,
  rxBytes: 601_000,
  txBytes: 902_000,
  readBytes: 11,
  writtenBytes: 22,
};

/** What lobby reports: values for which the configuration has no limit. */
export const LOBBY_USAGE = {
  memoryBytes: 268_435_456,
  memoryLimitBytes: 1_073_741_824,
  cpuAbsolute: 3.5,
  diskBytes: 9_876_543,
  rxBytes: 111,
  txBytes: 222,
  readBytes: 0,
  writtenBytes: 333,
};

/** What valheim, which is polled, reports. */
export const VALHEIM_USAGE = {
  memoryBytes: 3_221_225_472,
  memoryLimitBytes: 4_294_967_296,
  cpuAbsolute: 50,
  diskBytes: 2_048,
  rxBytes: 4_321,
  txBytes: 8_765,
};

/** A configuration for all of them. */
export function configuration(panel: Simulator): string {
  const id = (name: string) => panel.server(name).uuid;
  return [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    '    requests_per_minute: 6000',
    // The table's limits and nodes come from the configuration and the sockets.
    '    limits_from_listing: false',
    '    servers:',
    `      - id: ${id('survival')}`,
    '        name: survival',
    `        labels: ${JSON.stringify(SURVIVAL_LABELS)}`,
    '        limits: { memory: 8GiB, disk: 40GiB, cpu_cores: 3.5 }',
    `      - { id: "${panel.server('lobby').identifier}", name: lobby }`,
    `      - { id: ${id('valheim')}, name: valheim, mode: poll, expect: any, limits: { disk: unlimited } }`,
    `      - { id: ${id('skyblock')}, name: skyblock }`,
    `      - { id: ${id('modded')}, name: modded }`,
    `      - { id: ${id('arena')}, name: arena, expect: any }`,
    `      - { id: ${id('season')}, name: season, expect: any }`,
    '  - name: other',
    `    url: ${panel.url}`,
    '    api_key: ptlc_not_a_key_of_this_panel',
    '    limits_from_listing: false',
    '    servers:',
    `      - { id: "${panel.server('lobby').identifier}", name: elsewhere }`,
    '  - name: kept',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    '    requests_per_minute: 6000',
    '    backups: true',
    '    limits_from_listing: false',
    '    servers:',
    `      - id: "${panel.server('survival').identifier}"`,
    '        name: kept',
    '        mode: poll',
    '        expect: any',
    `        query: { type: minecraft, address: "127.0.0.1:${panel.server('survival').gamePort}", interval: 10s }`,
  ].join('\n');
}

const SURVIVAL_LABELS = { game: 'minecraft', region: 'eu "west" \\ 1' };

/** The labels that identify a server's series in Prometheus, besides its own. */
export function labelsOf(panel: Simulator, name: ServerName): Readonly<Record<string, string>> {
  if (name === 'elsewhere') {
    return { panel: 'other', server: name, server_id: panel.server('lobby').identifier };
  }
  if (name === 'kept') {
    return { panel: 'kept', server: name, server_id: panel.server('survival').identifier };
  }
  return {
    panel: 'main',
    server: name,
    server_id: panel.server(name).identifier,
    ...(name === 'survival' ? SURVIVAL_LABELS : {}),
  };
}

/** A value, or its valid range. */
export type Expected = number | { readonly from: number; readonly to: number };

/** One series of a family: its server, its value, and its labels besides the server's. */
type Row = readonly [server: ServerName, value: Expected, labels?: Readonly<Record<string, string>>];

const ANY: Expected = { from: 0, to: Number.MAX_SAFE_INTEGER };
const GIB = 1_073_741_824;

/** The series that each family about servers must have, by its name; families that aren't listed must not exist. */
export function expectedSeries(panel: Simulator): Readonly<Record<string, readonly Row[]>> {
  const usage = (name: ServerName) => panel.server(name === 'kept' ? 'survival' : name).usage;
  const startOf = (name: ServerName) => about(Date.now() / 1_000 - usage(name).uptimeMs / 1_000, 6);
  // Samples arrive every second, or every 15 s for a server that is off, or every 30 s by polls.
  const justNow: Expected = { from: Date.now() / 1_000 - 40, to: Date.now() / 1_000 + 5 };
  const inThisTest: Expected = { from: Date.now() / 1_000 - 600, to: Date.now() / 1_000 + 5 };
  return {
    // The egg comes from a server list, the node from a server list or a console socket; the uuid is known if it is configured.
    gameserver_info: all(1).map(([name, value]) => [
      name,
      value,
      {
        ...(STREAMED.has(name) && { node: nodeOf(panel) }),
        ...(name !== 'lobby' && name !== 'elsewhere' && name !== 'kept' && { uuid: panel.server(name).uuid }),
      },
    ]),
    gameserver_state: [
      ...states('survival', 'running'),
      ...states('lobby', 'running'),
      ...states('valheim', 'running'),
      ...states('skyblock', 'running'),
      ...states('modded', 'offline'),
      ...states('arena', 'offline'),
      ...states('season', 'unknown'),
      ...states('elsewhere', 'unknown'),
      ...states('kept', 'running'),
    ],
    gameserver_memory_usage_bytes: [
      ['survival', LAST_USAGE.memoryBytes],
      ['lobby', LOBBY_USAGE.memoryBytes],
      ['valheim', VALHEIM_USAGE.memoryBytes],
      ['skyblock', ANY],
      ['modded', 0],
      ['arena', 0],
      ['kept', ANY],
    ],
    // Survival's comes from the configuration; a poll doesn't contain valheim's; arena was never started.
    gameserver_memory_limit_bytes: [
      ['survival', 8 * GIB],
      ['lobby', LOBBY_USAGE.memoryLimitBytes],
      ['skyblock', usage('skyblock').memoryLimitBytes],
      ['modded', usage('modded').memoryLimitBytes],
    ],
    gameserver_cpu_usage_cores: [
      ['survival', 1.5325],
      ['lobby', 0.035],
      ['valheim', 0.5],
      ['skyblock', ANY],
      ['modded', 0],
      ['arena', 0],
      ['kept', ANY],
    ],
    gameserver_cpu_seconds_total: all(ANY).filter(([name]) => name !== 'season' && name !== 'elsewhere'),
    gameserver_cpu_limit_cores: [['survival', 3.5]],
    gameserver_disk_usage_bytes: [
      ['survival', LAST_USAGE.diskBytes],
      ['lobby', LOBBY_USAGE.diskBytes],
      ['valheim', VALHEIM_USAGE.diskBytes],
      ['skyblock', usage('skyblock').diskBytes],
      ['modded', usage('modded').diskBytes],
      ['arena', usage('arena').diskBytes],
      ['kept', ANY],
    ],
    gameserver_disk_limit_bytes: [['survival', 40 * GIB]],
    gameserver_network_receive_bytes_total: [
      ['survival', LAST_USAGE.rxBytes],
      ['lobby', LOBBY_USAGE.rxBytes],
      ['valheim', VALHEIM_USAGE.rxBytes],
      ['skyblock', ANY],
      ['modded', 0],
      ['arena', 0],
      ['kept', ANY],
    ],
    gameserver_network_transmit_bytes_total: [
      ['survival', LAST_USAGE.txBytes],
      ['lobby', LOBBY_USAGE.txBytes],
      ['valheim', VALHEIM_USAGE.txBytes],
      ['skyblock', ANY],
      ['modded', 0],
      ['arena', 0],
      ['kept', ANY],
    ],
    gameserver_disk_read_bytes_total: [
      ['survival', LAST_USAGE.readBytes],
      ['lobby', LOBBY_USAGE.readBytes],
      ['skyblock', ANY],
      ['modded', 0],
      ['arena', 0],
    ],
    gameserver_disk_written_bytes_total: [
      ['survival', LAST_USAGE.writtenBytes],
      ['lobby', LOBBY_USAGE.writtenBytes],
      ['skyblock', ANY],
      ['modded', 0],
      ['arena', 0],
    ],
    gameserver_start_time_seconds: (['survival', 'lobby', 'valheim', 'skyblock', 'kept'] as const).map(
      (name) => [name, startOf(name)],
    ),
    gameserver_cpu_usage_peak_cores: [
      ['survival', PEAK_USAGE.cpuAbsolute / 100],
      ['lobby', 0.035],
      ['skyblock', ANY],
      ['modded', ANY],
      ['arena', 0],
    ],
    gameserver_memory_usage_peak_bytes: [
      ['survival', PEAK_USAGE.memoryBytes],
      ['lobby', LOBBY_USAGE.memoryBytes],
      ['skyblock', ANY],
      ['modded', ANY],
      ['arena', 0],
    ],
    gameserver_state_changed_timestamp_seconds: all(inThisTest).filter(
      ([name]) => name !== 'season' && name !== 'elsewhere',
    ),
    gameserver_starts_total: all(0, { skyblock: 1 }),
    gameserver_stops_total: STOP_REASONS.flatMap((reason) =>
      all(0, reason === 'crashed' ? { modded: 1 } : reason === 'requested' ? { skyblock: 1 } : {}).map(
        ([name, value]): Row => [name, value, { reason }],
      ),
    ),
    gameserver_last_stop_timestamp_seconds: [
      ['skyblock', inThisTest],
      ['modded', inThisTest],
    ],
    gameserver_last_exit_code: [['modded', 1]],
    gameserver_automatic_restart_aborted: all(0),
    gameserver_running_seconds_total: all(ANY),
    gameserver_observed_seconds_total: all(ANY),
    gameserver_cpu_saturated_seconds_total: [['survival', ANY]],
    gameserver_memory_saturated_seconds_total: [
      ['survival', ANY],
      ['lobby', ANY],
      ['skyblock', ANY],
      ['modded', ANY],
    ],
    gameserver_console_lines_total: all(0, {
      survival: CONSOLE_LINES,
      lobby: ANY,
      skyblock: ANY,
      modded: ANY,
    }),
    gameserver_expected_running: all(1, { valheim: 0, arena: 0, season: 0, kept: 0 }),
    gameserver_collection_up: all(1, { season: 0, elsewhere: 0 }),
    gameserver_collection_streaming: all(1, { valheim: 0, season: 0, elsewhere: 0, kept: 0 }),
    // Elsewhere is not blocked: the key is the problem.
    gameserver_blocked: [['season', 1, { reason: 'suspended' }]],
    gameserver_backups: [['kept', 1]],
    gameserver_backup_last_success_timestamp_seconds: [['kept', Date.parse(BACKUP.completed_at) / 1_000]],
    gameserver_backup_last_failure_timestamp_seconds: [
      ['kept', Date.parse(FAILED_BACKUP.completed_at) / 1_000],
    ],
    gameserver_backup_last_size_bytes: [['kept', BACKUP.bytes]],
    // Not configured.
    gameserver_schedule_last_run_timestamp_seconds: [],
    gameserver_schedule_next_run_timestamp_seconds: [],
    gameserver_schedule_processing: [],
    gameserver_schedules_last_read_timestamp_seconds: [],
    gameserver_schedules_left_out: [],
    gameserver_players: [['kept', 12]],
    // The game doesn't tell bots.
    gameserver_bots: [],
    gameserver_players_max: [['kept', 40]],
    gameserver_query_up: [['kept', 1]],
    gameserver_query_duration_seconds: [['kept', { from: 0, to: 5 }]],
    gameserver_last_sample_timestamp_seconds: all(justNow).filter(
      ([name]) => name !== 'season' && name !== 'elsewhere',
    ),
  };
}

/** Servers whose console socket has been open, so that their node is known. */
const STREAMED: ReadonlySet<ServerName> = new Set(['survival', 'lobby', 'skyblock', 'modded', 'arena']);

/** Without a server list, a node is identified by the host and port of its sockets. */
function nodeOf(panel: Simulator): string {
  return new URL(panel.url).host;
}

/** One series of a family about panels: all of its labels, and its value. */
type PanelRow = readonly [labels: Readonly<Record<string, string>>, value: Expected];

/** The series that each family about panels must have, by its name; families that aren't listed must not exist. */
export function expectedOfPanels(panel: Simulator): Readonly<Record<string, readonly PanelRow[]>> {
  return {
    gameserver_panel_up: [
      [{ panel: 'main' }, 1],
      [{ panel: 'other' }, 0],
      [{ panel: 'kept' }, 1],
    ],
    gameserver_panel_problem: [[{ panel: 'other', cause: 'key_refused' }, 1]],
    gameserver_node_up: [[{ panel: 'main', node: nodeOf(panel) }, 1]],
    gameserver_node_problem: [],
    // Not configured.
    gameserver_node_memory_bytes: [],
    gameserver_node_memory_allocated_bytes: [],
    gameserver_node_memory_overallocation_ratio: [],
    gameserver_node_disk_bytes: [],
    gameserver_node_disk_allocated_bytes: [],
    gameserver_node_disk_overallocation_ratio: [],
    gameserver_node_maintenance: [],
  };
}

function all(value: Expected, exceptions: Partial<Record<ServerName, Expected>> = {}): Row[] {
  const names: readonly ServerName[] = [...SERVERS.map(({ name }) => name), 'elsewhere', 'kept'];
  return names.map((name) => [name, exceptions[name] ?? value]);
}

function states(server: ServerName, current: ServerState): Row[] {
  return SERVER_STATES.map((state) => [server, state === current ? 1 : 0, { state }]);
}

function about(value: number, tolerance: number): Expected {
  return { from: value - tolerance, to: value + tolerance };
}
