// The limits of a server.

/** A limit from the configuration or the server list. */
export type Limit = number | 'unlimited';

/** The limits of one server; a key is absent if unknown. */
export interface Limits {
  readonly memoryBytes?: Limit;
  readonly diskBytes?: Limit;
  readonly cpuCores?: Limit;
  /** Known only from a server list; 0 without swap. */
  readonly swapBytes?: Limit;
  /** Weight of the server's block I/O, 10 to 1000; known only from a server list. */
  readonly ioWeight?: number;
  /**
   * The limit in the server list. It applies only if neither the configuration nor the node gives
   * one, because nodes grant slightly more.
   */
  readonly listedMemoryBytes?: number;
}

/**
 * The limit as a number; undefined if unlimited or unknown. On the wire, both are 0 ("no limit" or
 * "never started").
 */
export function finiteLimit(limit: Limit | undefined): number | undefined {
  return typeof limit === 'number' && limit > 0 ? limit : undefined;
}

/**
 * The memory limit. The configuration takes precedence, and an "unlimited" in the server list. Then
 * follows the node's, where 0 means that its socket never saw the server run, and finally the
 * number in the server list.
 */
export function resolveMemoryLimit(limits: Limits, reportedBytes: number | undefined): number | undefined {
  return finiteLimit(limits.memoryBytes ?? (reportedBytes || limits.listedMemoryBytes));
}
