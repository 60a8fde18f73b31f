import { CAUSES } from '../../diagnosis/causes.ts';
import { CRASH_WINDOW_SECONDS, isCrash, type Snapshot } from '../../domain/reading.ts';
import { isOff } from '../../domain/server.ts';
import {
  CPU_SATURATED_SHARE,
  LOADING_SECONDS,
  LOOP_CRASHES,
  LOOP_STOPS,
  SATURATED_FROM,
  TROUBLES,
} from '../../domain/troubles.ts';

/** The problems of servers that the page counts, most urgent first; it sorts by this order. */
export const ATTENTION = [
  'crashed',
  'gave_up',
  'off',
  'no_data',
  'crash_loop',
  'not_answering',
  'cpu_saturated',
  'disk_nearly_full',
] as const;

export type Attention = (typeof ATTENTION)[number];

/** The name and severity of each reason. */
export const ATTENTION_TROUBLES: Readonly<
  Record<Attention, { readonly title: string; readonly severity: 'error' | 'warning' }>
> = {
  crashed: { title: 'crashed', severity: 'error' },
  gave_up: TROUBLES.gave_up,
  crash_loop: TROUBLES.crash_loop,
  off: TROUBLES.down,
  no_data: TROUBLES.no_data,
  not_answering: TROUBLES.not_answering,
  cpu_saturated: TROUBLES.cpu_saturated,
  disk_nearly_full: TROUBLES.disk_full,
};

/** The counts at the top of the page: servers without data aren't known to be up or down. */
export const ATTENTION_GROUPS = ['down', 'no_data', 'warning'] as const;
export type AttentionGroup = (typeof ATTENTION_GROUPS)[number];

export function groupOf(attention: Attention): AttentionGroup {
  if (attention === 'no_data') return attention;
  return ATTENTION_TROUBLES[attention].severity === 'error' ? 'down' : 'warning';
}

/**
 * The problem of a server; undefined if it has none. Normal conditions don't count: held by the panel, off as expected, not
 * reached yet.
 */
export function attentionOf(server: Snapshot): Attention | undefined {
  if (server.collection_up === 0) return isMissed(server) && !isHeld(server) ? 'no_data' : undefined;
  if (isOff(server.state)) {
    if (isHeld(server)) return undefined;
    const reason = whyOff(server);
    if (reason !== undefined) return reason;
  } else {
    if (isCrashLoop(server)) return 'crash_loop';
    if (isNotAnswering(server)) return 'not_answering';
    if ((server.cpu_saturated_share ?? 0) > CPU_SATURATED_SHARE) return 'cpu_saturated';
  }
  return share(server.disk_usage_bytes, server.disk_limit_bytes) >= SATURATED_FROM
    ? 'disk_nearly_full'
    : undefined;
}

function whyOff(server: Snapshot): Attention | undefined {
  const { expected_running: expected, off_reason: reason } = server;
  const mayBeOff = expected === 0;
  if (server.automatic_restart_aborted === 1 && !mayBeOff) return 'gave_up';
  const stoppedAgo = server.timestamp_seconds - (server.last_stop?.timestamp_seconds ?? Number.NaN);
  if (isCrash(reason) && (!mayBeOff || stoppedAgo < CRASH_WINDOW_SECONDS)) return 'crashed';
  // The reason decides what to do.
  if (server.is_stop_awaited) return undefined;
  // After an unexplained stop, it is also unknown whether the server should run; the alert uses what was expected before.
  return expected === 1 || (expected === undefined && reason === 'unknown') ? 'off' : undefined;
}

/** Whether there was a sample before, or a problem prevents the first one. */
function isMissed({ last_sample_timestamp_seconds: sampled, problem, condition }: Snapshot): boolean {
  return sampled !== undefined || problem !== undefined || condition === 'blocked';
}

/** Whether the panel holds the server in a state in which it needn't run, such as suspended or installing. */
function isHeld({ problem, blocked }: Snapshot): boolean {
  const cause = problem?.cause ?? blocked;
  return cause !== undefined && CAUSES[cause].severity === 'fact';
}

function isCrashLoop({ unwanted_stops: stops }: Snapshot): boolean {
  return stops.length >= LOOP_STOPS || stops.filter(({ reason }) => isCrash(reason)).length >= LOOP_CRASHES;
}

function isNotAnswering({ query_problem, timestamp_seconds, start_time_seconds }: Snapshot): boolean {
  const runningFor = timestamp_seconds - (start_time_seconds ?? Number.NaN);
  const isFact = query_problem === undefined || CAUSES[query_problem.cause].severity === 'fact';
  return !isFact && runningFor >= LOADING_SECONDS;
}

/** Usage as a share of a limit; NaN if either is unknown. */
function share(used = Number.NaN, limit = Number.NaN): number {
  return used / limit;
}
