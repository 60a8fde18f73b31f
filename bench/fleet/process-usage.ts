// Measures the CPU time and memory of this process.

import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** The resource usage of a process during a measurement. */
export interface ProcessUsage {
  readonly seconds: number;
  /** User and system time, in percent of one core. */
  readonly cpuPercent: number;
  /** The highest of several readings, in 10^6 bytes. */
  readonly rssMb: number;
  /** The highest value since the process started, in 10^6 bytes. */
  readonly peakRssMb: number;
}

export interface UsageWindow {
  readonly seconds: number;
  /** Where to write a CPU profile of the measurement. */
  readonly profile?: string;
}

const RSS_INTERVAL_MS = 250;
const PROFILE_INTERVAL_US = 250;

/** Measures this process for some seconds. */
export async function watchProcess({ seconds, profile }: UsageWindow): Promise<ProcessUsage> {
  const stopProfile = profile === undefined ? undefined : await startProfile(profile);
  let rss = process.memoryUsage.rss();
  const rssTimer = setInterval(() => {
    rss = Math.max(rss, process.memoryUsage.rss());
  }, RSS_INTERVAL_MS);
  const startedAt = performance.now();
  const before = process.cpuUsage();
  await delay(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  const elapsedMs = performance.now() - startedAt;
  clearInterval(rssTimer);
  await stopProfile?.();
  return {
    seconds: elapsedMs / 1_000,
    cpuPercent: (user + system) / 10 / elapsedMs,
    rssMb: rss / 1e6,
    peakRssMb: (process.resourceUsage().maxRSS * 1_024) / 1e6,
  };
}

/**
 * Starts a CPU profile of this process. The returned function ends it, and writes it to the file.
 */
export async function startProfile(file: string): Promise<() => Promise<void>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: PROFILE_INTERVAL_US });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    await writeFile(file, JSON.stringify(profile));
  };
}
