// The JSON of `/api/v1/servers`.

import { CAUSES } from '../../diagnosis/causes.ts';
import { SERVER_STATES } from '../../domain/power-states.ts';
import type { Problem } from '../../domain/problems.ts';
import type { PanelReading } from '../../domain/reading.ts';
import { CONDITIONS, type Snapshot } from '../../domain/snapshot.ts';
import {
  type Family,
  PANEL_FAMILIES,
  type PanelView,
  SERVER_FAMILIES,
  SERVER_PREFIX,
  viewPanel,
} from '../../metrics/families.ts';
import { PANEL_GAUGES } from '../../metrics/self-families.ts';
import { withAdvice } from '../../text/sentences.ts';
import { ATTENTION_CODES } from './attention-codes.ts';
import { arrayText, inBlocks } from './blocks.ts';
import type { BoardSource } from './board-source.ts';
import { findComplaint, mainProblem, shownRemedy } from './complaint.ts';
import { countedProblem } from './counted-problem.ts';
import { readSharedFields } from './shared-fields.ts';

/**
 * The document in blocks of text. Names and units are those of the metrics, from whose families the
 * values are read. Unknown values are absent.
 */
export function* jsonView(source: BoardSource): Generator<string, void, void> {
  const { fleet, clock, version } = source;
  const now = clock.now();
  const snapshots = yield* inBlocks(fleet.servers(), (server) => server.snapshot(now, clock));
  const head = {
    version,
    timestamp_seconds: Math.round(clock.toUnixMs(now)) / 1_000,
    summary: summarize(snapshots),
    panels: fleet.panels().map((panel) => panelObject(panel, source.rateLimited(panel.name), now)),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"servers":`;
  yield* arrayText(snapshots, serverObject);
  yield '}\n';
}

function summarize(servers: readonly Snapshot[]) {
  const amounts = (names: readonly string[], found: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, found.filter((one) => one === name).length]));
  const states = servers.map(({ state }) => state);
  const conditions = servers.map(({ condition }) => condition);
  return {
    servers: servers.length,
    states: amounts(SERVER_STATES, states),
    conditions: amounts(CONDITIONS, conditions),
    attention: amounts(
      ATTENTION_CODES,
      servers.flatMap((server) => countedProblem(server) ?? []),
    ),
  };
}

function panelObject(panel: PanelReading, rateLimited: number, now: number) {
  const view = viewPanel(panel, now);
  return {
    panel: panel.name,
    ...scalars(PANEL_FAMILIES, 'gameserver_panel_', view),
    problems: view.problems.map(problemObject),
    nodes: view.nodes.map(nodeObject),
    ...scalars(PANEL_GAUGES, 'gameserver_exporter_', panel),
    api_rate_limited_total: rateLimited,
  };
}

function problemObject({ cause, detail }: Problem) {
  return { cause, detail, remedy: CAUSES[cause].remedy };
}

function nodeObject({ name, up, problem }: PanelView['nodes'][number]) {
  return { node: name, ...(up !== undefined && { up: Number(up) }), ...(problem && problemObject(problem)) };
}

function serverObject(server: Snapshot) {
  const { query_problem: queryProblem } = server;
  return {
    ...readSharedFields(server),
    trouble: mainProblem(server)?.detail,
    advice: advise(server),
    sample_age_seconds: server.sample_age_seconds,
    network_receive_bytes_per_second: server.network_receive_bytes_per_second,
    network_transmit_bytes_per_second: server.network_transmit_bytes_per_second,
    stops: server.stops,
    // Listed separately, because a problem of the server's monitoring takes precedence above.
    query_problem: queryProblem && problemObject(queryProblem),
    ...scalars(SERVER_FAMILIES, SERVER_PREFIX, server),
  };
}

/** The remedy for the problem of a server's monitoring, or else for its complaint. */
function advise(server: Snapshot): string | undefined {
  const problem = mainProblem(server);
  if (problem !== undefined) return shownRemedy(server, problem) || undefined;
  const complaint = countedProblem(server) && findComplaint(server);
  return complaint && withAdvice(complaint.title, complaint.action);
}

/** The value of every family with a single value, by its name without the prefix. */
function scalars<Subject>(
  families: readonly Pick<Family<Subject>, 'name' | 'read'>[],
  prefix: string,
  subject: Subject,
): Record<string, number> {
  const values: Record<string, number> = {};
  for (const { name, read } of families) {
    const value = read(subject);
    if (typeof value === 'number') values[name.slice(prefix.length)] = value;
  }
  return values;
}
