/**
 * What one server's series are joined by. Two exporters may observe the same server, be it as replicas or while a shard moves, so a
 * server is named without its exporter; the user's own labels differ from server to server and are no part of who it is.
 */
export const SERVER = 'panel, server, server_id';

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

/** A metric about nodes, narrowed to the chosen ones. */
export function ofNodes(metric: string): string {
  return ofPanels(metric, 'node=~"$node"');
}

/** A metric about servers, narrowed to the chosen ones, of whatever node and egg: only `gameserver_info` knows these. */
export function ofServers(metric: string, ...matchers: readonly string[]): string {
  return selector(metric, ['job=~"$job"', 'panel=~"$panel"', 'server=~"$server"', ...matchers]);
}

function selector(metric: string, matchers: readonly string[]): string {
  return `${metric}{${matchers.join(', ')}}`;
}

/** There for each exporter, and for nothing else that is scraped. */
export const BUILD = ofExporters('gameserver_exporter_build_info');

/** One series an exporter of a gauge about its process, which every process may have: All jobs are more than those of exporters. */
export function ofEachExporter(metric: string): string {
  return `max by (job, instance) (${ofExporters(metric)} and on (job, instance) ${BUILD})`;
}

/** Jobs whose targets have been exporters within a week, so that one which is down for long still counts. */
const JOBS = `group by (job) (last_over_time(${BUILD}[7d]))`;

/** Whether each exporter can be scraped; a job that lost all its targets counts as one that can't. */
export function exporterUp(): string {
  const up = ofExporters('up');
  return `((max by (job, instance) (${up}) and on (job) ${JOBS}) or (0 * ${JOBS} unless on (job) ${up}))`;
}

/** There where no job has been an exporter's within a week. */
export function noExporter(): string {
  return `absent_over_time(${BUILD}[7d])`;
}

/** Shards that no exporter observes, by job. */
export function missingShards(): string {
  const present = `count by (job) (count_values by (job) ("shard", ${ofExporters('gameserver_exporter_shard_ordinal')}))`;
  return `(max by (job) (${ofExporters('gameserver_exporter_total_shards')}) - ${present})`;
}

/** A gauge of each panel; exporters that share a panel add up. */
export function ofEachPanel(metric: string): string {
  return `sum by (panel) (${ofPanels(metric)})`;
}

/** A counter's growth a minute, by some labels. */
export function perMinute(counter: string, ...labels: readonly string[]): string {
  return `60 * sum by (${labels.join(', ')}) (rate(${ofPanels(counter)}[$__rate_interval]))`;
}

/** What is known of the servers of the chosen nodes and eggs. */
const INFO = ofServers('gameserver_info', 'node=~"$node"', 'egg=~"$egg"');

/** One series a server with some of `labels` that `gameserver_info` knows; the same one while two exporters disagree. */
export function info(...labels: readonly string[]): string {
  return `topk by (${SERVER}) (1, max by (${[SERVER, ...labels].join(', ')}) (${INFO}))`;
}

/** A vector with a series a server, which gains labels that `gameserver_info` knows. */
export function withInfo(vector: string, ...labels: readonly string[]): string {
  return `(${vector}) * on (${SERVER}) group_left (${labels.join(', ')}) ${info(...labels)}`;
}

/** One series a server, whoever observed it; the highest where several did. Servers that are gone, or known to nobody, have none. */
export function perServer(vector: string, ...labels: readonly string[]): string {
  return `max by (${[SERVER, ...labels].join(', ')}) ((${vector}) and on (${SERVER}) ${INFO})`;
}

/** One series a server of a metric as it is. */
export function gauge(metric: string): string {
  return perServer(ofServers(metric));
}

/** One series a server of a counter's growth a second. */
export function rate(counter: string): string {
  return perServer(`rate(${ofServers(counter)}[$__rate_interval])`);
}

/** How many series a vector has; 0 only while servers are observed, and nothing while none is. */
export function countOf(vector: string): string {
  return `count(${vector}) or 0 * count(${gauge('gameserver_collection_up')})`;
}

/**
 * One series a server of what a counter grew by since the step before, 0 where it didn't: bars of every step are equally wide. A whole
 * number at the one step where it happened, which `increase` over a longer window isn't; a counter that began anew counts from the next
 * step on.
 */
export function growth(counter: string): string {
  return grown(ofServers(counter));
}

function grown(series: string, ...labels: readonly string[]): string {
  return `clamp_min(${perServer(`${series} - ${series} offset $__interval`, ...labels)}, 0)`;
}

/** The stops that are crashes, by their reason. */
export const CRASHES = 'reason=~"crashed|out_of_memory|disk_full"';

/** One series a server and reason: its stops since the step before. */
export function stopsByReason(...matchers: readonly string[]): string {
  return grown(ofServers('gameserver_stops_total', ...matchers), 'reason');
}

/** One series a server: the share of the observed time of the time range in which it ran. */
export function uptime(): string {
  const seconds = (kind: string) =>
    perServer(`increase(${ofServers(`gameserver_${kind}_seconds_total`)}[$__range])`);
  return `${seconds('running')} / (${seconds('observed')} > 0)`;
}

/** One series a server: its uptime of 30 days, which the recording rules sum up. */
export function uptimeOf30Days(): string {
  return perServer(ofServers('server:gameserver_uptime:ratio30d'));
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

/** One series a server of what is true of the whole time range, also for servers that are gone by its end. */
export function overRange(vector: string): string {
  return `max by (${SERVER}) ((${vector}) and on (${SERVER}) last_over_time(${INFO}[$__range] @ end()))`;
}

/** Ranks servers by a gauge's mean over the time range. */
export function byMean(metric: string): string {
  return overRange(`avg_over_time(${ofServers(metric)}[$__range] @ end())`);
}

/** Ranks servers by how much a counter grew over the time range. */
export function byGrowth(counter: string, ...matchers: readonly string[]): string {
  return overRange(`increase(${ofServers(counter, ...matchers)}[$__range] @ end())`);
}

/**
 * What a counter grew by since the step before; it may be one that is not there before it first counts. Where its exporter knew the panel
 * a step before, it was 0 then. `all` are series that are there from the beginning, and give the zeros.
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

/** What a counter grew by over the time range; one that was not there at its beginning counted from 0. */
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

/** What the panel grants a server of. */
export type Resource = 'cpu' | 'memory' | 'disk';

/** The metric of what servers use of a resource, or of what they may. */
export function resourceMetric(resource: Resource, kind: 'usage' | 'limit'): string {
  return `gameserver_${resource}_${kind}_${resource === 'cpu' ? 'cores' : 'bytes'}`;
}

/** One series a server: which part of its limit is in use; absent where there is no limit. */
export function share(resource: Resource): string {
  return `${gauge(resourceMetric(resource, 'usage'))} / ${gauge(resourceMetric(resource, 'limit'))}`;
}

/** One series a server: seconds until its disk is full if it fills as in the last six hours; absent where it doesn't. */
export function secondsToFullDisk(): string {
  const left = `${gauge('gameserver_disk_limit_bytes')} - ${gauge('gameserver_disk_usage_bytes')}`;
  return `(${left}) / (${perServer(`deriv(${ofServers('gameserver_disk_usage_bytes')}[6h])`)} > 0)`;
}
