import {
  CRASHES,
  exporterUp,
  gauge,
  missingShards,
  noExporter,
  ofEachExporter,
  ofExporters,
  ofNodes,
  ofPanels,
  ofServers,
  perServer,
  type Resource,
  resourceMetric,
  SERVER,
  secondsToFullDisk,
  share,
  unless,
  withInfo,
} from '../promql.ts';
import { DOWN, NOT_ANSWERING, REFUSED, WITHOUT_DATA } from '../status.ts';
import type { ProblemCode, Urgency } from './advice.ts';

/** Longer durations are shown as this many seconds: every server's samples are read that far back. */
export const LONG_AGO = 43_200;

/** The steps in which the past is searched: coarser for longer ago, because every step costs the same. */
const STEPS = {
  fine: ['15m:1m', '2h:10m', '12h:1h'],
  coarse: ['1h:10m', '12h:1h'],
  lastHour: ['4m:30s', '1h:2m'],
} as const;

/** How to determine since when a problem exists. */
interface Beginning {
  /** The labels that identify its subjects. */
  readonly by: string;
  /** A vector that has series while there is no problem, or at the relevant instant. */
  readonly cleared: string;
  /** A metric that exists for every observed subject. */
  readonly observed: string;
  readonly steps?: keyof typeof STEPS;
}

/** The vector with the duration of each problem in seconds; NaN if it began before its subject was observed. */
function since(vector: string, { by, cleared, observed, steps = 'fine' }: Beginning): string {
  const last = STEPS[steps].map(
    (range) => `max by (${by}) (max_over_time((0 * (${cleared}) + time())[${range}]))`,
  );
  const longAgo = `0 * max by (${by}) (${observed} offset 12h) + time() - ${LONG_AGO}`;
  const unknown = `0 * max by (${by}) (${observed}) + NaN`;
  const times = [...last, longAgo, unknown].join(' or ');
  return `(time() - (0 * (${vector}) + on (${by}) group_left () (${times})))`;
}

function unknownSince(vector: string): string {
  return `(0 * (${vector}) + NaN)`;
}

/** Adds the code of the problem to rows: from the table of advice, or a cause given by a label. */
function rows(urgency: Urgency, code: ProblemCode | { readonly label: string }, vector: string): string {
  const [words, label, found] = typeof code === 'string' ? [code, '', ''] : ['$1', code.label, '(.*)'];
  const coded = `label_replace(${vector}, "problem", "${words}", "${label}", "${found}")`;
  return `label_replace(${coded}, "urgency", "${urgency}", "", "")`;
}

const CAUSE = { label: 'cause' };
const UP = ofExporters('up');
const DOWN_EXPORTERS = `${exporterUp()} == 0`;
const PANEL_UP = ofPanels('gameserver_panel_up');
const NODE_UP = ofNodes('gameserver_node_up');

/** Panels that no exporter reaches, and those that some exporters don't reach. */
const PANELS_DOWN = `max by (panel) (${PANEL_UP}) == 0`;
const PANELS_IN_TROUBLE = `min by (panel) (${PANEL_UP}) == 0`;
const NODES_DOWN = `max by (panel, node) (${NODE_UP}) == 0`;

/** Problems of exporters, panels and nodes that have no other cause. */
function infrastructure(): readonly string[] {
  const instance = (vector: string) => `label_replace(${vector}, "node", "$1", "instance", "(.*)")`;
  const loaded = 'gameserver_exporter_config_last_reload_successful';
  const panelProblem = `max by (panel, cause) (${ofPanels('gameserver_panel_problem')})`;
  const nodeProblem = `max by (panel, node, cause) (${ofNodes('gameserver_node_problem')})`;
  const exporter = { by: 'job, instance', observed: UP };
  return [
    rows(1, 'nothing_observed', unknownSince(noExporter())),
    rows(
      1,
      'exporter_down',
      // A job that lost all its targets has no `up`.
      `${instance(since(DOWN_EXPORTERS, { ...exporter, cleared: `${UP} == 1` }))} or ${unknownSince(`${DOWN_EXPORTERS} unless on (job) ${UP}`)}`,
    ),
    rows(
      1,
      'shard_missing',
      since(`${missingShards()} > 0`, { by: 'job', observed: UP, cleared: `${missingShards()} == 0` }),
    ),
    rows(
      1,
      CAUSE,
      since(whereOn('panel', panelProblem, PANELS_IN_TROUBLE), {
        by: 'panel',
        observed: PANEL_UP,
        cleared: `min by (panel) (${PANEL_UP}) == 1`,
      }),
    ),
    rows(
      1,
      CAUSE,
      since(`${whereOn('panel, node', nodeProblem, NODES_DOWN)} unless on (panel) (${PANELS_DOWN})`, {
        by: 'panel, node',
        observed: NODE_UP,
        cleared: `${NODE_UP} == 1`,
      }),
    ),
    rows(2, CAUSE, unknownSince(`${panelProblem} unless on (panel) (${PANELS_IN_TROUBLE})`)),
    rows(
      3,
      'config_refused',
      instance(
        since(`${ofEachExporter(loaded)} == 0`, { ...exporter, cleared: `${ofExporters(loaded)} == 1` }),
      ),
    ),
  ];
}

function whereOn(labels: string, vector: string, condition: string): string {
  return `${vector} and on (${labels}) (${condition})`;
}

/** Joins rows of servers; a server gets its first problem. */
const FIRST_ROW = `\n  or on (${SERVER}) `;

const COLLECTED = ofServers('gameserver_collection_up');

/** Rows of servers with the time since when the problem exists; the first one for a server with several. */
function timed(vectors: readonly string[], cleared: string, steps?: Beginning['steps']): string {
  const vector = vectors.join(FIRST_ROW);
  return since(vector, { by: SERVER, observed: COLLECTED, cleared, ...(steps && { steps }) });
}

const RAN = `${ofServers('gameserver_state', 'state="running"')} == 1`;
const STOPS = ofServers('gameserver_stops_total', CRASHES);
const CRASHED_AT = `${STOPS} - ${STOPS} offset 2m > 0`;
const CRASHES_OF_AN_HOUR = `sum by (${SERVER}) (round(${perServer(`increase(${STOPS}[1h])`, 'reason')}))`;
const SATURATED = `increase(${ofServers('gameserver_cpu_saturated_seconds_total')}[10m])`;
const FAILED_BACKUP = gauge('gameserver_backup_last_failure_timestamp_seconds');
const GOOD_BACKUP = gauge('gameserver_backup_last_success_timestamp_seconds');
const EXPECTED_OFF = `${gauge('gameserver_expected_running')} == 0`;

function nearlyFull(code: ProblemCode, resource: Resource): string {
  const [usage, limit] = (['usage', 'limit'] as const).map((kind) =>
    ofServers(resourceMetric(resource, kind)),
  );
  return timed([rows(2, code, `${share(resource)} >= 0.95`)], `${usage} / ${limit} < 0.95`, 'coarse');
}

/** The problems of servers, most urgent first: what players notice, then what they are about to notice. */
function servers(): readonly string[] {
  return [
    timed(
      [
        rows(1, 'gave_up', unless(`${gauge('gameserver_automatic_restart_aborted')} == 1`, EXPECTED_OFF)),
        rows(1, 'down', DOWN),
      ],
      RAN,
    ),
    timed([rows(1, 'crash_loop', `${CRASHES_OF_AN_HOUR} >= 3`)], CRASHED_AT, 'lastHour'),
    timed([rows(1, { label: 'reason' }, REFUSED), rows(1, 'no_data', WITHOUT_DATA)], `${COLLECTED} == 1`),
    timed([rows(1, 'not_answering', NOT_ANSWERING)], `${ofServers('gameserver_query_up')} == 1`),
    timed([rows(2, 'cpu_saturated', `${perServer(SATURATED)} > 300`)], `${SATURATED} <= 300`, 'coarse'),
    nearlyFull('disk_full', 'disk'),
    timed(
      [rows(2, 'disk_filling', `${secondsToFullDisk()} < 86400`)],
      `deriv(${ofServers('gameserver_disk_usage_bytes')}[6h]) <= 0`,
      'coarse',
    ),
    nearlyFull('memory_full', 'memory'),
    rows(2, 'backup_failed', `(time() - (${unless(FAILED_BACKUP, `${GOOD_BACKUP} >= ${FAILED_BACKUP}`)}))`),
    timed([rows(3, 'crashed', `${CRASHES_OF_AN_HOUR} >= 1`)], CRASHED_AT, 'lastHour'),
  ];
}

/**
 * One series per row: exporters, panels and nodes with problems, then each server with a problem of its own. The value is the
 * duration in seconds; the labels `problem` and `todo` are the code of the most urgent problem.
 */
export function needAttention(): string {
  const mostUrgent = servers()
    .map((rows) => `(${rows})`)
    .join(FIRST_ROW);
  const onNodesDown = whereOn('panel, node', ofServers('gameserver_info'), NODES_DOWN);
  const own = `(${mostUrgent}) unless on (panel) (${PANELS_DOWN}) unless on (${SERVER}) (${onNodesDown})`;
  const all = [...infrastructure(), withInfo(own, 'node')].join('\n  or ');
  return `label_replace(${all}, "todo", "$1", "problem", "(.*)")`;
}
