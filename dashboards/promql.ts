import { SERVER_STATES, type ServerState } from '../src/domain/server.ts';

/**
 * What one server's series are joined by. Two exporters may observe the same server, be it as replicas or while a shard moves, so a
 * server is named without its exporter; the user's own labels differ from server to server and are no part of who it is.
 */
const SERVER = 'panel, server, server_id';

/** How many servers a graph shows at the most: more can't be told apart. */
export const SHOWN = 10;

/** A metric of the exporters themselves, narrowed to the chosen jobs. */
export function ofExporters(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', ...matchers]);
}

/** A metric about panels, narrowed to the chosen ones. */
export function ofPanels(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', 'panel=~"$panel"', ...matchers]);
}

/** One series an exporter of a gauge about its process. */
export function ofEachExporter(metric: string): string {
  return `max by (job, instance) (${ofExporters(metric)})`;
}

/** A gauge of each panel; exporters that share a panel add up. */
export function ofEachPanel(metric: string): string {
  return `sum by (panel) (${ofPanels(metric)})`;
}

/** A counter's growth a minute, by some labels. */
export function perMinute(counter: string, ...labels: readonly string[]): string {
  return `60 * sum by (${labels.join(', ')}) (rate(${ofPanels(counter)}[$__rate_interval]))`;
}

/** A metric about servers, narrowed to the chosen ones. */
export function ofServers(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', 'panel=~"$panel"', 'server=~"$server"', ...matchers]);
}

function selector(metric: string, matchers: readonly string[]): string {
  return `${metric}{${matchers.join(', ')}}`;
}

/** One series a server, whoever observed it; the highest where several did. */
export function perServer(vector: string, ...labels: readonly string[]): string {
  return `max by (${[SERVER, ...labels].join(', ')}) (${vector})`;
}

/** One series a server of a metric as it is. */
export function gauge(metric: string): string {
  return perServer(ofServers(metric));
}

/** One series a server of a counter's growth a second. */
export function rate(counter: string): string {
  return perServer(`rate(${ofServers(counter)}[$__rate_interval])`);
}

/**
 * One series a server of what a counter grew by since the step before, only where it grew. A whole number at the one step where it
 * happened, which `increase` over a longer window isn't; a counter that began anew counts from the next step on.
 */
export function growth(counter: string): string {
  return grown(ofServers(counter));
}

function grown(series: string, ...labels: readonly string[]): string {
  return `${perServer(`${series} - ${series} offset $__interval`, ...labels)} > 0`;
}

/** The stops that are crashes, by their reason. */
export const CRASHES = 'reason=~"crashed|out_of_memory|disk_full"';

/** One series a server and reason: its stops since the step before, only where it stopped. */
export function stopsByReason(...matchers: readonly string[]): string {
  return grown(ofServers('gameserver_stops_total', ...matchers), 'reason');
}

/** One series a server: the share of the observed time of the time range in which it ran. */
export function uptime(): string {
  const seconds = (kind: string) =>
    perServer(`increase(${ofServers(`gameserver_${kind}_seconds_total`)}[$__range])`);
  return `${seconds('running')} / (${seconds('observed')} > 0)`;
}

/** One series a server: whether it is expected to run, as last known; the exporter doesn't always know. */
export function expected(): string {
  const known = 'gameserver_expected_running';
  return `(${gauge(known)} or ${perServer(`last_over_time(${ofServers(known)}[$__range])`)})`;
}

/** One series a server: the first vector where the second has the same server. */
export function whereAlso(vector: string, condition: string): string {
  return `(${vector}) and on (${SERVER}) (${condition})`;
}

/** One series a server: the first vector where the second doesn't have the same server. */
export function unless(vector: string, condition: string): string {
  return `(${vector}) unless on (${SERVER}) (${condition})`;
}

/**
 * The series of the servers that rank highest, the same ones at every step of a graph. `ranking` gives a value a server over the whole
 * time range, so that a server that is off by now keeps its place.
 */
export function top(vector: string, ranking: string): string {
  return whereAlso(vector, `topk(${SHOWN}, ${ranking})`);
}

/** Ranks servers by a gauge's mean over the time range. */
export function byMean(metric: string): string {
  return perServer(`avg_over_time(${ofServers(metric)}[$__range] @ end())`);
}

/** Ranks servers by how much a counter grew over the time range. */
export function byGrowth(counter: string): string {
  return perServer(`increase(${ofServers(counter)}[$__range] @ end())`);
}

/**
 * What a counter grew by since the step before, only where it grew; it may be one that is not there before it first counts. Where its
 * exporter knew the panel a step before, it was 0 then.
 */
export function growthOfSparse(counter: string, matcher: string, ...labels: readonly string[]): string {
  const series = ofPanels(counter, matcher);
  const known = `${ofPanels('gameserver_panel_up')} offset $__interval`;
  const before = `${series} offset $__interval or (0 * ${series} and on (job, instance, panel) ${known})`;
  return `sum by (${labels.join(', ')}) (${series} - (${before})) > 0`;
}

/** What a counter grew by over the time range; one that was not there at its beginning counted from 0. */
export function totalOfSparse(counter: string, matcher: string): string {
  const series = ofPanels(counter, matcher);
  const late = `${series} unless ${series} offset $__range`;
  return `round(sum((${late}) or increase(${series}[$__range]))) or vector(0)`;
}

/** Quantiles of a histogram by some labels. */
export function quantile(phi: number, buckets: string, ...labels: readonly string[]): string {
  return `histogram_quantile(${phi}, sum by (${['le', ...labels].join(', ')}) (rate(${buckets}[$__rate_interval])))`;
}

/** A state as a number: what a graph can draw, and the highest of which wins where two exporters disagree. */
export const STATE_CODES = {
  unknown: 1,
  stopped: 2,
  offline: 3,
  stopping: 4,
  starting: 5,
  running: 6,
} as const satisfies Record<ServerState, number>;

/** One series a server: its state's code. */
export function stateCode(): string {
  const coded = SERVER_STATES.map(
    (state) => `(${ofServers('gameserver_state', `state="${state}"`)} == 1) * ${STATE_CODES[state]}`,
  );
  return perServer(coded.join(' or '));
}

/** How many servers are in each state; one is unknown only where no exporter knows better. */
export function serversByState(): string {
  const known = perServer(ofServers('gameserver_state', 'state!="unknown"'), 'state');
  const unknown = `min by (${SERVER}, state) (${ofServers('gameserver_state', 'state="unknown"')})`;
  return `sum by (state) (${known} or ${unknown})`;
}

/** One series a server: 0 without fresh samples, 1 by polling, 2 by console socket. */
export function dataSource(): string {
  return perServer(
    `${ofServers('gameserver_collection_up')} * (1 + ${ofServers('gameserver_collection_streaming')})`,
  );
}

/** One series a server: seconds since its newest sample. */
export function sampleAge(): string {
  return `time() - ${gauge('gameserver_last_sample_timestamp_seconds')}`;
}

/** One series a server: which part of its limit is in use; absent where there is no limit. */
export function share(resource: 'cpu' | 'memory' | 'disk'): string {
  const unit = resource === 'cpu' ? 'cores' : 'bytes';
  return `${gauge(`gameserver_${resource}_usage_${unit}`)} / ${gauge(`gameserver_${resource}_limit_${unit}`)}`;
}

/** One series a server: seconds until its disk is full if it fills as in the last six hours; absent where it doesn't. */
export function secondsToFullDisk(): string {
  const left = `${gauge('gameserver_disk_limit_bytes')} - ${gauge('gameserver_disk_usage_bytes')}`;
  return `(${left}) / (${perServer(`deriv(${ofServers('gameserver_disk_usage_bytes')}[6h])`)} > 0)`;
}
