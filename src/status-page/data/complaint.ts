// The complaint about a server on the page and in `/api/v1`.

import type { Severity } from '../../diagnosis/cause-table.ts';
import { CAUSES, isFact } from '../../diagnosis/causes.ts';
import { SERVER_PROBLEMS } from '../../diagnosis/server-problems.ts';
import { isOff } from '../../domain/power-states.ts';
import type { Problem } from '../../domain/problems.ts';
import { MAX_CHANGES_KEPT } from '../../domain/recent-history.ts';
import type { Snapshot } from '../../domain/snapshot.ts';
import { isCrash } from '../../domain/stops.ts';
import { SATURATED_FROM } from '../../domain/thresholds.ts';
import { withAdvice } from '../../text/sentences.ts';
import { type Attention, attentionGroup, attentionSeverity } from './attention-codes.ts';
import { countedProblem, diskShare, recentCrash, repeatedStops } from './counted-problem.ts';
import { STOP_TITLES, sentence, stopTitle } from './titles.ts';

/** A problem of a server, a node or a panel, described for a person. */
export interface Complaint {
  /** A fact is normal, and isn't highlighted. */
  readonly severity: Severity;
  /** A short text for the problem. */
  readonly title: string;
  /** What to do; may be empty. */
  readonly action: string;
  /** What happened, such as the method, address and status of a response; may be empty. */
  readonly detail: string;
  /**
   * When it began, in Unix seconds; undefined if unknown. For a server without data, the time of
   * its last sample.
   */
  readonly since?: number | undefined;
}

/** Why a server can't be monitored, or else why its game can't be queried. */
export function mainProblem({
  problem,
  query_problem,
}: Pick<Snapshot, 'problem' | 'query_problem'>): Problem | undefined {
  return problem ?? query_problem;
}

/**
 * The remedy for a server's problem; empty if it streams anyway and the cause is a fact, such as a
 * suspension.
 */
export function shownRemedy({ condition }: Pick<Snapshot, 'condition'>, { cause }: Problem): string {
  return condition === 'streaming' && isFact(cause) ? '' : CAUSES[cause].remedy;
}

/**
 * The complaint about a server, which is what a person sees; undefined if there is none.
 *
 * The server's attention is why the page counts it, such as `no_data`. Its problem is why it can't
 * be monitored or queried, such as an unreachable node. A server can have either or both. If it has
 * both, the complaint is about the attention, unless the problem explains it.
 */
export function findComplaint(server: Snapshot): Complaint | undefined {
  const attention = countedProblem(server);
  const problem = mainProblem(server);
  const since = beginning(server, attention);
  const isExplainedByProblem = problem !== undefined && (attention === 'no_data' || attention === 'stuck');
  if (attention !== undefined && !isExplainedByProblem) {
    const severity = attentionSeverity(attention);
    const { title, action } = TEXTS[attention](server);
    return { severity, title, action, detail: detailBeside(server, attention), since };
  }
  if (problem !== undefined) {
    const { title, severity: causeSeverity } = CAUSES[problem.cause];
    // A server with data isn't down, even if the problem of its monitoring is an error.
    const severityWithData = causeSeverity === 'error' ? 'warning' : causeSeverity;
    const severity = attention === undefined ? severityWithData : attentionSeverity(attention);
    return { severity, title, action: shownRemedy(server, problem), detail: problem.detail, since };
  }
  const crash = recentCrash(server);
  const crashedAt = crash?.timestamp_seconds;
  return crash && { severity: 'fact', title: stopTitle(crash), action: '', detail: '', since: crashedAt };
}

/**
 * A problem of the server's monitoring beside a complaint with another cause: what happened, and
 * what to do.
 */
function detailBeside(server: Snapshot, attention: Attention): string {
  const problem = mainProblem(server);
  if (problem === undefined) return '';
  if (attention === 'not_answering' && problem === server.query_problem) return problem.detail;
  return withAdvice(
    `${sentence(CAUSES[problem.cause].title)}: ${problem.detail}`,
    shownRemedy(server, problem),
  );
}

function beginning(server: Snapshot, attention: Attention | undefined): number | undefined {
  if (attention === 'no_data') return server.last_sample_timestamp_seconds;
  if (attention === 'stuck' && server.state === 'starting')
    return server.start_time_seconds ?? server.state_changed_timestamp_seconds;
  if (attention === 'stuck') return server.state_changed_timestamp_seconds;
  const isStop =
    attention === 'crash_loop' || (attention !== undefined && attentionGroup(attention) === 'down');
  return isStop ? server.last_stop?.timestamp_seconds : undefined;
}

/** Whether a full disk stopped the server, or would stop it again. */
function isDiskFull(server: Snapshot): boolean {
  if (server.last_stop?.reason === 'disk_full') return true;
  return isOff(server.state) && diskShare(server) >= SATURATED_FROM;
}

type TitleAndAction = Pick<Complaint, 'title' | 'action'>;

const TEXTS: Readonly<Record<Attention, (server: Snapshot) => TitleAndAction>> = {
  crashed: (server) => ({
    title: server.last_stop === undefined ? STOP_TITLES.crashed : stopTitle(server.last_stop),
    // A node restarts a crashed server, but not one that it stopped because of a full disk.
    action: `${cure(server)} ${isDiskFull(server) ? 'Then start it.' : "Start it if its node doesn't."}`,
  }),
  gave_up: (server) => ({ title: gaveUpTitle(server), action: `${cure(server)} Then start it.` }),
  crash_loop: (server) => ({
    title: `${SERVER_PROBLEMS.crash_loop.title}: ${times(repeatedStops(server) ?? 0)} in 1 h`,
    action: cure(server),
  }),
  off: offTexts,
  no_data: () => SERVER_PROBLEMS.no_data,
  stuck: () => SERVER_PROBLEMS.stuck,
  // A problem of the server's monitoring takes precedence over that of its query, and has another
  // remedy.
  not_answering: ({ problem, query_problem: query }) => ({
    title: SERVER_PROBLEMS.not_answering.title,
    action:
      problem === undefined && query !== undefined
        ? CAUSES[query.cause].remedy
        : SERVER_PROBLEMS.not_answering.action,
  }),
  cpu_saturated: () => SERVER_PROBLEMS.cpu_saturated,
  disk_nearly_full: (server) => ({
    title: `disk ${Math.round(diskShare(server) * 100)} % full`,
    action: SERVER_PROBLEMS.disk_nearly_full.action,
  }),
  unclear: () => SERVER_PROBLEMS.unclear,
};

/** The number of stops, with a plus sign if older ones may have been dropped. */
function times(stops: number): string {
  return stops < MAX_CHANGES_KEPT ? `${stops} times` : `${stops}+ times`;
}

function offTexts(server: Snapshot): TitleAndAction {
  const { expected_running: expected, last_stop: stop } = server;
  if (expected !== 1) {
    const action = 'Start it if it should be running, or set `expect: any` if it is allowed to be off.';
    return { title: stop === undefined ? STOP_TITLES.unknown : stopTitle(stop), action };
  }
  if (isDiskFull(server)) return SERVER_PROBLEMS.stopped_disk_full;
  const isSeen = stop !== undefined;
  const why = isSeen
    ? sentence(stopTitle({ ...stop, exit_code: undefined }))
    : 'The exporter did not see it stop';
  const action = `${why}. Start it, or set \`expect: any\` if it is allowed to be off.`;
  return { title: SERVER_PROBLEMS.off.title, action };
}

function gaveUpTitle({ last_stop: stop }: Snapshot): string {
  const { title } = SERVER_PROBLEMS.gave_up;
  // A node without crash detection reports no exit code.
  if (stop?.reason === 'unknown') return 'stopped by itself, not restarted';
  if (stop === undefined || !isCrash(stop.reason)) return title;
  if (stop.reason !== 'crashed') return `${title}, ${STOP_TITLES[stop.reason]}`;
  return stop.exit_code === undefined ? title : `${title}, exit ${stop.exit_code}`;
}

/** The remedy for the reason of a server's last stop. */
function cure(server: Snapshot): string {
  if (server.last_stop?.reason === 'out_of_memory') return SERVER_PROBLEMS.memory_full.action;
  return isDiskFull(server) ? 'Delete files, or raise its disk limit.' : SERVER_PROBLEMS.crash_loop.action;
}
