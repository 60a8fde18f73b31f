import type { Clock } from '../domain/clock.ts';
import { CONDITIONS } from '../domain/collection.ts';
import type { Sample } from '../domain/sample.ts';
import { BLOCKED_REASONS, type Limit, type Limits } from '../domain/server.ts';
import { SERVER_STATES } from '../domain/state.ts';
import type { Entry } from './ledger.ts';
import { LIVE_SECONDS, SOURCES } from './protocol.ts';

const MIB = 1_048_576;
const UNKNOWN = -1;

/** What the columns say of a server at the monotonic instant `now`, written into `row` in their order. */
export function fillRow(row: Float64Array, entry: Entry, now: number, clock: Pick<Clock, 'toUnixMs'>): void {
  const { reading, traffic } = entry;
  const { target, status, sampledAt } = reading;
  const sample = reading.isFresh(now) ? reading.sample : undefined;
  const state = sample === undefined ? 'unknown' : reading.state;
  const limits = sample === undefined ? NO_LIMITS : limitsOf(target.limits, sample);
  row[0] = SERVER_STATES.indexOf(state);
  row[1] = CONDITIONS.indexOf(status.condition);
  row[2] = status.blocked === undefined ? UNKNOWN : BLOCKED_REASONS.indexOf(status.blocked);
  row[3] = reading.source === undefined ? UNKNOWN : SOURCES.indexOf(reading.source);
  row[4] = scaled(sample?.cpuCores, 100);
  row[5] = scaled(limits.cpuCores, 100);
  row[6] = shortened((sample?.memoryBytes ?? Number.NaN) / MIB, 3);
  row[7] = scaled(limits.memoryBytes, 1 / MIB);
  row[8] = shortened((sample?.diskBytes ?? Number.NaN) / MIB, 3);
  row[9] = scaled(limits.diskBytes, 1 / MIB);
  const at = sampledAt ?? Number.NaN;
  row[10] = sample === undefined ? UNKNOWN : shortened(traffic.receiveRate(sample, at), 2);
  row[11] = sample === undefined ? UNKNOWN : shortened(traffic.transmitRate(sample, at), 2);
  row[12] = sampledSecond(sampledAt, now, clock);
  const startedAt = sample === undefined ? undefined : reading.startedAt;
  row[13] = startedAt === undefined ? UNKNOWN : Math.round(clock.toUnixMs(startedAt) / 1_000);
}

const NO_LIMITS = { cpuCores: undefined, memoryBytes: undefined, diskBytes: undefined };

// As the metrics have them, which a test compares; a whole view of a server would cost more than all the rest.
function limitsOf({ cpuCores, memoryBytes, diskBytes, listedMemoryBytes }: Limits, sample: Sample) {
  return {
    cpuCores: ceiling(cpuCores),
    memoryBytes: ceiling(memoryBytes ?? (sample.memoryLimitBytes || listedMemoryBytes)),
    diskBytes: ceiling(diskBytes),
  };
}

function ceiling(limit: Limit | undefined): number | undefined {
  return typeof limit === 'number' && limit > 0 ? limit : undefined;
}

function scaled(value: number | undefined, factor: number): number {
  return value === undefined ? UNKNOWN : Math.round(value * factor);
}

/** A whole number with this many digits that count, as is shown: more would be sent and not seen. */
export function shortened(value: number, digits: number): number {
  if (!(value >= 0)) return UNKNOWN;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) + 1 - digits);
  return Math.round(value / unit) * unit;
}

function sampledSecond(sampledAt: number | undefined, now: number, clock: Pick<Clock, 'toUnixMs'>): number {
  if (sampledAt === undefined) return UNKNOWN;
  if (now - sampledAt < LIVE_SECONDS * 1_000) return 0;
  return Math.floor(clock.toUnixMs(sampledAt) / 1_000);
}
