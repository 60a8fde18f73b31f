// The limits of a server.

/** A limit from the configuration or the server list. */
export type Limit = number | 'unlimited';

/** The limits of one server; a key is absent if unknown. */
export interface Limits {
  readonly memoryBytes?: Limit;
  readonly diskBytes?: Limit;
  readonly cpuCores?: Limit;
  /** Known only from a server list; 0 if there is no swap. */
  readonly swapBytes?: Limit;
  /** Weight of the server's block I/O, 10 to 1000; known only from a server list. */
  readonly ioWeight?: number;
  /**
   * The server list's; it applies if the configuration and the node give none, because nodes grant
   * slightly more.
   */
  readonly listedMemoryBytes?: number;
}

/**
 * The limit as a number; undefined if unlimited or unknown, as 0 on the wire is ("no limit" or
 * "never started").
 */
export function finiteLimit(limit: Limit | undefined): number | undefined {
  return typeof limit === 'number' && limit > 0 ? limit : undefined;
}

/**
 * The memory limit: the configuration's or an "unlimited" in the server list, else the one that the
 * node reports (0 means that its socket never saw the server run), else the number in the server
 * list.
 */
export function resolveMemoryLimit(limits: Limits, reportedBytes: number | undefined): number | undefined {
  return finiteLimit(limits.memoryBytes ?? (reportedBytes || limits.listedMemoryBytes));
}
