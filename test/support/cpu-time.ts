// The processor time of the test process.

/**
 * The processor time of this process so far, in milliseconds. Unlike real time, it hardly depends
 * on other programs.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
