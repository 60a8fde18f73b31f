// The CPU time that a decoder takes, within a limit.

/** What a query reports if decoding a response takes too long. */
export const TOO_MUCH = 'decoding the response takes too much CPU time';

/**
 * An upper bound on how long something is busy, in milliseconds: it may wait for a core, and other
 * threads use CPU time, too.
 */
export function stopwatch(): () => number {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1_000);
  };
}
