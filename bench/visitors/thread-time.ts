// Reads the CPU time of the main thread.

import { openSync, readSync } from 'node:fs';

/**
 * Returns a function that reads the CPU time in milliseconds, or the elapsed time on other systems
 * than Linux.
 */
export function threadTime(): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  // The first number in the file is the CPU time in nanoseconds.
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  return () => Number.parseInt(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)), 10) / 1e6;
}
