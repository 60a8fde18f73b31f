// The metric families of servers, panels and nodes, as data. Names and help texts of most numbers
// are in `domain/server-fields.ts`, `node-fields.ts` and `schedule-fields.ts`.

import type { Clock } from '../domain/clock.ts';
import { NODE_FIELDS } from '../domain/node-fields.ts';
import { SERVER_STATES, type ServerState } from '../domain/power-states.ts';
import type { NodeReading, PanelReading, ProblemReading } from '../domain/reading.ts';
import { SCHEDULE_FIELDS } from '../domain/schedule-fields.ts';
import { FIELD_ENTRIES, type FieldName } from '../domain/server-fields.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import { NO_STOPS, STOP_REASONS, type StopCounts } from '../domain/stops.ts';

/** One series of a family with its own labels. A label with an undefined value is omitted. */
type FamilyRow = readonly [labelValues: readonly (string | undefined)[], value: number];

/** A metric family as data. Name, type and labels are stable within a major version. */
export interface Family<Subject> {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  /** Labels in addition to the subject's common ones. */
  readonly labels: readonly string[];
  /**
   * One value, or a row for each value with its label values in order. Undefined means unknown: the
   * series is then absent, never 0.
   */
  readonly read: (subject: Subject) => number | undefined | readonly FamilyRow[];
}

/** The description of a family. */
type FamilyHead = Omit<Family<never>, 'read'>;

/** A gauge, or a counter if the name ends in `_total`. */
export function familyHead(name: string, help: string, labels: readonly string[] = []): FamilyHead {
  return { name, type: name.endsWith('_total') ? 'counter' : 'gauge', help, labels };
}

const flag = (value: boolean): number => (value ? 1 : 0);

/** For each state, the rows in which only that state is 1. */
const STATE_ROWS = new Map<ServerState, readonly FamilyRow[]>(
  SERVER_STATES.map((current) => [current, SERVER_STATES.map((state) => [[state], flag(state === current)])]),
);

const STOP_LABELS = STOP_REASONS.map((reason) => [reason, [reason]] as const);

function stopRows(stops: StopCounts): readonly FamilyRow[] {
  return STOP_LABELS.map(([reason, labels]) => [labels, stops[reason]]);
}

const NO_STOP_ROWS = stopRows(NO_STOPS);

/** The prefix of all server metrics. */
export const SERVER_PREFIX = 'gameserver_';

/** A family for each of these fields. Each thing of the subject that has a value gets a series. */
function fieldFamilies<Subject, Name extends string>(
  prefix: string,
  fields: Readonly<Record<Name, string>>,
  labels: readonly string[],
  list: (
    subject: Subject,
  ) => readonly (readonly [labelValues: readonly string[], values: Partial<Record<NoInfer<Name>, number>>])[],
): readonly Family<Subject>[] {
  const fieldFamily = (field: Name): Family<Subject> => ({
    ...familyHead(`${SERVER_PREFIX}${prefix}${field}`, fields[field], labels),
    read: (subject) =>
      list(subject).flatMap(([values, { [field]: value }]) =>
        value === undefined ? [] : [[values, value] as const],
      ),
  });
  return (Object.keys(fields) as Name[]).map(fieldFamily);
}

/** The families with their own labels, by the field before whose family they are placed. */
const LABELED: Readonly<Partial<Record<FieldName, readonly Family<Snapshot>[]>>> = {
  memory_usage_bytes: [
    {
      ...familyHead(
        'gameserver_info',
        'Node, egg and UUID of the server, if known; proxy="true" for a proxy, whose players are on other servers. Always 1.',
        ['node', 'egg', 'uuid', 'proxy'],
      ),
      read: ({ target, node }) => [[[node, target.egg, target.uuid, target.isProxy && 'true'], 1]],
    },
    {
      ...familyHead(
        'gameserver_state',
        'Power state of the server: 1 for the current state, 0 for the others; unknown without a fresh sample.',
        ['state'],
      ),
      read: ({ state }) => STATE_ROWS.get(state),
    },
  ],
  last_stop_timestamp_seconds: [
    {
      ...familyHead('gameserver_stops_total', 'Server stops seen by the exporter, by reason.', ['reason']),
      read: ({ stops }) => (stops === NO_STOPS ? NO_STOP_ROWS : stopRows(stops)),
    },
  ],
  backups: [
    {
      ...familyHead(
        'gameserver_blocked',
        'Why the server cannot be monitored, according to the panel; always 1, absent unless it is blocked.',
        ['reason'],
      ),
      // A server that is monitored isn't blocked, whatever the server list contains. Neither is one
      // whose panel or API key is the problem.
      read: ({ blocked }) => (blocked === undefined ? undefined : [[[blocked], 1]]),
    },
  ],
  // The name of a schedule isn't unique, so its number is also a label.
  schedules_last_read_timestamp_seconds: fieldFamilies(
    'schedule_',
    SCHEDULE_FIELDS,
    ['schedule', 'schedule_id'],
    ({ schedules }: Snapshot) => schedules.map((schedule) => [[schedule.name, schedule.id], schedule]),
  ),
};

/** All server families, in the order of the exposition. */
export const SERVER_FAMILIES: readonly Family<Snapshot>[] = FIELD_ENTRIES.flatMap(([name, { help }]) =>
  (LABELED[name] ?? []).concat(help === undefined ? [] : numberFamily(name, help)),
);

/** A family with one value per server: the snapshot's number of the same name. */
function numberFamily(name: FieldName, help: string): Family<Snapshot> {
  return { ...familyHead(`${SERVER_PREFIX}${name}`, help), read: (snapshot) => snapshot[name] };
}

/** A panel at one instant as the metrics show it: each problem once, and the state of its nodes. */
export type PanelView = ReturnType<typeof viewPanel>;

/**
 * A node as the metrics show it. While its panel is down, its problem is unknown, and so is `up`
 * unless the node works.
 */
type NodeView = Omit<NodeReading, 'up'> & Partial<Pick<NodeReading, 'up'>>;

function viewNode(node: NodeReading, isPanelUp: boolean): NodeView {
  if (isPanelUp) return node;
  const { name, up, lost } = node;
  return { name, lost, ...(up && { up }) };
}

/**
 * The view of a panel at the monotonic instant `now`. It reads each of the panel's servers once, to
 * determine the state of the nodes. Without the clock, it contains no times.
 */
export function viewPanel(panel: PanelReading, now: number, clock?: Pick<Clock, 'toUnixMs'>) {
  const { name, up, problems } = panel;
  const byCause = new Map(problems.toReversed().map((problem) => [problem.cause, problem]));
  return {
    name,
    up,
    problems: problems.filter((problem) => byCause.get(problem.cause) === problem),
    /** When a problem began, in whole Unix seconds. */
    startSeconds: ({ since }: ProblemReading) =>
      clock === undefined ? undefined : Math.floor(clock.toUnixMs(since) / 1_000),
    nodes: panel.nodes(now).map((node) => viewNode(node, up)),
    capacities: panel.capacities(now),
  };
}

/** All families about a panel or its nodes. They share only the label `panel`. */
export const PANEL_FAMILIES: readonly Family<PanelView>[] = [
  {
    ...familyHead('gameserver_panel_up', "Whether the panel's API responds and accepts the API key."),
    read: (panel) => flag(panel.up),
  },
  {
    ...familyHead(
      'gameserver_panel_problem',
      "1 for each active problem of the panel, its API key, the connection to it, or the exporter's own limits, by cause; absent when there is none.",
      ['cause'],
    ),
    read: ({ problems }) => problems.map(({ cause }) => [[cause], 1]),
  },
  {
    ...familyHead(
      'gameserver_panel_problem_since_timestamp_seconds',
      'When each problem of the panel began, by cause.',
      ['cause'],
    ),
    read: ({ problems, startSeconds }) =>
      problems.flatMap((problem) => {
        const since = startSeconds(problem);
        return since === undefined ? [] : [[[problem.cause], since] as const];
      }),
  },
  {
    ...familyHead(
      'gameserver_panel_down_since_timestamp_seconds',
      "When the panel's API stopped responding or accepting the API key; absent while it works.",
    ),
    read: ({ up, problems: [problem], startSeconds }) =>
      up || problem === undefined ? undefined : startSeconds(problem),
  },
  {
    ...familyHead(
      'gameserver_node_up',
      'Whether the servers of the node can be monitored; 0 if the node itself has a problem and none of its servers is monitored; absent if unknown because the panel is down.',
      ['node'],
    ),
    read: ({ nodes }) => nodes.flatMap(({ name, up }) => (up === undefined ? [] : [[[name], flag(up)]])),
  },
  {
    ...familyHead(
      'gameserver_node_problem',
      '1 for each active problem of the node, or of its console WebSockets while its servers are polled, by cause; absent when there is none.',
      ['node', 'cause'],
    ),
    read: ({ nodes }) =>
      nodes.flatMap(({ name, problem }) => (problem === undefined ? [] : [[[name, problem.cause], 1]])),
  },
  {
    ...familyHead(
      'gameserver_node_problem_since_timestamp_seconds',
      "When the node's problem began; absent when there is none.",
      ['node'],
    ),
    read: ({ nodes, startSeconds }) =>
      nodes.flatMap(({ name, problem }) => {
        const since = problem && startSeconds(problem);
        return since === undefined ? [] : [[[name], since] as const];
      }),
  },
  {
    ...familyHead(
      'gameserver_node_servers_without_data',
      'Servers of the node that have no fresh data because of a problem of the node, by cause; absent when there are none.',
      ['node', 'cause'],
    ),
    read: ({ nodes }) =>
      nodes.flatMap(({ name, lost }) =>
        [...(lost ?? [])].map(([cause, servers]) => [[name, cause], servers] as const),
      ),
  },
  // The nodes' data from the panel's application API, if the configuration has `nodes`.
  ...fieldFamilies('node_', NODE_FIELDS, ['node'], ({ capacities }: PanelView) =>
    capacities.map((node) => [[node.name], node]),
  ),
];
