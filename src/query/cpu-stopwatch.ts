// Measures the CPU time of a decoder, to limit it.

/** The failure of a query whose response takes too long to decode. */
export const TOO_MUCH = 'decoding the response takes too much CPU time';

/**
 * Measures an upper bound of CPU time, in milliseconds: the measured code may wait for a core, and
 * other threads count as well.
 */
export function stopwatch(): () => number {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1_000);
  };
}
