/**
 * The labels for joining one server's series. Two exporters may monitor the same server, either as replicas or while a shard
 * moves, so the labels don't include the exporter; the user's own labels differ between servers and don't identify a server.
 */
export const SERVER = 'panel, server, server_id';

/** The maximum number of servers in a graph: more would be indistinguishable. */
export const SHOWN = 10;

/** A metric of the exporters themselves, filtered by the selected jobs. */
export function ofExporters(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', ...matchers]);
}

/** A metric about panels, filtered by the selected ones. */
export function ofPanels(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', 'panel=~"$panel"', ...matchers]);
}

/** A metric about nodes, filtered by the selected ones. */
export function ofNodes(metric: string): string {
  return ofPanels(metric, 'node=~"$node"');
}

/**
 * A metric about servers, filtered by the selected ones, on any node and with any egg: only `gameserver_info` has these
 * labels.
 */
export function ofServers(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', 'panel=~"$panel"', 'server=~"$server"', ...matchers]);
}

function selector(metric: string, matchers: readonly string[]): string {
  return `${metric}{${matchers.join(', ')}}`;
}

/** Exists for each exporter, and for no other scrape target. */
export const BUILD = ofExporters('gameserver_exporter_build_info');

/**
 * One series per exporter of a gauge about its process. Every process may have that gauge, and the selection All includes jobs of
 * other programs.
 */
export function ofEachExporter(metric: string): string {
  return `max by (job, instance) (${ofExporters(metric)} and on (job, instance) ${BUILD})`;
}

/** Jobs whose targets have been exporters within a week, so that an exporter that has been down for long still counts. */
const JOBS = `group by (job) (last_over_time(${BUILD}[7d]))`;

/** Whether each exporter can be scraped; a job that lost all its targets counts as one that can't. */
export function exporterUp(): string {
  const up = ofExporters('up');
  return `((max by (job, instance) (${up}) and on (job) ${JOBS}) or (0 * ${JOBS} unless on (job) ${up}))`;
}

/** Has a series if no job has been an exporter's within a week. */
export function noExporter(): string {
  return `absent_over_time(${BUILD}[7d])`;
}

/** Shards without an exporter, by job. */
export function missingShards(): string {
  const present = `count by (job) (count_values by (job) ("shard", ${ofExporters('gameserver_exporter_shard_ordinal')}))`;
  return `(max by (job) (${ofExporters('gameserver_exporter_total_shards')}) - ${present})`;
}

/** A gauge of each panel, summed over the exporters that share it. */
export function ofEachPanel(metric: string): string {
  return `sum by (panel) (${ofPanels(metric)})`;
}

/** A counter's increase per minute, by some labels. */
export function perMinute(counter: string, ...labels: readonly string[]): string {
  return `60 * sum by (${labels.join(', ')}) (rate(${ofPanels(counter)}[$__rate_interval]))`;
}

/** The info metric of servers on the selected nodes and with the selected eggs. */
const INFO = ofServers('gameserver_info', 'node=~"$node"', 'egg=~"$egg"');

/** One series per server with some of the labels of `gameserver_info`; consistent even while two exporters disagree. */
export function info(...labels: readonly string[]): string {
  return `topk by (${SERVER}) (1, max by (${[SERVER, ...labels].join(', ')}) (${INFO}))`;
}

/** A vector with one series per server, with labels added from `gameserver_info`. */
export function withInfo(vector: string, ...labels: readonly string[]): string {
  return `(${vector}) * on (${SERVER}) group_left (${labels.join(', ')}) ${info(...labels)}`;
}

/**
 * One series per server, regardless of the exporter; the highest value if several monitor it. Servers that are gone or unknown
 * have none.
 */
export function perServer(vector: string, ...labels: readonly string[]): string {
  return `max by (${[SERVER, ...labels].join(', ')}) ((${vector}) and on (${SERVER}) ${INFO})`;
}

/** One series per server with a metric's value. */
export function gauge(metric: string): string {
  return perServer(ofServers(metric));
}

/** One series per server with a counter's increase per second. */
export function rate(counter: string): string {
  return perServer(`rate(${ofServers(counter)}[$__rate_interval])`);
}

/**
 * A vector over the time range, if it still has a series at its end: Grafana shows the last value of a range as the current one,
 * however old it is.
 */
export function whileCurrent(vector: string): string {
  return `(${vector}) and on () last_over_time((${vector})[10s:5s] @ end())`;
}

/** The number of series in a vector; 0 only while servers are monitored, and no result while none are. */
export function countOf(vector: string): string {
  return `count(${vector}) or 0 * count(${gauge('gameserver_collection_up')})`;
}

/**
 * One series per server with a counter's increase since the previous step, or 0, so that the bars of all steps are equally wide.
 * It is a whole number at the one step of the event, unlike `increase` over a longer window; a counter that was reset counts from
 * the next step on.
 */
export function growth(counter: string): string {
  return grown(ofServers(counter));
}

function grown(series: string, ...labels: readonly string[]): string {
  return `clamp_min(${perServer(`${series} - ${series} offset $__interval`, ...labels)}, 0)`;
}

/** Matches the reasons of stops that are crashes. */
export const CRASHES = 'reason=~"crashed|out_of_memory|disk_full"';

/** One series per server and reason: its stops since the previous step. */
export function stopsByReason(...matchers: readonly string[]): string {
  return grown(ofServers('gameserver_stops_total', ...matchers), 'reason');
}

/** One series per server: the share of its monitored time within the time range in which it was running. */
export function uptime(): string {
  const seconds = (kind: string) =>
    perServer(`increase(${ofServers(`gameserver_${kind}_seconds_total`)}[$__range])`);
  return `${seconds('running')} / (${seconds('observed')} > 0)`;
}

/** One series per server: its uptime over 30 days, from the recording rules. */
export function uptimeOf30Days(): string {
  return perServer(ofServers('server:gameserver_uptime:ratio30d'));
}

/** One series per server: whether it is expected to run, as last known, because the exporter doesn't always know. */
export function expected(): string {
  const known = 'gameserver_expected_running';
  return `(${gauge(known)} or ${perServer(`last_over_time(${ofServers(known)}[$__range])`)})`;
}

/** One series per server: the first vector, if the second has the same server. */
export function whereAlso(vector: string, condition: string): string {
  return `(${vector}) and on (${SERVER}) (${condition})`;
}

/** One series per server: the first vector, if the second doesn't have the same server. */
export function unless(vector: string, condition: string): string {
  return `(${vector}) unless on (${SERVER}) (${condition})`;
}

/**
 * The series of the highest-ranking servers, the same ones at every step of a graph. `ranking` gives each server a value for the
 * whole time range, so that a server that has stopped meanwhile keeps its rank.
 */
export function top(vector: string, ranking: string): string {
  return whereAlso(vector, `topk(${SHOWN}, ${ranking})`);
}

/** One series per server for the whole time range, including servers that are gone by its end. */
export function overRange(vector: string): string {
  return `max by (${SERVER}) ((${vector}) and on (${SERVER}) last_over_time(${INFO}[$__range] @ end()))`;
}

/** Ranks servers by the mean of a gauge over the time range. */
export function byMean(metric: string): string {
  return overRange(`avg_over_time(${ofServers(metric)}[$__range] @ end())`);
}

/** Ranks servers by the increase of a counter over the time range. */
export function byGrowth(counter: string, ...matchers: readonly string[]): string {
  return overRange(`increase(${ofServers(counter, ...matchers)}[$__range] @ end())`);
}

/**
 * A counter's increase since the previous step, for counters that don't exist before they first count. If its exporter knew the
 * panel at the previous step, the counter was 0 then. `all` are series that exist from the beginning, and provide the zeros.
 */
export function growthOfSparse(
  counter: string,
  matcher: string,
  all: string,
  ...labels: readonly string[]
): string {
  const series = ofPanels(counter, matcher);
  const known = `${ofPanels('gameserver_panel_up')} offset $__interval`;
  const before = `${series} offset $__interval or (0 * ${series} and on (job, instance, panel) ${known})`;
  const by = labels.join(', ');
  return `clamp_min(sum by (${by}) (${series} - (${before})), 0) or 0 * sum by (${by}) (${all})`;
}

/** A counter's increase over the time range; one that didn't exist at its beginning counted from 0. */
export function totalOfSparse(counter: string, matcher: string): string {
  const series = ofPanels(counter, matcher);
  const late = `${series} unless ${series} offset $__range`;
  const none = `0 * count(${ofPanels('gameserver_panel_up')})`;
  return `round(sum((${late}) or increase(${series}[$__range]))) or ${none}`;
}

/** Quantiles of a histogram by some labels. */
export function quantile(phi: number, buckets: string, ...labels: readonly string[]): string {
  return `histogram_quantile(${phi}, sum by (${['le', ...labels].join(', ')}) (rate(${buckets}[$__rate_interval])))`;
}

/** One series per server: 0 without fresh samples, 1 with polling, 2 while it streams. */
export function dataSource(): string {
  return perServer(
    `${ofServers('gameserver_collection_up')} * (1 + ${ofServers('gameserver_collection_streaming')})`,
  );
}

/** One series per server: the age of its newest sample when Prometheus scraped it; the newest if several exporters have one. */
export function sampleAge(): string {
  const sampledAt = ofServers('gameserver_last_sample_timestamp_seconds');
  return `-${perServer(`${sampledAt} - timestamp(${sampledAt})`)}`;
}

/** The resources that a panel limits for each server. */
export type Resource = 'cpu' | 'memory' | 'disk';

/** The metric of servers' usage of a resource, or of their limit. */
export function resourceMetric(resource: Resource, kind: 'usage' | 'limit'): string {
  return `gameserver_${resource}_${kind}_${resource === 'cpu' ? 'cores' : 'bytes'}`;
}

/** One series per server: usage as a share of its limit; absent if it is unlimited. */
export function share(resource: Resource): string {
  return `${gauge(resourceMetric(resource, 'usage'))} / ${gauge(resourceMetric(resource, 'limit'))}`;
}

/**
 * One series per server: seconds until its disk is full if it continues to fill as in the last six hours; absent if it
 * doesn't fill.
 */
export function secondsToFullDisk(): string {
  const left = `${gauge('gameserver_disk_limit_bytes')} - ${gauge('gameserver_disk_usage_bytes')}`;
  return `(${left}) / (${perServer(`deriv(${ofServers('gameserver_disk_usage_bytes')}[6h])`)} > 0)`;
}
