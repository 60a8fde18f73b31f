// The stops of servers, and their reasons.

/**
 * Why a server stopped, the label `reason` of `gameserver_stops_total`: someone requested it, it
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
 * A stop with a decided reason, in monotonic milliseconds; without an exit code if the node
 * reported none.
 */
export interface LastStop {
  readonly at: number;
  readonly reason: StopReason;
  readonly exitCode?: number | undefined;
  /**
   * Whether it happened while the exporter was not running. Then `at` is when the exporter noticed
   * it.
   */
  readonly whileDown?: true | undefined;
}

/** A stop in metrics and on pages, in Unix time. */
export interface ShownStop {
  readonly timestamp_seconds: number;
  readonly reason: StopReason;
  readonly exit_code?: number | undefined;
  readonly while_exporter_down?: true | undefined;
}
