// Measures the CPU time of this process during a task, with a profile on request.
import { startProfile } from '../fleet/process-usage.ts';

/** CPU milliseconds of all threads, and elapsed milliseconds. */
export interface TimeTaken {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/**
 * Measures until `run` resolves. Collects garbage first, so that earlier garbage isn't included.
 */
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
