import { readFileSync } from 'node:fs';

/** Where Linux reports a process's limits. */
const LIMITS_FILE = '/proc/self/limits';

/** How the system is queried; tests replace it. */
export interface LimitSources {
  readonly platform: NodeJS.Platform;
  readonly readLimits: () => string;
  readonly report: () => unknown;
}

const SYSTEM: LimitSources = {
  platform: process.platform,
  readLimits: () => readFileSync(LIMITS_FILE, 'utf8'),
  report: () => process.report.getReport(),
};

/**
 * How many files this process may open; undefined if there is no limit or it can't be determined. Node.js raises its soft limit
 * to the hard one at startup, so this is the effective one.
 */
export function descriptorLimit(sources: LimitSources = SYSTEM): number | undefined {
  try {
    return sources.platform === 'linux' ? fromLimits(sources.readLimits()) : fromReport(sources.report());
  } catch {
    // Without /proc or reports, the exporter runs as if there were no limit.
    return undefined;
  }
}

function fromLimits(text: string): number | undefined {
  const [, soft] = /^Max open files +(\d+)/m.exec(text) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

// A report takes some milliseconds, and is the only source on systems other than Linux; Windows has no such limit, and no such
// entry.
function fromReport(report: unknown): number | undefined {
  const { userLimits } = report as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
