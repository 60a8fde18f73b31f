import type { Problem } from '../../src/domain/problem.ts';
import type {
  BudgetReading,
  CollectionStatus,
  DiscoveryReading,
  FleetReading,
  NeedsReading,
  NodeReading,
  PanelReading,
  Peaks,
  ServerReading,
} from '../../src/domain/reading.ts';
import { NO_STOPS } from '../../src/domain/reading.ts';
import type { Sample, ServerTarget } from '../../src/domain/server.ts';

/** The monotonic instant of the readings below; a manual clock also starts there. */
export const READ_AT = 1_000_000;

/** A target on the panel `main`, expected to run, without labels or limits. */
function serverTarget(changes: Partial<ServerTarget> = {}): ServerTarget {
  return {
    panel: 'main',
    id: '1a7ce997',
    name: 'survival',
    labels: {},
    expect: 'running',
    mode: 'auto',
    limits: {},
    ...changes,
  };
}

type Fixed = Omit<ServerReading, 'target' | 'status' | 'expected' | 'peaks' | 'isFresh'>;

/** What a test sets for a server; the rest is as for a server that was never sampled. */
export interface ServerReadingChanges extends Partial<Fixed> {
  readonly target?: Partial<ServerTarget>;
  readonly status?: CollectionStatus;
  readonly expected?: boolean | undefined;
  readonly peaks?: Peaks;
}

/** A server that was never sampled, with changes; it is fresh while `sampledAt` is within its staleness. */
export function serverReading(changes: ServerReadingChanges = {}): ServerReading {
  const { target, node = target?.node, peaks, ...rest } = changes;
  const expected = 'expected' in changes ? changes.expected : target?.expect !== 'any';
  const fixed = {
    status: { condition: 'waiting' } as CollectionStatus,
    node,
    socketState: 'none',
    source: undefined,
    sample: undefined,
    sampledAt: undefined,
    stalenessMs: 60_000,
    state: 'unknown',
    startedAt: undefined,
    starts: 0,
    consoleLines: 0,
    stops: NO_STOPS,
    awaitsWords: false,
    lastExitCode: undefined,
    isRestartAborted: false,
    durations: { observed: 0, running: 0, cpuSaturated: undefined, memorySaturated: undefined },
    ...rest,
  } satisfies Fixed & Pick<ServerReading, 'status'>;
  const { sampledAt, stalenessMs } = fixed;
  return {
    ...fixed,
    target: serverTarget(target),
    expected: () => expected,
    peaks: () => peaks,
    isFresh: (now) => sampledAt !== undefined && now - sampledAt <= stalenessMs,
  };
}

/** Everything that a current panel sends about a running server. */
export const FULL_SAMPLE: Sample = {
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

/** A server that streams, runs, and has a value for every metric, sampled half a second ago. */
export function streamingReading(changes: ServerReadingChanges = {}): ServerReading {
  return serverReading({
    status: { condition: 'streaming' },
    socketState: 'streaming',
    source: 'socket',
    sample: FULL_SAMPLE,
    sampledAt: READ_AT - 500,
    state: 'running',
    startedAt: READ_AT - 500 - 86_400_123,
    starts: 2,
    consoleLines: 1_234,
    stops: { requested: 1, exited: 2, crashed: 3, out_of_memory: 4, disk_full: 5, unknown: 6 },
    lastExitCode: 137,
    isRestartAborted: false,
    durations: { observed: 86_400.5, running: 80_000, cpuSaturated: 12.5, memorySaturated: 0 },
    peaks: {
      cpuCores: 2.5,
      memoryBytes: 2_147_483_648,
      networkReceiveBytesPerSecond: 500,
      networkTransmitBytesPerSecond: 600,
    },
    ...changes,
  });
}

/** What a test sets for a panel. */
export interface PanelReadingChanges {
  readonly name?: string;
  readonly up?: boolean;
  readonly problems?: readonly Problem[];
  readonly nodes?: readonly NodeReading[];
  readonly budget?: Partial<BudgetReading>;
  readonly needs?: Partial<NeedsReading>;
  readonly discovery?: DiscoveryReading;
}

/** The panel `main`, up and idle, with changes. */
export function panelReading({ budget, needs, nodes = [], ...rest }: PanelReadingChanges = {}): PanelReading {
  return {
    name: 'main',
    up: true,
    problems: [],
    nodes: () => nodes,
    budget: { limitPerMinute: 60, usedLastMinute: 0, queueLength: 0, paused: false, ...budget },
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

/** A fleet of these readings, with one panel by default. */
export function fleetReading(
  servers: readonly ServerReading[],
  panels: readonly PanelReading[] = [panelReading()],
): FleetReading {
  return { panels: () => panels, servers: () => servers };
}

/** Many streaming servers with unique names. */
export function largeFleet(size: number): FleetReading {
  return fleetReading(
    Array.from({ length: size }, (_, index) =>
      streamingReading({ target: { name: `server-${index}`, id: `id-${index}` } }),
    ),
  );
}
