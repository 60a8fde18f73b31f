// The limits of the process: garbage that it may hold, files that it may open.

import { setFlagsFromString } from 'node:v8';

/**
 * How much the heap may grow between two full collections, in percent of the live data after the
 * first.
 */
const GROWTH_PERCENT = 50;

/**
 * Bounds the uncollected garbage. By default, the collector lets the heap double: with 10,000
 * servers, peak memory is then half as high again (bench/RESULTS.md).
 */
export function boundHeapGrowth(): void {
  // V8 reads the flag at each collection, so it can be set in a running process.
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * How many files this process may open; undefined if there is no limit or the system doesn't report
 * one. Node.js raises its soft limit to the hard one at startup, so this is the effective one.
 */
export function descriptorLimit(report: unknown = process.report.getReport()): number | undefined {
  const { userLimits } = report as { readonly userLimits?: { readonly open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
