// Describes the machine on which benchmarks run.

import { cpus, loadavg, totalmem } from 'node:os';

/**
 * The machine, the version of Node.js, the date and the load, because results are meaningless
 * without them.
 */
export function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown CPU';
  const memoryGb = (totalmem() / 1e9).toFixed(0);
  const load = loadavg()
    .map((average) => average.toFixed(2))
    .join(' ');
  return [
    `machine  ${model}, ${processors.length} cores, ${memoryGb} GB, ${process.platform} ${process.arch}`,
    `Node     ${process.version}`,
    `date     ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, load average before: ${load}`,
  ].join('\n');
}
