// The highest rate of calls in a test.

const MINUTE_MS = 60_000;

/** The largest number of these times within any 60 s. In milliseconds, ascending. */
export function busiestMinute(times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [to, time] of times.entries()) {
    while ((times[from] ?? time) <= time - MINUTE_MS) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}
