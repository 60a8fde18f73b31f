import { isFact } from '../../src/diagnosis/causes.ts';
import { codesSeenBy } from '../../src/diagnosis/server-problems.ts';
import { BLOCKED_REASONS } from '../../src/domain/server.ts';
import {
  exporterUp,
  missingShards,
  noExporter,
  ofEachExporter,
  ofExporters,
  ofNodes,
  ofPanels,
  ofServers,
  SERVER,
  withInfo,
} from '../promql.ts';
import type { ProblemCode, Urgency } from './advice.ts';

/** Longer durations of exporters, panels and nodes are shown as this many seconds: their samples are read that far back. */
export const LONG_AGO = 43_200;

/** The steps in which the past is searched: coarser for longer ago, because every step costs the same. */
const STEPS = ['15m:1m', '2h:10m', '12h:1h'];

/** How to determine since when a problem exists. */
interface Beginning {
  /** The labels that identify its subjects. */
  readonly by: string;
  /** A vector that has series while there is no problem, or at the relevant instant. */
  readonly cleared: string;
  /** A metric that exists for every monitored subject. */
  readonly exists: string;
}

/** The vector with the duration of each problem in seconds; NaN if it began before its subject was monitored. */
function since(vector: string, { by, cleared, exists }: Beginning): string {
  const last = STEPS.map((range) => `max by (${by}) (max_over_time((0 * (${cleared}) + time())[${range}]))`);
  const longAgo = `0 * max by (${by}) (${exists} offset 12h) + time() - ${LONG_AGO}`;
  const unknown = `0 * max by (${by}) (${exists}) + NaN`;
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
  const panelProblem = `max by (panel, cause) (${ofPanels('gameserver_panel_problem')})`;
  const problemSince = `min by (panel, cause) (${ofPanels('gameserver_panel_problem_since_timestamp_seconds')})`;
  const nodeProblem = `max by (panel, node, cause) (${ofNodes('gameserver_node_problem')})`;
  const exporter = { by: 'job, instance', exists: UP };
  return [
    rows(1, 'no_exporter', unknownSince(noExporter())),
    // A series that the rules record whatever there is.
    rows(2, 'no_rules', unknownSince('absent(gameserver:links:info)')),
    rows(
      1,
      'exporter_down',
      // A job that lost all its targets has no `up`.
      `${instance(since(DOWN_EXPORTERS, { ...exporter, cleared: `${UP} == 1` }))} or ${unknownSince(`${DOWN_EXPORTERS} unless on (job) ${UP}`)}`,
    ),
    rows(
      1,
      'shard_missing',
      since(`${missingShards()} > 0`, { by: 'job', exists: UP, cleared: `${missingShards()} == 0` }),
    ),
    rows(
      1,
      CAUSE,
      since(whereOn('panel', panelProblem, PANELS_IN_TROUBLE), {
        by: 'panel',
        exists: PANEL_UP,
        cleared: `min by (panel) (${PANEL_UP}) == 1`,
      }),
    ),
    rows(
      1,
      CAUSE,
      since(`${whereOn('panel, node', nodeProblem, NODES_DOWN)} unless on (panel) (${PANELS_DOWN})`, {
        by: 'panel, node',
        exists: NODE_UP,
        cleared: `${NODE_UP} == 1`,
      }),
    ),
    rows(2, CAUSE, `(time() - ${problemSince} unless on (panel) (${PANELS_IN_TROUBLE}))`),
    rows(
      3,
      'config_refused',
      instance(
        `(time() - ${ofEachExporter('gameserver_exporter_config_reload_failing_since_timestamp_seconds')})`,
      ),
    ),
  ];
}

function whereOn(labels: string, vector: string, condition: string): string {
  return `${vector} and on (${labels}) (${condition})`;
}

/** Why a panel doesn't allow a server to be monitored until a person changes something. */
const REFUSED_REASONS = BLOCKED_REASONS.filter((reason) => !isFact(reason));

/** The problems of servers, most urgent first: what players notice, then what they are about to notice. */
const RECORDED_PROBLEMS = codesSeenBy('rules').flatMap((code) =>
  code === 'no_data' ? [REFUSED_REASONS.join('|'), code] : [code],
);

/** The duration of the first problem of each server, from the recording rules. */
function servers(): string {
  const beginnings = RECORDED_PROBLEMS.map((problem) => {
    const began = ofServers('server:gameserver_problem_since:timestamp_seconds', `problem=~"${problem}"`);
    return `max by (${SERVER}, problem, urgency) (${began})`;
  });
  return `time() - (${beginnings.join(`\n  or on (${SERVER}) `)})`;
}

/**
 * One series per row: exporters, panels and nodes with problems, then each server with a problem of its own. The value is the
 * duration in seconds; the labels `problem` and `todo` are the code of the most urgent problem.
 */
export function problemRows(): string {
  const onNodesDown = whereOn('panel, node', ofServers('gameserver_info'), NODES_DOWN);
  const own = `(${servers()}) unless on (panel) (${PANELS_DOWN}) unless on (${SERVER}) (${onNodesDown})`;
  const all = [...infrastructure(), withInfo(own, 'node')].join('\n  or ');
  return `label_replace(${all}, "todo", "$1", "problem", "(.*)")`;
}
