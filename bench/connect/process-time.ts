// CPU time of this process while something happens, with a profile on request.
import { startProfile } from '../fleet/process-usage.ts';

/** Milliseconds of all threads, and of the clock. */
export interface TimeTaken {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Measures until `run` resolves; garbage that was left before isn't collected during it. */
export async function timeOf(run: () => Promise<void>, profile?: string): Promise<TimeTaken> {
  globalThis.gc?.();
  const stopProfile = profile === undefined ? undefined : await startProfile(profile);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  const wallMs = performance.now() - startedAt;
  await stopProfile?.();
  return { cpuMs: (user + system) / 1_000, wallMs };
}
