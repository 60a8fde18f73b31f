import type { Severity } from '../../diagnosis/cause-table.ts';
import { isCrash, type ShownStop, type Snapshot, type StopReason } from '../../domain/reading.ts';
import { SATURATED_FROM, TROUBLES } from '../../domain/troubles.ts';
import { ATTENTION_TROUBLES, type Attention, attentionOf, groupOf } from './attention.ts';
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
    return { ...WORDS[attention](facts), severity: ATTENTION_TROUBLES[attention].severity };
  }
  if (problem !== undefined) {
    // A server with data isn't down, however serious the reason is that it isn't monitored as configured.
    const isLimited = problem.severity === 'error' && attention === undefined;
    return {
      title: problem.title,
      action: actionOf(problem),
      severity: isLimited ? 'warning' : problem.severity,
    };
  }
  return crash !== undefined && now - crash.timestamp_seconds < TRACE_SECONDS
    ? { title: stopWords(crash), action: '', severity: 'fact' }
    : undefined;
}

/** Both in one text. */
export function troubleText({ title, action }: Trouble): string {
  return action === '' ? title : `${title}. ${action}`;
}

type TitleAndAction = Omit<Trouble, 'severity'>;

const WORDS: Readonly<Record<Attention, (facts: TroubleFacts) => TitleAndAction>> = {
  crashed: (facts) => ({ title: crashTitle(facts), action: `${remedyOf(facts)} ${restartOf(facts)}` }),
  gave_up: (facts) => ({ title: gaveUpTitle(facts), action: `${remedyOf(facts)} Then start it.` }),
  crash_loop: (facts) => ({
    title: `${TROUBLES.crash_loop.title}: ${facts.crashes} in 1 h`,
    action: remedyOf(facts),
  }),
  off: offWords,
  no_data: () => TROUBLES.no_data,
  // A problem with monitoring the server takes precedence over that of its query, and has another remedy.
  not_answering: ({ problem }) =>
    problem?.cause.startsWith('query_') === true
      ? { title: TROUBLES.not_answering.title, action: actionOf(problem) }
      : TROUBLES.not_answering,
  cpu_saturated: () => TROUBLES.cpu_saturated,
  disk_nearly_full: ({ disk_usage_bytes: used, disk_limit_bytes: limit }) => {
    const percent = share(used, limit);
    const { title, action } = TROUBLES.disk_full;
    return { title: percent === undefined ? title : `disk ${percent} % full`, action };
  },
};

function offWords(facts: TroubleFacts): TitleAndAction {
  const { expected_running: expected, last_stop: stop } = facts;
  if (expected !== 1) {
    const action = 'Start it if it should be running, or set `expect: any` if it is allowed to be off.';
    return { title: STOP_TITLES.unknown, action };
  }
  if (isDiskFull(facts)) return TROUBLES.stopped_disk_full;
  const why = stop === undefined ? 'The exporter did not see it stop' : sentence(STOP_TITLES[stop.reason]);
  const action = `${why}. Start it, or set \`expect: any\` if it is allowed to be off.`;
  return { title: TROUBLES.down.title, action };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function crashTitle({ last_stop: stop }: TroubleFacts): string {
  return stop === undefined ? STOP_TITLES.crashed : stopWords(stop);
}

// A node restarts a crashed server, but not one that it stopped because of its disk.
function restartOf(facts: TroubleFacts): string {
  return isDiskFull(facts) ? 'Then start it.' : "Start it if its node doesn't.";
}

/** Did its full disk stop the server, or would it stop it again? */
export function isDiskFull({
  attention,
  last_stop: stop,
  disk_usage_bytes: used = Number.NaN,
  disk_limit_bytes: limit = Number.NaN,
}: Pick<TroubleFacts, 'attention' | 'last_stop' | 'disk_usage_bytes' | 'disk_limit_bytes'>): boolean {
  const isDown = attention !== undefined && groupOf(attention) === 'down';
  return stop?.reason === 'disk_full' || (isDown && used / limit >= SATURATED_FROM);
}

function gaveUpTitle({ last_stop: stop }: TroubleFacts): string {
  if (stop?.reason === 'crashed' && stop.exit_code !== undefined) {
    return `${TROUBLES.gave_up.title}, exit ${stop.exit_code}`;
  }
  return isCrash(stop?.reason) && stop?.reason !== 'crashed'
    ? `${TROUBLES.gave_up.title}, ${STOP_TITLES[stop?.reason ?? 'crashed']}`
    : TROUBLES.gave_up.title;
}

function remedyOf(facts: TroubleFacts): string {
  if (facts.last_stop?.reason === 'out_of_memory') return TROUBLES.memory_full.action;
  if (isDiskFull(facts)) return 'Delete files, or raise its disk limit.';
  return TROUBLES.crash_loop.action;
}
