import type { Severity } from '../../diagnosis/causes.ts';
import type { LastStop, StopReason } from '../../domain/reading.ts';
import { type Attention, isCrash } from './attention.ts';
import type { ExplainedProblem } from './protocol.ts';

/** A server's problem in words that fit into a table cell. */
export interface Trouble {
  /** The cause in a few words. */
  readonly title: string;
  /** What to do; empty if there is nothing to do. */
  readonly action: string;
  readonly severity: Severity;
}

/** The facts that the words depend on. */
export interface TroubleFacts {
  readonly attention: Attention | undefined;
  readonly problem: ExplainedProblem | undefined;
  /** Undefined if unknown. */
  readonly expected: boolean | undefined;
  readonly lastStop: Omit<LastStop, 'at'> | undefined;
  readonly lastCrash: Omit<LastStop, 'at'> | undefined;
  /** Time since that crash, in milliseconds. */
  readonly crashedMsAgo: number;
  /** Unwanted stops in the last 15 minutes. */
  readonly crashes: number;
  /** Usage as a percentage of the disk limit. */
  readonly diskPercent: number | undefined;
}

/** How long a row shows a crash that was followed by a restart, in milliseconds. */
export const TRACE_MS = 3_600_000;

/** A short title for each reason for a stop. */
export const STOP_TITLES: Readonly<Record<StopReason, string>> = {
  requested: 'stopped on request',
  exited: 'exited by itself',
  crashed: 'crashed',
  out_of_memory: 'out of memory',
  disk_full: 'stopped, disk full',
  unknown: 'stopped, reason unknown',
};

/** A stop in a few words: its reason and the exit code. */
export function stopWords({ reason, exitCode }: Omit<LastStop, 'at'>): string {
  return exitCode === undefined ? STOP_TITLES[reason] : `${STOP_TITLES[reason]}, exit code ${exitCode}`;
}

/** The number of characters that fit into two lines of a table cell. */
const LONGEST_ACTION = 90;

/** What to do about a problem in a few words: as much of its remedy as fits; the open row shows the rest. */
export function actionOf({ remedy }: Pick<ExplainedProblem, 'remedy'>): string {
  if (remedy.length <= LONGEST_ACTION) return remedy;
  const clause = `${remedy.split(/[.:;] /, 1).join('')}.`;
  if (clause.length <= LONGEST_ACTION) return clause;
  const end = Math.max(
    ...[', or ', ', and ', ', '].map((joint) => clause.lastIndexOf(joint, LONGEST_ACTION - 1)),
  );
  return end < 0 ? clause : `${clause.slice(0, end)}.`;
}

/** A server's problem and what to do; undefined if there is nothing to show. */
export function troubleOf(facts: TroubleFacts): Trouble | undefined {
  const { attention, problem, lastCrash, crashedMsAgo } = facts;
  if (attention !== undefined && !(attention === 'no_data' && problem !== undefined)) {
    return WORDS[attention](facts);
  }
  if (problem !== undefined) {
    return { title: problem.title, action: actionOf(problem), severity: problem.severity };
  }
  return lastCrash !== undefined && crashedMsAgo < TRACE_MS
    ? { title: stopWords(lastCrash), action: '', severity: 'fact' }
    : undefined;
}

/** Both in one text. */
export function troubleText({ title, action }: Trouble): string {
  return action === '' ? title : `${title}. ${action}`;
}

const WORDS: Readonly<Record<Attention, (facts: TroubleFacts) => Trouble>> = {
  crashed: (facts) => error(crashTitle(facts), `${remedyOf(facts)} ${restartOf(facts)}`),
  gave_up: (facts) => error(gaveUpTitle(facts), `${remedyOf(facts)} Then start it.`),
  crash_loop: (facts) => error(`crash loop: ${facts.crashes} in 15 min`, remedyOf(facts)),
  off: ({ expected }) =>
    expected === true
      ? error(
          'off, but expected to run',
          'Check its console, then start it; or set expect: any if it may be off.',
        )
      : error(
          'stopped, reason unknown',
          'Start it if it should be running, or set expect: any if it may be off.',
        ),
  no_data: () => error('no data', 'Check the server and its node in the panel.'),
  // A problem with observing the server takes precedence over that of its query, and has another remedy.
  not_answering: ({ problem }) =>
    warning(
      'running, but not answering queries',
      problem?.cause.startsWith('query_') === true ? actionOf(problem) : 'Try to join the game.',
    ),
  cpu_saturated: () => warning('CPU at its limit', 'Raise its CPU limit, or reduce its load.'),
  disk_nearly_full: ({ diskPercent }) =>
    warning(
      diskPercent === undefined ? 'disk nearly full' : `disk ${diskPercent} % full`,
      'Delete files or raise its disk limit. Nodes stop servers that exceed it.',
    ),
};

function crashTitle({ lastStop }: TroubleFacts): string {
  return lastStop === undefined ? STOP_TITLES.crashed : stopWords(lastStop);
}

// A node restarts a crashed server, but not one that it stopped because of its disk.
function restartOf({ lastStop }: TroubleFacts): string {
  return lastStop?.reason === 'disk_full' ? 'Then start it.' : "Start it if its node doesn't.";
}

function gaveUpTitle({ lastStop }: TroubleFacts): string {
  if (lastStop?.reason === 'crashed' && lastStop.exitCode !== undefined) {
    return `not restarted, exit code ${lastStop.exitCode}`;
  }
  return isCrash(lastStop?.reason) && lastStop?.reason !== 'crashed'
    ? `not restarted, ${STOP_TITLES[lastStop?.reason ?? 'crashed']}`
    : 'not restarted by its node';
}

function remedyOf({ lastStop }: TroubleFacts): string {
  if (lastStop?.reason === 'out_of_memory') return 'Raise its memory limit, or reduce its memory use.';
  if (lastStop?.reason === 'disk_full') return 'Delete files, or raise its disk limit.';
  return 'Check its console for the cause.';
}

function error(title: string, action: string): Trouble {
  return { title, action, severity: 'error' };
}

function warning(title: string, action: string): Trouble {
  return { title, action, severity: 'warning' };
}
