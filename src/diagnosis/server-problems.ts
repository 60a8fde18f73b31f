// The problems of servers that a person sees, each with one code. `session/condition.ts` decides
// which of its causes a server has.
import type { Severity } from './cause-table.ts';

/**
 * Where a problem is recognized: by the exporter, for the page and `/api/v1`, or by the recording
 * rules.
 */
type Observer = 'exporter' | 'rules';

interface ServerProblem {
  /** A short text for a heading or a table cell. */
  readonly title: string;
  /** What to do, in one sentence or two. */
  readonly action: string;
  /** An error if the server is down or has no data, a warning if it may soon be down. */
  readonly severity: Severity;
  readonly seenBy: readonly Observer[];
}

const [BOTH, EXPORTER, RULES] = [['exporter', 'rules'], ['exporter'], ['rules']] as const;

/**
 * Every problem of a server, most urgent first, by its code in `/api/v1` and in recorded series.
 * Only the exporter knows why a server stopped. Only the rules see hours of data, as `disk_filling`
 * requires.
 */
export const SERVER_PROBLEMS = {
  crashed: {
    title: 'crashed',
    action: 'Check its console for the cause.',
    severity: 'error',
    seenBy: EXPORTER,
  },
  stopped_disk_full: {
    title: 'stopped, disk full',
    action: 'Delete files, or raise its disk limit. Then start it.',
    severity: 'error',
    seenBy: RULES,
  },
  gave_up: {
    title: 'restart aborted',
    action: 'Check its console for the cause. Then start it.',
    severity: 'error',
    seenBy: BOTH,
  },
  off: {
    title: 'off, but expected to run',
    action: 'Check its console, then start it. If it is allowed to be off, set `expect: any`.',
    severity: 'error',
    seenBy: BOTH,
  },
  no_data: {
    title: 'no data',
    action: 'Check the server and its node in the panel.',
    severity: 'error',
    seenBy: BOTH,
  },
  crash_loop: {
    title: 'stops repeatedly',
    action: 'Check its console for the cause.',
    severity: 'warning',
    seenBy: BOTH,
  },
  stuck: {
    title: 'stuck starting or stopping',
    action:
      "Players may be on it already. Check its console, and its egg's startup detection and stop command.",
    severity: 'warning',
    seenBy: BOTH,
  },
  not_answering: {
    title: 'running, but not responding',
    action: 'Try to join the game.',
    severity: 'warning',
    seenBy: BOTH,
  },
  cpu_saturated: {
    title: 'CPU at its limit',
    action: 'Raise its CPU limit, or reduce its load.',
    severity: 'warning',
    seenBy: BOTH,
  },
  disk_nearly_full: {
    title: 'disk nearly full',
    action: 'Delete files or raise its disk limit. Nodes stop servers that exceed it.',
    severity: 'warning',
    seenBy: BOTH,
  },
  disk_filling: {
    title: 'disk full within a day',
    action: 'Find out which files grow. Delete them, or raise its disk limit.',
    severity: 'warning',
    seenBy: RULES,
  },
  memory_full: {
    title: 'stops, and memory nearly full',
    action: 'Raise its memory limit, or reduce its memory use.',
    severity: 'warning',
    seenBy: RULES,
  },
  backup_failed: {
    title: 'latest backup failed',
    action: "Create a new backup in the panel. Check the node's disk and the backup storage.",
    severity: 'warning',
    seenBy: RULES,
  },
  recent_crash: {
    title: 'crashed in the last hour',
    action: 'Check its console for the cause.',
    severity: 'warning',
    seenBy: RULES,
  },
  unclear: {
    title: 'off, not known whether it should run',
    action: 'Start it if it should be running. To settle this, set `expect: running` or `expect: any`.',
    severity: 'fact',
    seenBy: EXPORTER,
  },
} as const satisfies Readonly<Record<string, ServerProblem>>;

type Code = keyof typeof SERVER_PROBLEMS;

/** The codes of the problems that one observer recognizes. */
export type CodeSeenBy<Who extends Observer> = {
  [Each in Code]: Who extends (typeof SERVER_PROBLEMS)[Each]['seenBy'][number] ? Each : never;
}[Code];

/** The same codes as a list, most urgent first. */
export function codesSeenBy<Who extends Observer>(who: Who): readonly CodeSeenBy<Who>[] {
  const all = Object.entries<ServerProblem>(SERVER_PROBLEMS);
  return all.flatMap(([code, { seenBy }]) => (seenBy.includes(who) ? [code as CodeSeenBy<Who>] : []));
}
