import type { Severity } from '../../diagnosis/cause-table.ts';
import { CAUSES } from '../../diagnosis/causes.ts';
import {
  type CauseCode,
  CPU_SATURATED_SHARE,
  LOADING_SECONDS,
  LOOP_CRASHES,
  LOOP_STOPS,
  type Problem,
  SATURATED_FROM,
  TROUBLES,
} from '../../domain/problems.ts';
import { CRASH_WINDOW_SECONDS, isCrash, type ShownStop, type Snapshot } from '../../domain/reading.ts';
import { withAdvice } from '../../domain/sentences.ts';
import { isOff } from '../../domain/server.ts';
import { ATTENTION, type Attention, groupOf, STOP_TITLES, sentence, stopWords } from './words.ts';

/** What is wrong with a server, a node or a panel: the only form in which the page and `/api/v1` show it. */
export interface Complaint {
  /** A fact is normal, and is shown without alarm. */
  readonly severity: Severity;
  /** The problem in a few words. */
  readonly title: string;
  /** What to do; empty if there is nothing to do. */
  readonly action: string;
  /** What happened, such as the method, address and status of a response; may be empty. */
  readonly detail: string;
  /** When it began, in Unix seconds; undefined if unknown. Without data, that is the time of the last sample. */
  readonly since?: number | undefined;
}

/** A server's problem: why it can't be monitored, else why its game can't be queried. */
export function problemOf({
  problem,
  query_problem,
}: Pick<Snapshot, 'problem' | 'query_problem'>): Problem | undefined {
  return problem ?? query_problem;
}

/** What to do about a server's problem; nothing if it streams anyway and the cause is a fact, such as that it is suspended. */
export function remedyOf({ condition }: Pick<Snapshot, 'condition'>, { cause }: Problem): string {
  return condition === 'streaming' && isFact(cause) ? '' : CAUSES[cause].remedy;
}

export function isFact(cause: CauseCode | undefined): boolean {
  return cause !== undefined && CAUSES[cause].severity === 'fact';
}

/** What is wrong with a server; undefined if there is nothing to show. */
export function complaintOf(server: Snapshot): Complaint | undefined {
  const attention = attentionOf(server);
  const problem = problemOf(server);
  const since = sinceOf(server, attention);
  const isOwn = attention === 'no_data' || attention === 'stuck';
  if (attention !== undefined && !(isOwn && problem !== undefined)) {
    const { severity } = ATTENTION[attention];
    return { severity, ...WORDS[attention](server), detail: detailBeside(server, attention), since };
  }
  if (problem !== undefined) {
    const { title, severity } = CAUSES[problem.cause];
    // A server with data isn't down, however serious the reason is that it isn't monitored as configured.
    const shown = severity === 'error' && attention === undefined ? 'warning' : severity;
    return { severity: shown, title, action: remedyOf(server, problem), detail: problem.detail, since };
  }
  const crash = recentCrash(server);
  const crashedAt = crash?.timestamp_seconds;
  return crash && { severity: 'fact', title: stopWords(crash), action: '', detail: '', since: crashedAt };
}

/** The last crash, if it was in the last hour. */
export function recentCrash({ unwanted_stops: stops }: Snapshot): ShownStop | undefined {
  return stops.findLast(({ reason }) => isCrash(reason));
}

/** The problem with monitoring a server whose complaint is another: what happened, and what to do about it. */
function detailBeside(server: Snapshot, attention: Attention): string {
  const problem = problemOf(server);
  if (problem === undefined) return '';
  if (attention === 'not_answering' && problem === server.query_problem) return problem.detail;
  return withAdvice(`${sentence(CAUSES[problem.cause].title)}: ${problem.detail}`, remedyOf(server, problem));
}

function sinceOf(server: Snapshot, attention: Attention | undefined): number | undefined {
  if (attention === 'no_data') return server.last_sample_timestamp_seconds;
  if (attention === 'stuck' && server.state === 'starting')
    return server.start_time_seconds ?? server.state_changed_timestamp_seconds;
  if (attention === 'stuck') return server.state_changed_timestamp_seconds;
  const isStop = attention === 'crash_loop' || (attention !== undefined && groupOf(attention) === 'down');
  return isStop ? server.last_stop?.timestamp_seconds : undefined;
}

/**
 * The problem for which a server is counted; undefined if it has none. Normal conditions don't count: held by the panel, off as
 * expected, not reached yet.
 */
export function attentionOf(server: Snapshot): Attention | undefined {
  if (server.collection_up === 0) return isMissed(server) && !isHeld(server) ? 'no_data' : undefined;
  if (isOff(server.state)) {
    if (isHeld(server)) return undefined;
    const reason = whyOff(server);
    if (reason !== undefined) return reason;
  } else {
    if (isCrashLoop(server)) return 'crash_loop';
    if (isStuck(server)) return 'stuck';
    if (isNotAnswering(server)) return 'not_answering';
    if ((server.cpu_saturated_share ?? 0) > CPU_SATURATED_SHARE) return 'cpu_saturated';
  }
  if (diskShare(server) >= SATURATED_FROM) return 'disk_nearly_full';
  return isUnclear(server) ? 'unclear' : undefined;
}

function whyOff(server: Snapshot): Attention | undefined {
  const { expected_running: expected, off_reason: reason } = server;
  const mayBeOff = expected === 0;
  if (server.automatic_restart_aborted === 1 && !mayBeOff) return 'gave_up';
  const stoppedAgo = server.timestamp_seconds - (server.last_stop?.timestamp_seconds ?? Number.NaN);
  if (isCrash(reason) && (!mayBeOff || stoppedAgo < CRASH_WINDOW_SECONDS)) return 'crashed';
  // The reason decides what to do.
  if (server.is_stop_awaited) return undefined;
  // After an unexplained stop, it is also unknown whether the server should run; the alert uses what was expected before.
  return expected === 1 || (expected === undefined && reason === 'unknown') ? 'off' : undefined;
}

/** Is it off, without anything that shows whether it should run? */
function isUnclear({ state, expected_running: expected, is_stop_awaited: isAwaited }: Snapshot): boolean {
  return isOff(state) && expected === undefined && !isAwaited;
}

/** Whether there was a sample before, or a problem prevents the first one. */
function isMissed({ last_sample_timestamp_seconds: sampled, problem, condition }: Snapshot): boolean {
  return sampled !== undefined || problem !== undefined || condition === 'blocked';
}

/** Whether the panel holds the server in a state in which it needn't run, such as suspended or installing. */
function isHeld({ problem, blocked }: Snapshot): boolean {
  return isFact(problem?.cause ?? blocked);
}

function isCrashLoop({ unwanted_stops: stops }: Snapshot): boolean {
  return stops.length >= LOOP_STOPS || stops.filter(({ reason }) => isCrash(reason)).length >= LOOP_CRASHES;
}

function isStuck({ problem }: Snapshot): boolean {
  return problem?.cause === 'still_starting' || problem?.cause === 'still_stopping';
}

function isNotAnswering({ query_problem, timestamp_seconds, start_time_seconds }: Snapshot): boolean {
  const runningFor = timestamp_seconds - (start_time_seconds ?? Number.NaN);
  return query_problem !== undefined && !isFact(query_problem.cause) && runningFor >= LOADING_SECONDS;
}

/** NaN if usage or limit is unknown. */
function diskShare({ disk_usage_bytes: used, disk_limit_bytes: limit }: Snapshot): number {
  return (used ?? Number.NaN) / (limit ?? Number.NaN);
}

/** Did its full disk stop the server, or would it stop it again? */
function isDiskFull(server: Snapshot): boolean {
  if (server.last_stop?.reason === 'disk_full') return true;
  return isOff(server.state) && diskShare(server) >= SATURATED_FROM;
}

type TitleAndAction = Pick<Complaint, 'title' | 'action'>;

const WORDS: Readonly<Record<Attention, (server: Snapshot) => TitleAndAction>> = {
  crashed: (server) => ({
    title: server.last_stop === undefined ? STOP_TITLES.crashed : stopWords(server.last_stop),
    // A node restarts a crashed server, but not one that it stopped because of its disk.
    action: `${cureOf(server)} ${isDiskFull(server) ? 'Then start it.' : "Start it if its node doesn't."}`,
  }),
  gave_up: (server) => ({ title: gaveUpTitle(server), action: `${cureOf(server)} Then start it.` }),
  crash_loop: (server) => ({
    title: `${TROUBLES.crash_loop.title}: ${server.unwanted_stops.length} in 1 h`,
    action: cureOf(server),
  }),
  off: offWords,
  no_data: () => TROUBLES.no_data,
  stuck: () => TROUBLES.stuck,
  // A problem with monitoring the server takes precedence over that of its query, and has another remedy.
  not_answering: ({ problem, query_problem: query }) => ({
    title: TROUBLES.not_answering.title,
    action:
      problem === undefined && query !== undefined
        ? CAUSES[query.cause].remedy
        : TROUBLES.not_answering.action,
  }),
  cpu_saturated: () => TROUBLES.cpu_saturated,
  disk_nearly_full: (server) => ({
    title: `disk ${Math.round(diskShare(server) * 100)} % full`,
    action: TROUBLES.disk_full.action,
  }),
  unclear: () => ({
    title: ATTENTION.unclear.title,
    action:
      'Start it if it should be running. To decide it for good, set `expect: running` or `expect: any`.',
  }),
};

function offWords(server: Snapshot): TitleAndAction {
  const { expected_running: expected, last_stop: stop } = server;
  if (expected !== 1) {
    const action = 'Start it if it should be running, or set `expect: any` if it is allowed to be off.';
    return { title: stop === undefined ? STOP_TITLES.unknown : stopWords(stop), action };
  }
  if (isDiskFull(server)) return TROUBLES.stopped_disk_full;
  const isSeen = stop !== undefined;
  const why = isSeen
    ? sentence(stopWords({ ...stop, exit_code: undefined }))
    : 'The exporter did not see it stop';
  const action = `${why}. Start it, or set \`expect: any\` if it is allowed to be off.`;
  return { title: TROUBLES.down.title, action };
}

function gaveUpTitle({ last_stop: stop }: Snapshot): string {
  const { title } = TROUBLES.gave_up;
  // A node without crash detection reports no exit code.
  if (stop?.reason === 'unknown') return 'stopped by itself, not restarted';
  if (stop === undefined || !isCrash(stop.reason)) return title;
  if (stop.reason !== 'crashed') return `${title}, ${STOP_TITLES[stop.reason]}`;
  return stop.exit_code === undefined ? title : `${title}, exit ${stop.exit_code}`;
}

/** What to do about the reason for a server's last stop. */
function cureOf(server: Snapshot): string {
  if (server.last_stop?.reason === 'out_of_memory') return TROUBLES.memory_full.action;
  return isDiskFull(server) ? 'Delete files, or raise its disk limit.' : TROUBLES.crash_loop.action;
}
