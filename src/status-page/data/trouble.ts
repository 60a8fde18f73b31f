import type { Severity } from '../../diagnosis/causes.ts';
import { isCrash, type ShownStop, type Snapshot, type StopReason } from '../../domain/reading.ts';
import { TROUBLES } from '../../domain/troubles.ts';
import { type Attention, attentionOf } from './attention.ts';
import { explainedOf } from './problems.ts';
import type { ExplainedProblem } from './protocol.ts';
import { share } from './words.ts';

/** A server's problem in words that fit into a table cell. */
export interface Trouble {
  /** The cause in a few words. */
  readonly title: string;
  /** What to do; empty if there is nothing to do. */
  readonly action: string;
  readonly severity: Severity;
}

/** The facts that the words depend on, of a snapshot or of a server on the page. */
export interface TroubleFacts
  extends Pick<
    Snapshot,
    'expected_running' | 'last_stop' | 'last_crash' | 'disk_usage_bytes' | 'disk_limit_bytes'
  > {
  readonly attention: Attention | undefined;
  readonly problem: ExplainedProblem | undefined;
  /** The number of unwanted stops in the last hour. */
  readonly crashes: number;
}

/** How long a row shows a crash that was followed by a restart. */
export const TRACE_SECONDS = 3_600;

/** A short title for each reason for a stop. */
export const STOP_TITLES: Readonly<Record<StopReason, string>> = {
  requested: 'stopped on request',
  exited: 'exited by itself',
  crashed: 'crashed',
  out_of_memory: 'out of memory',
  disk_full: TROUBLES.stopped_disk_full.title,
  unknown: 'stopped, reason unknown',
};

/** A stop in a few words: its reason and the exit code. */
export function stopWords({ reason, exit_code: code }: Pick<ShownStop, 'reason' | 'exit_code'>): string {
  return code === undefined ? STOP_TITLES[reason] : `${STOP_TITLES[reason]}, exit code ${code}`;
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

/** A server's trouble as of its snapshot. */
export function serverTrouble(server: Snapshot): Trouble | undefined {
  const facts = {
    ...server,
    attention: attentionOf(server),
    problem: explainedOf(server),
    crashes: server.unwanted_stops.length,
  };
  return troubleOf(facts, server.timestamp_seconds);
}

/** A server's problem and what to do at this Unix time in seconds; undefined if there is nothing to show. */
export function troubleOf(facts: TroubleFacts, now: number): Trouble | undefined {
  const { attention, problem, last_crash: crash } = facts;
  if (attention !== undefined && !(attention === 'no_data' && problem !== undefined)) {
    return WORDS[attention](facts);
  }
  if (problem !== undefined) {
    return { title: problem.title, action: actionOf(problem), severity: problem.severity };
  }
  return crash !== undefined && now - crash.timestamp_seconds < TRACE_SECONDS
    ? { title: stopWords(crash), action: '', severity: 'fact' }
    : undefined;
}

/** Both in one text. */
export function troubleText({ title, action }: Trouble): string {
  return action === '' ? title : `${title}. ${action}`;
}

const WORDS: Readonly<Record<Attention, (facts: TroubleFacts) => Trouble>> = {
  crashed: (facts) => error(crashTitle(facts), `${remedyOf(facts)} ${restartOf(facts)}`),
  gave_up: (facts) => error(gaveUpTitle(facts), `${remedyOf(facts)} Then start it.`),
  crash_loop: (facts) => error(`${TROUBLES.crash_loop.title}: ${facts.crashes} in 1 h`, remedyOf(facts)),
  off: ({ expected_running: expected }) =>
    expected === 1
      ? error(TROUBLES.down.title, TROUBLES.down.action)
      : error(
          'stopped, reason unknown',
          'Start it if it should be running, or set expect: any if it may be off.',
        ),
  no_data: () => error(TROUBLES.no_data.title, TROUBLES.no_data.action),
  // A problem with observing the server takes precedence over that of its query, and has another remedy.
  not_answering: ({ problem }) =>
    warning(
      TROUBLES.not_answering.title,
      problem?.cause.startsWith('query_') === true ? actionOf(problem) : TROUBLES.not_answering.action,
    ),
  cpu_saturated: () => warning(TROUBLES.cpu_saturated.title, TROUBLES.cpu_saturated.action),
  disk_nearly_full: ({ disk_usage_bytes: used, disk_limit_bytes: limit }) => {
    const percent = share(used, limit);
    return warning(
      percent === undefined ? TROUBLES.disk_full.title : `disk ${percent} % full`,
      TROUBLES.disk_full.action,
    );
  },
};

function crashTitle({ last_stop: stop }: TroubleFacts): string {
  return stop === undefined ? STOP_TITLES.crashed : stopWords(stop);
}

// A node restarts a crashed server, but not one that it stopped because of its disk.
function restartOf({ last_stop: stop }: TroubleFacts): string {
  return stop?.reason === 'disk_full' ? 'Then start it.' : "Start it if its node doesn't.";
}

function gaveUpTitle({ last_stop: stop }: TroubleFacts): string {
  if (stop?.reason === 'crashed' && stop.exit_code !== undefined) {
    return `${TROUBLES.gave_up.title}, exit ${stop.exit_code}`;
  }
  return isCrash(stop?.reason) && stop?.reason !== 'crashed'
    ? `${TROUBLES.gave_up.title}, ${STOP_TITLES[stop?.reason ?? 'crashed']}`
    : TROUBLES.gave_up.title;
}

function remedyOf({ last_stop: stop }: TroubleFacts): string {
  if (stop?.reason === 'out_of_memory') return TROUBLES.memory_full.action;
  if (stop?.reason === 'disk_full') return 'Delete files, or raise its disk limit.';
  return TROUBLES.crash_loop.action;
}

function error(title: string, action: string): Trouble {
  return { title, action, severity: 'error' };
}

function warning(title: string, action: string): Trouble {
  return { title, action, severity: 'warning' };
}
