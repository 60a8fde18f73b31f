import { openSync, readSync } from 'node:fs';

/** The CPU time of the main thread in milliseconds; elapsed time where the kernel doesn't report it. */
export function threadTime(): () => number {
  if (process.platform !== 'linux') return () => performance.now();
  // Its first number is the time on a CPU, in nanoseconds.
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  return () => Number.parseInt(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)), 10) / 1e6;
}
