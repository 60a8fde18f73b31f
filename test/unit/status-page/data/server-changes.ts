// Events of a server, as changes to the reading of one that runs as expected.
import type { ShownStop, StopReason } from '../../../../src/domain/stops.ts';
import type { ServerReadingChanges } from '../../../support/readings.ts';

export const NOW = 1_700_001_000;

/** A server that runs as expected, and uses half of its limits. */
export const HEALTHY: ServerReadingChanges = {
  timestamp_seconds: NOW,
  cpu_limit_cores: 1,
  cpu_saturated_share: 0,
  disk_limit_bytes: 1,
  disk_usage_bytes: 0.5,
};

export const stop = (reason: StopReason, secondsAgo = 60, exit_code?: number): ShownStop => ({
  timestamp_seconds: NOW - secondsAgo,
  reason,
  exit_code,
});

/** A server that is off after a stop with a known reason. */
export const off = (reason: StopReason, secondsAgo?: number, exitCode?: number): ServerReadingChanges => ({
  state: 'offline',
  last_stop: stop(reason, secondsAgo, exitCode),
  off_reason: reason,
});

export const OFF: ServerReadingChanges = { state: 'offline' };
export const STARTING = { cause: 'still_starting', detail: 'starting for 2 h' } as const;
export const LOST: ServerReadingChanges = { state: 'unknown', collection_up: 0 };
export const LONG_AGO = 900;
export const GAVE_UP = { automatic_restart_aborted: 1 };
export const MAY_BE_OFF = { expected_running: 0 };
export const UNKNOWN = { expected_running: undefined };
export const LOOP = { unwanted_stops: [stop('crashed'), stop('crashed'), stop('crashed')] };
export const SUSPENDED = { problem: { cause: 'suspended', detail: '' } } as const;
export const MUTE = {
  query_problem: { cause: 'query_no_answer', detail: '' },
  start_time_seconds: NOW - 600,
} as const;
export const CPU_FULL = { cpu_saturated_share: 1 };
export const DISK_FULL = { disk_usage_bytes: 1 };
