// Takes the snapshot of a server's record at an instant.

import type { Clock } from '../domain/clock.ts';
import { finiteLimit, type Limits, resolveMemoryLimit } from '../domain/limits.ts';
import { isOff } from '../domain/power-states.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerReading } from '../domain/reading.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { BackupsReading, QueryReading, SchedulesReading, Snapshot } from '../domain/snapshot.ts';
import type { LastStop, ShownStop, StopReason } from '../domain/stops.ts';
import type { Power } from './power-model.ts';
import type { NetworkCounter, ServerHistory } from './server-history.ts';
import { ServerSamples } from './server-samples.ts';
import { stuckProblem } from './stuck-problem.ts';

/** The parts of a record that a snapshot contains unchanged. */
interface ShownRecord extends Pick<ServerReading, 'target' | 'status' | 'node'> {
  readonly consoleLines: number;
  readonly awaitsNotice: boolean;
  readonly backups: BackupsReading | undefined;
  readonly schedules: SchedulesReading | undefined;
}

/** The facts about a server at an instant. Times are in monotonic milliseconds. */
interface RecordFacts {
  readonly now: number;
  readonly isFresh: boolean;
  /** How long the server has been in its state. */
  readonly inStateMs: number;
  readonly isExpected: boolean | undefined;
  /** Undefined before the first sample. */
  readonly samples: ServerSamples | undefined;
  readonly power: Power;
  readonly history: ServerHistory | undefined;
  readonly unwantedStops: readonly LastStop[];
  readonly query: QueryReading | undefined;
}

/** The snapshot of a record; pure. */
export function takeSnapshot(
  record: ShownRecord,
  clock: Pick<Clock, 'toUnixMs'>,
  facts: RecordFacts,
): Snapshot {
  const { target, status } = record;
  const { now, isFresh, inStateMs, isExpected, samples, power, history, unwantedStops, query } = facts;
  const origin = clock.toUnixMs(0);
  const { limits } = target;
  const { state, since, lastStop: last } = power;
  const lastStop = last && showStop(last, origin);
  const isBlocked = status.condition === 'blocked';
  const all = samples ?? NO_SAMPLES;
  const fresh = isFresh ? all : NO_SAMPLES;
  const sample = fresh.newest;
  const { source, receivedAt, memoryLimitBytes } = all.newest;
  const cpuLimit = finiteLimit(limits.cpuCores);
  const memoryLimit = resolveMemoryLimit(limits, memoryLimitBytes);
  // A blocked server has no samples, but it has limits from the configuration or the server list.
  const given: Limits = isFresh || isBlocked ? limits : {};
  const shownHistory = isFresh ? history : undefined;
  const rate = (of: NetworkCounter) => knownNumber(Math.round(shownHistory?.rate(of, sample) ?? Number.NaN));
  const backups = target.withoutBackups === true ? undefined : freshReading(record.backups, now);
  // The panel doesn't run the schedules of a blocked server, such as a suspended one.
  const isHeld = target.blocked !== undefined || status.blocked !== undefined;
  const schedules = isHeld ? undefined : freshReading(record.schedules, now);
  const isAnswering = query !== undefined && query.query_problem === undefined;
  return {
    timestamp_seconds: unixSeconds(now, origin),
    target,
    node: record.node,
    state: isFresh ? state : 'unknown',
    condition: status.condition,
    blocked: isBlocked ? status.blocked : undefined,
    problem:
      status.problem ??
      listedProblem(target) ??
      (isFresh ? stuckProblem(state, inStateMs, isAnswering) : undefined),
    query_problem: query?.query_problem,
    source,
    sample_age_seconds: knownNumber(Math.round(now - receivedAt) / 1_000),
    memory_usage_bytes: knownNumber(sample.memoryBytes),
    memory_limit_bytes: resolveMemoryLimit(given, sample.memoryLimitBytes),
    cpu_usage_cores: knownNumber(sample.cpuCores),
    cpu_seconds_total: knownNumber(fresh.cpuMs / 1_000),
    cpu_limit_cores: finiteLimit(given.cpuCores),
    cpu_saturated_share: cpuLimit === undefined ? undefined : shownHistory?.cpuSaturatedShare(now),
    disk_usage_bytes: knownNumber(sample.diskBytes),
    disk_limit_bytes: finiteLimit(given.diskBytes),
    network_receive_bytes_total: knownNumber(sample.networkReceiveBytes),
    network_transmit_bytes_total: knownNumber(sample.networkTransmitBytes),
    network_receive_bytes_per_second: rate('networkReceiveBytes'),
    network_transmit_bytes_per_second: rate('networkTransmitBytes'),
    disk_read_bytes_total: knownNumber(sample.diskReadBytes),
    disk_written_bytes_total: knownNumber(sample.diskWrittenBytes),
    uptime_milliseconds: knownNumber(sample.uptimeMs),
    start_time_seconds: knownNumber(unixSeconds(fresh.startedAt, origin)),
    cpu_usage_peak_cores: shownHistory?.peak('cpu', now),
    memory_usage_peak_bytes: shownHistory?.peak('memory', now),
    state_changed_timestamp_seconds: isFresh && state !== 'unknown' ? unixSeconds(since, origin) : undefined,
    starts_total: power.starts,
    last_stop_timestamp_seconds: lastStop?.timestamp_seconds,
    stops: power.stops,
    last_stop: lastStop,
    off_reason: isOff(state) ? reasonSince(since, last) : undefined,
    is_stop_awaited: record.awaitsNotice,
    unwanted_stops: unwantedStops.map((stop) => showStop(stop, origin)),
    last_exit_code: power.lastExitCode,
    automatic_restart_aborted: Number(power.isRestartAborted),
    running_seconds_total: all.runningMs / 1_000,
    observed_seconds_total: all.observedMs / 1_000,
    cpu_saturated_seconds_total: cpuLimit && all.cpuSaturatedMs / 1_000,
    memory_saturated_seconds_total: memoryLimit && all.memorySaturatedMs / 1_000,
    console_lines_total: record.consoleLines,
    expected_running: isExpected === undefined ? undefined : Number(isExpected),
    collection_up: Number(isFresh),
    collection_streaming: Number(status.condition === 'streaming'),
    backups: backups?.backups,
    backup_last_success_timestamp_seconds: backups?.backup_last_success_timestamp_seconds,
    backup_last_failure_timestamp_seconds: backups?.backup_last_failure_timestamp_seconds,
    backup_last_size_bytes: backups?.backup_last_size_bytes,
    schedules: schedules?.schedules ?? [],
    schedules_left_out: schedules?.schedules_left_out,
    schedules_last_read_timestamp_seconds: schedules?.schedules_last_read_timestamp_seconds,
    players: query?.players,
    bots: query?.bots,
    players_max: query?.players_max,
    query_up: query && Number(query.query_problem === undefined),
    query_duration_seconds: query?.query_duration_seconds,
    last_sample_timestamp_seconds: knownNumber(unixSeconds(receivedAt, origin)),
  };
}

/** A problem in the server list that doesn't prevent the server's monitoring. */
function listedProblem({ isReinstallFailed }: ServerTarget): Problem | undefined {
  return isReinstallFailed && REINSTALL_FAILED;
}

const REINSTALL_FAILED: Problem = {
  cause: 'reinstall_failed',
  detail: "reinstall_failed according to the panel's server list",
};

// Rounded to milliseconds, because anything finer is noise. The origin is the Unix time at which
// the monotonic clock was 0.
function unixSeconds(monotonicMs: number, originMs: number): number {
  return Math.round(originMs + monotonicMs) / 1_000;
}

function showStop({ at, reason, exitCode, whileDown }: LastStop, originMs: number): ShownStop {
  const stop = { timestamp_seconds: unixSeconds(at, originMs), reason, exit_code: exitCode };
  return whileDown ? { ...stop, while_exporter_down: whileDown } : stop;
}

/** Stands for the samples of a server that has none; never changed. */
const NO_SAMPLES = new ServerSamples();

/** The reason of the last stop, if the server's current state began with it. */
export function reasonSince(since: number, last: LastStop | undefined): StopReason | undefined {
  return last !== undefined && last.at >= since ? last.reason : undefined;
}

/** The reading, unless it is stale. */
export function freshReading<Reading extends { readonly staleAt: number }>(
  reading: Reading | undefined,
  now: number,
): Reading | undefined {
  return reading !== undefined && now < reading.staleAt ? reading : undefined;
}

export function knownNumber(value: number | undefined): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
