// Decides whether the page counts a server's problem.
import { isFact } from '../../diagnosis/causes.ts';
import { whyDown } from '../../diagnosis/down-verdict.ts';
import { isOff } from '../../domain/power-states.ts';
import type { Snapshot } from '../../domain/snapshot.ts';
import { isCrash, type ShownStop } from '../../domain/stops.ts';
import {
  CPU_SATURATED_SHARE,
  LOADING_SECONDS,
  LOOP_CRASHES,
  LOOP_STOPS,
  SATURATED_FROM,
} from '../../domain/thresholds.ts';
import type { Attention } from './attention-codes.ts';

/**
 * The problem that the page counts; undefined if there is none. Normal conditions don't count:
 * blocked by the panel, off as expected, not read yet.
 */
export function countedProblem(server: Snapshot): Attention | undefined {
  if (server.collection_up === 0) return isMissed(server) && !isHeld(server) ? 'no_data' : undefined;
  if (isOff(server.state)) {
    if (isHeld(server)) return undefined;
    const reason = whyOff(server);
    if (reason !== undefined) return reason;
  } else {
    if (repeatedStops(server) !== undefined) return 'crash_loop';
    if (hasStuckProblem(server)) return 'stuck';
    if (isNotAnswering(server)) return 'not_answering';
    if ((server.cpu_saturated_share ?? 0) > CPU_SATURATED_SHARE) return 'cpu_saturated';
  }
  if (diskShare(server) >= SATURATED_FROM) return 'disk_nearly_full';
  return isUnclear(server) ? 'unclear' : undefined;
}

/**
 * The number of crashes or unwanted stops in the last hour if it amounts to a crash loop, as in the
 * alert; otherwise undefined.
 */
export function repeatedStops({
  unwanted_stops: stops,
  expected_running: expected,
}: Pick<Snapshot, 'unwanted_stops' | 'expected_running'>): number | undefined {
  const crashes = stops.filter(({ reason }) => isCrash(reason)).length;
  if (crashes >= LOOP_CRASHES) return crashes;
  return stops.length >= LOOP_STOPS && expected === 1 ? stops.length : undefined;
}

/** The last crash, if it was in the last hour. */
export function recentCrash({ unwanted_stops: stops }: Snapshot): ShownStop | undefined {
  return stops.findLast(({ reason }) => isCrash(reason));
}

/** The used share of the disk; NaN if usage or limit is unknown. */
export function diskShare({ disk_usage_bytes: used, disk_limit_bytes: limit }: Snapshot): number {
  return (used ?? Number.NaN) / (limit ?? Number.NaN);
}

function whyOff(server: Snapshot): Attention | undefined {
  const { expected_running: expected, timestamp_seconds: now, last_stop: stop } = server;
  return whyDown({
    isExpected: expected === undefined ? undefined : expected === 1,
    reason: server.off_reason,
    stoppedForSeconds: now - (stop?.timestamp_seconds ?? Number.NaN),
    isRestartAborted: server.automatic_restart_aborted === 1,
    isStopAwaited: server.is_stop_awaited,
  });
}

/** Whether the server is off and nothing indicates whether it should run. */
function isUnclear({ state, expected_running: expected, is_stop_awaited: isAwaited }: Snapshot): boolean {
  return isOff(state) && expected === undefined && !isAwaited;
}

/** Whether data is missing: there was a sample before, or a problem prevents the first one. */
function isMissed({ last_sample_timestamp_seconds: sampled, problem, condition }: Snapshot): boolean {
  return sampled !== undefined || problem !== undefined || condition === 'blocked';
}

/**
 * Whether the panel blocks the server for a state in which it isn't required to run, such as
 * suspended or installing.
 */
function isHeld({ problem, blocked }: Snapshot): boolean {
  return isFact(problem?.cause ?? blocked);
}

function hasStuckProblem({ problem }: Snapshot): boolean {
  return problem?.cause === 'still_starting' || problem?.cause === 'still_stopping';
}

function isNotAnswering({ query_problem, timestamp_seconds, start_time_seconds }: Snapshot): boolean {
  const runningFor = timestamp_seconds - (start_time_seconds ?? Number.NaN);
  return query_problem !== undefined && !isFact(query_problem.cause) && runningFor >= LOADING_SECONDS;
}
