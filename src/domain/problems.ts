// The causes of problems, and the limits at which a server has one.

/**
 * The codes of all causes, as keys. `src/diagnosis` declares them, where it explains each cause and
 * its remedy. They are the values of `cause` in the log, in `/api/v1`, in doctor's JSON and in the
 * labels of metrics.
 */
export interface CauseCodes {}
export type CauseCode = keyof CauseCodes;

/** What went wrong: the cause, and a detail from whatever detected it, on one line and without secrets. */
export interface Problem {
  readonly cause: CauseCode;
  readonly detail: string;
  /** How long the far end asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * Usage from this share of a limit on counts as saturated: nodes round, and grant slightly more or
 * less than the limit.
 */
export const SATURATED_FROM = 0.95;

/** Above this share of the last ten minutes at its CPU limit, a server counts as being at it. */
export const CPU_SATURATED_SHARE = 0.5;
export const SATURATED_WINDOW_SECONDS = 600;

/**
 * A server stops repeatedly after three crashes within an hour, or, if it is expected to run, after
 * five stops that nobody requested. The reason for a polled server's stop is unknown, so it may have
 * been a restart by a person.
 */
export const LOOP_SECONDS = 3_600;
export const LOOP_CRASHES = 3;
export const LOOP_STOPS = 5;

/** A start or stop that takes longer probably won't end by itself. */
export const STARTING_SECONDS = 900;
export const STOPPING_SECONDS = 300;

/** A game may take this long to load before it responds to queries. */
export const LOADING_SECONDS = 600;

/**
 * The problems of servers that the status page and the dashboards show, by the code that the
 * recording rules give them: the name, what to do about it, and whether the server is down (an
 * error) or may soon be.
 */
export const TROUBLES = {
  stopped_disk_full: {
    title: 'stopped, disk full',
    action: 'Delete files, or raise its disk limit. Then start it.',
    severity: 'error',
  },
  gave_up: {
    title: 'restart aborted',
    action: 'Check its console for the cause. Then start it.',
    severity: 'error',
  },
  down: {
    title: 'off, but expected to run',
    action: 'Check its console, then start it. If it is allowed to be off, set `expect: any`.',
    severity: 'error',
  },
  crash_loop: { title: 'stops repeatedly', action: 'Check its console for the cause.', severity: 'warning' },
  no_data: { title: 'no data', action: 'Check the server and its node in the panel.', severity: 'error' },
  stuck: {
    title: 'starting or stopping for long',
    action:
      "Players may be on it already. Check its console, and its egg's startup detection and stop command.",
    severity: 'warning',
  },
  not_answering: {
    title: 'running, but not responding',
    action: 'Try to join the game.',
    severity: 'warning',
  },
  cpu_saturated: {
    title: 'CPU at its limit',
    action: 'Raise its CPU limit, or reduce its load.',
    severity: 'warning',
  },
  disk_full: {
    title: 'disk nearly full',
    action: 'Delete files or raise its disk limit. Nodes stop servers that exceed it.',
    severity: 'warning',
  },
  disk_filling: {
    title: 'disk full within a day',
    action: 'Find out which files grow. Delete them, or raise its disk limit.',
    severity: 'warning',
  },
  memory_full: {
    title: 'stops, and memory nearly full',
    action: 'Raise its memory limit, or reduce its memory use.',
    severity: 'warning',
  },
  backup_failed: {
    title: 'latest backup failed',
    action: "Create a new backup in the panel. Check the node's disk and the backup storage.",
    severity: 'warning',
  },
  crashed: {
    title: 'crashed in the last hour',
    action: 'Check its console for the cause.',
    severity: 'warning',
  },
} as const satisfies Record<string, { title: string; action: string; severity: 'error' | 'warning' }>;
