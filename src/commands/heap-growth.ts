// Bounds how far the heap grows between full collections.

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
