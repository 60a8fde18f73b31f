// Readings of servers, nodes and panels, as the exporter takes them for a scrape.
import type { Problem } from '../../src/domain/problems.ts';
import type {
  BudgetReading,
  DiscoveryReading,
  FleetReading,
  NeedsReading,
  NodeReading,
  PanelReading,
  ProblemReading,
  ServerReading,
} from '../../src/domain/reading.ts';
import type { RecentHistory } from '../../src/domain/recent-history.ts';
import type { SampleSource } from '../../src/domain/sample.ts';
import type { ServerTarget } from '../../src/domain/server.ts';
import type {
  BackupsReading,
  CollectionStatus,
  QueryReading,
  Snapshot,
  SocketState,
} from '../../src/domain/snapshot.ts';
import type { Strip } from '../../src/domain/strip.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { ManualClock } from './manual-clock.ts';
import { type SampleValues, sampleOf } from './samples.ts';
import { target as serverTarget } from './targets.ts';

/** The monotonic time of the readings, at which manual clocks of tests start. */
export const READ_AT = 1_000_000;

/** Changes to the reading of a server without any sample. */
export interface ServerReadingChanges extends Partial<Omit<Snapshot, 'target'>> {
  readonly target?: Partial<ServerTarget>;
  readonly socketState?: SocketState;
  readonly history?: RecentHistory;
  readonly strip?: Strip;
}

/** A reading that returns this snapshot at any time. */
export function readingOf(
  snapshot: Snapshot,
  {
    history = NO_HISTORY,
    strip,
    socketState,
  }: Pick<ServerReadingChanges, 'history' | 'strip' | 'socketState'> = {},
): ServerReading {
  const { target, node, condition, blocked, problem } = snapshot;
  return {
    target,
    node,
    status: { condition, ...(blocked && { blocked }), ...(problem && { problem }) },
    socketState: socketState ?? (condition === 'streaming' ? 'streaming' : 'none'),
    snapshot: () => snapshot,
    scraped: () => snapshot,
    history: () => history,
    strip: () => strip,
  };
}

const NO_HISTORY: RecentHistory = { end_timestamp_seconds: 0, series: {}, state_changes: [] };

const neverSampled = (target: ServerTarget) => new ServerRecord(target, { socket: 60_000, poll: 60_000 });

/** The snapshot of a server without any sample, with changes. */
export function serverSnapshot(all: ServerReadingChanges = {}): Snapshot {
  const { target, history: _, strip: __, socketState: ___, ...changes } = all;
  return {
    ...neverSampled(serverTarget(target)).snapshot(READ_AT, new ManualClock()),
    collection_streaming: Number(changes.condition === 'streaming'),
    ...changes,
  };
}

/** The reading of a server without any sample, with changes. */
export function serverReading(changes: ServerReadingChanges = {}): ServerReading {
  return readingOf(serverSnapshot(changes), changes);
}

/**
 * The snapshot of a running server that streams, with a value for every metric. Its sample is half
 * a second old.
 */
export function streamingSnapshot(changes: ServerReadingChanges = {}): Snapshot {
  return serverSnapshot({
    state: 'running',
    condition: 'streaming',
    source: 'socket',
    sample_age_seconds: 0.5,
    memory_usage_bytes: 1_073_741_824,
    memory_limit_bytes: 4_509_715_660,
    cpu_usage_cores: 1.53217,
    cpu_seconds_total: 123_456.789,
    disk_usage_bytes: 123_456_789,
    network_receive_bytes_total: 1_000,
    network_transmit_bytes_total: 2_000,
    disk_read_bytes_total: 3_000,
    disk_written_bytes_total: 4_000,
    uptime_milliseconds: 86_400_123,
    start_time_seconds: 1_699_914_599.377,
    cpu_usage_peak_cores: 2.5,
    memory_usage_peak_bytes: 2_147_483_648,
    state_changed_timestamp_seconds: 1_699_914_605.377,
    starts_total: 2,
    last_stop_timestamp_seconds: 1_699_914_595,
    stops: { requested: 1, exited: 2, crashed: 3, out_of_memory: 4, disk_full: 5, unknown: 6 },
    last_exit_code: 137,
    running_seconds_total: 80_000,
    observed_seconds_total: 86_400.5,
    cpu_saturated_seconds_total: 12.5,
    memory_saturated_seconds_total: 0,
    console_lines_total: 1_234,
    collection_up: 1,
    last_sample_timestamp_seconds: 1_700_000_999.5,
    ...changes,
  });
}

/** The reading of a running server that streams, with a value for every metric. */
export function streamingReading(changes: ServerReadingChanges = {}): ServerReading {
  return readingOf(streamingSnapshot(changes), changes);
}

/** The reading of the same server after its newest sample became too old. */
export function staleReading(changes: ServerReadingChanges = {}): ServerReading {
  const all = streamingSnapshot();
  return serverReading({
    condition: 'streaming',
    source: 'socket',
    sample_age_seconds: 100,
    last_sample_timestamp_seconds: 1_700_000_900,
    starts_total: all.starts_total,
    stops: all.stops,
    last_stop_timestamp_seconds: all.last_stop_timestamp_seconds,
    last_exit_code: all.last_exit_code,
    running_seconds_total: all.running_seconds_total,
    observed_seconds_total: all.observed_seconds_total,
    cpu_saturated_seconds_total: all.cpu_saturated_seconds_total,
    memory_saturated_seconds_total: all.memory_saturated_seconds_total,
    console_lines_total: all.console_lines_total,
    ...changes,
  });
}

/** All values that a current panel sends about a running server. */
export const FULL_SAMPLE: SampleValues = {
  state: 'running',
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuCores: 1.53217,
  diskBytes: 123_456_789,
  networkReceiveBytes: 1_000,
  networkTransmitBytes: 2_000,
  diskReadBytes: 3_000,
  diskWrittenBytes: 4_000,
  uptimeMs: 86_400_123,
};

/** The events that a real record receives. */
export interface Observed {
  readonly target?: Partial<ServerTarget>;
  readonly status?: CollectionStatus;
  readonly sample?: SampleValues;
  readonly sampledAt?: number;
  readonly source?: SampleSource;
  readonly backups?: BackupsReading;
  readonly query?: QueryReading;
}

/** A real record after one sample, by default half a second before `READ_AT`. */
export function observedRecord(observed: Observed = {}): ServerRecord {
  const { sample = FULL_SAMPLE, sampledAt = READ_AT - 500, source = 'socket' } = observed;
  const record = neverSampled(serverTarget(observed.target));
  record.setCollection(observed.status ?? { condition: 'streaming' }, 'streaming');
  if (source === 'socket') record.socketSample(sampleOf(sample), sampledAt);
  else record.pollSample(sampleOf(sample), sampledAt, sampledAt);
  record.backups = observed.backups;
  if (observed.query !== undefined) record.query = { ...observed.query, run: record.starts };
  return record;
}

/** A problem that began at `READ_AT`, unless a test sets another time. */
type UndatedProblem = Problem & Partial<ProblemReading>;

/** Settings of a node's reading. */
interface NodeReadingChanges extends Omit<NodeReading, 'problem'> {
  readonly problem?: UndatedProblem | undefined;
}

function dated(problem: UndatedProblem): ProblemReading {
  return { since: READ_AT, ...problem };
}

/** Settings of a panel's reading. */
export interface PanelReadingChanges {
  readonly name?: string;
  readonly up?: boolean;
  readonly problems?: readonly UndatedProblem[];
  readonly nodes?: readonly NodeReadingChanges[];
  readonly budget?: Partial<BudgetReading>;
  readonly needs?: Partial<NeedsReading>;
  readonly discovery?: DiscoveryReading;
}

/** The reading of the panel `main`, which is up and idle, with changes. */
export function panelReading({
  budget,
  needs,
  problems = [],
  nodes = [],
  ...rest
}: PanelReadingChanges = {}): PanelReading {
  return {
    name: 'main',
    up: true,
    problems: problems.map(dated),
    nodes: () =>
      nodes.map(({ problem, ...node }) => ({ ...node, ...(problem && { problem: dated(problem) }) })),
    capacities: () => [],
    budget: {
      limitPerMinute: 60,
      usedLastMinute: 0,
      queueLength: 0,
      paused: false,
      isPinned: false,
      ...budget,
    },
    needs: {
      requiredCallsPerMinute: 0,
      requiredSockets: 0,
      allowedSockets: Number.POSITIVE_INFINITY,
      polls: 0,
      ...needs,
    },
    ...rest,
  };
}

/** The reading of a fleet. By default, it has one panel. */
export function fleetReading(
  servers: readonly ServerReading[],
  panels: readonly PanelReading[] = [panelReading()],
): FleetReading {
  return { panels: () => panels, servers: () => servers };
}

/** A fleet of streaming servers with different names. */
export function largeFleet(size: number): FleetReading {
  return fleetReading(
    Array.from({ length: size }, (_, index) =>
      streamingReading({ target: { name: `server-${index}`, id: `id-${index}` } }),
    ),
  );
}
