// The stops of servers, by their reasons.

/**
 * Why a server stopped, the `reason` label of `gameserver_stops_total`: someone requested it, it
 * `exited` by itself with code 0, it crashed, the kernel killed it for its memory usage, the daemon
 * stopped it for its disk usage, or the reason is unknown.
 */
export const STOP_REASONS = [
  'requested',
  'exited',
  'crashed',
  'out_of_memory',
  'disk_full',
  'unknown',
] as const;

export type StopReason = (typeof STOP_REASONS)[number];

const CRASHES = new Set<StopReason | undefined>(['crashed', 'out_of_memory', 'disk_full']);

/** Whether the server stopped without anybody requesting it. */
export function isCrash(reason: StopReason | undefined): boolean {
  return CRASHES.has(reason);
}

export type StopCounts = Readonly<Record<StopReason, number>>;

export const NO_STOPS = Object.fromEntries(STOP_REASONS.map((reason) => [reason, 0])) as StopCounts;

/**
 * A stop whose reason is decided, in monotonic milliseconds; without an exit code if the node
 * reported none.
 */
export interface LastStop {
  readonly at: number;
  readonly reason: StopReason;
  readonly exitCode?: number | undefined;
  /**
   * It happened while the exporter was not running, so that `at` is when the exporter found out.
   */
  readonly whileDown?: true | undefined;
}

/** Such a stop as metrics and pages show it, in Unix time. */
export interface ShownStop {
  readonly timestamp_seconds: number;
  readonly reason: StopReason;
  readonly exit_code?: number | undefined;
  readonly while_exporter_down?: true | undefined;
}
