// The exporter as a program of the benchmarks.

import { createApp } from '../../src/app/app.ts';
import { openLog } from '../../src/app/log.ts';
import { boundHeapGrowth } from '../../src/commands/heap-growth.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { formatIssues } from '../../src/yaml/issues.ts';
import { watchProcess } from './process-usage.ts';

export type ExporterProgram = Awaited<ReturnType<typeof start>>;

/** Runs the exporter like `serve`, but logs only warnings. */
export async function start({ configFile }: { readonly configFile: string }) {
  const loaded = await loadConfig(configFile, {});
  if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
  const app = createApp({
    config: loaded.config,
    listen: { host: '127.0.0.1', port: 0 },
    log: (await openLog({ level: 'warn', format: 'json' })).log,
  });
  const { url } = await app.start();
  boundHeapGrowth();
  return {
    url: () => url,
    watch: watchProcess,
    /**
     * Memory in bytes, after a garbage collection if possible, and the number of timers, sockets
     * and other resources that keep the process alive.
     */
    memory: () => {
      globalThis.gc?.();
      const { rss, heapUsed } = process.memoryUsage();
      return { rss, heapUsed, resources: process.getActiveResourcesInfo().length };
    },
  };
}
