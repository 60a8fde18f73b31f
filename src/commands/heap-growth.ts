import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow between two full collections, in per cent of what was alive after the last. */
const GROWTH_PERCENT = 50;

/**
 * Bounds the garbage that waits for the collector. Left to itself it lets the heap double, since it takes a busy allocator
 * for one that will go on so: with 10,000 servers a third more memory (bench/RESULTS.md).
 */
export function boundHeapGrowth(): void {
  // The collector reads it anew at each collection, so it may be set in a running process.
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
