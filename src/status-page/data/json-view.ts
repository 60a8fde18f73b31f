import type { Clock } from '../../domain/clock.ts';
import type { Problem } from '../../domain/problem.ts';
import {
  CONDITIONS,
  type FleetReading,
  type NodeReading,
  type PanelReading,
  type ServerReading,
  shownProblem,
} from '../../domain/reading.ts';
import { identityOf, SERVER_STATES } from '../../domain/server.ts';
import { type Family, PANEL_FAMILIES, SERVER_FAMILIES } from '../../metrics/families.ts';
import { PANEL_GAUGES } from '../../metrics/self-families.ts';
import { panelViewOf, viewOf } from '../../metrics/server-view.ts';
import { explained, explainedOf } from './problems.ts';
import { type Followed, serverAttention, serverTrouble } from './server-attention.ts';
import { troubleText } from './trouble.ts';

/** Servers between two yields to the event loop. */
const SLICE = 250;

/** Network rates of a server over its last two steps, in bytes per second; NaN if unknown. */
export interface NetworkRates {
  readonly receive: number;
  readonly transmit: number;
}

/** The data that the JSON view is made from. */
interface JsonSource {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  readonly rateLimited: (panel: string) => number;
  readonly rates: (reading: ServerReading) => NetworkRates;
  /** What following the server over time revealed; undefined if it isn't followed. */
  readonly followed?: (reading: ServerReading) => Followed | undefined;
}

/**
 * The JSON view in pieces of text, each a few milliseconds of work. Names and units are those of the metrics, whose
 * families the values are read from; unknown values are absent.
 */
export function* jsonView(source: JsonSource): Generator<string, void, void> {
  const { fleet, clock, version } = source;
  const now = clock.now();
  const servers = fleet.servers();
  const head = {
    version,
    timestamp_seconds: seconds(clock.toUnixMs(now)),
    summary: summaryOf(servers, now),
    panels: fleet.panels().map((panel) => panelObject(panel, source.rateLimited(panel.name), now)),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"servers":[`;
  for (let at = 0; at < servers.length; at += SLICE) {
    const objects = servers.slice(at, at + SLICE).map((server) => serverObject(server, source));
    const text = JSON.stringify(objects).slice(1, -1);
    yield at === 0 ? `\n${text}` : `,\n${text}`;
  }
  yield ']}\n';
}

function summaryOf(servers: readonly ServerReading[], now: number) {
  const states = new Map<string, number>(SERVER_STATES.map((state) => [state, 0]));
  const conditions = new Map<string, number>(CONDITIONS.map((condition) => [condition, 0]));
  for (const server of servers) {
    const state = server.isFresh(now) ? server.state : 'unknown';
    states.set(state, (states.get(state) ?? 0) + 1);
    const { condition } = server.status;
    conditions.set(condition, (conditions.get(condition) ?? 0) + 1);
  }
  return {
    servers: servers.length,
    states: Object.fromEntries(states),
    conditions: Object.fromEntries(conditions),
  };
}

function panelObject(panel: PanelReading, rateLimited: number, now: number) {
  const view = panelViewOf(panel, now);
  return {
    panel: panel.name,
    ...scalars(PANEL_FAMILIES, 'gameserver_panel_', view),
    problems: view.problems.map(problemObject),
    nodes: view.nodes.map(nodeObject),
    ...scalars(PANEL_GAUGES, 'gameserver_exporter_', panel),
    api_rate_limited_total: rateLimited,
  };
}

function problemObject(problem: Problem) {
  const { cause, detail, remedy } = explained(problem);
  return { cause, detail, remedy };
}

function nodeObject({ name, up, problem }: NodeReading) {
  return { node: name, up: up ? 1 : 0, ...(problem && problemObject(problem)) };
}

function serverObject(server: ServerReading, { clock, rates, followed }: JsonSource) {
  const now = clock.now();
  const view = viewOf(server, now, clock);
  const { target, status, sample } = view;
  const problem = explainedOf({ condition: status.condition, problem: shownProblem(server, now) });
  const following = followed?.(server);
  const attention = serverAttention(server, now, following);
  const trouble = attention && serverTrouble(server, now, following);
  const { receive, transmit } = sample === undefined ? NO_RATES : rates(server);
  return {
    panel: target.panel,
    server: target.name,
    server_id: identityOf(target),
    uuid: target.uuid,
    node: view.node,
    egg: target.egg,
    labels: target.labels,
    state: view.state,
    condition: status.condition,
    blocked: status.condition === 'blocked' ? status.blocked : undefined,
    source: server.source,
    cause: problem?.cause,
    trouble: problem?.detail,
    advice: problem === undefined ? trouble && troubleText(trouble) : problem.remedy || undefined,
    attention,
    sample_age_seconds: server.sampledAt === undefined ? undefined : seconds(now - server.sampledAt),
    network_receive_bytes_per_second: known(receive),
    network_transmit_bytes_per_second: known(transmit),
    stops: view.stops,
    last_stop: lastStopObject(server, clock),
    // Listed separately, because a problem with observing the server takes precedence above.
    query_problem: view.query?.problem && problemObject(view.query.problem),
    ...scalars(SERVER_FAMILIES, 'gameserver_', view),
  };
}

function lastStopObject({ lastStop }: ServerReading, clock: Pick<Clock, 'toUnixMs'>) {
  if (lastStop === undefined) return undefined;
  const { at, reason, exitCode } = lastStop;
  return { timestamp_seconds: seconds(clock.toUnixMs(at)), reason, exit_code: exitCode };
}

const NO_RATES: NetworkRates = { receive: Number.NaN, transmit: Number.NaN };

/** Every family with a single value, by its name without the prefix. */
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

function known(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : Math.round(value);
}

// Rounded to milliseconds.
function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
