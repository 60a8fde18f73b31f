/** The processor time of this process so far, in milliseconds: what else the machine does has little effect. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
