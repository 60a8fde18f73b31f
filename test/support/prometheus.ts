// A real Prometheus for tests.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './process.ts';

/** The rules file, next to the configuration. */
const RULES = 'rules.yml';

/** A series in the result of an instant query. */
export interface QueriedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The status of a scrape target. */
export interface ScrapeTarget {
  readonly labels: Readonly<Record<string, string>>;
  readonly scrapeUrl: string;
  readonly health: string;
  readonly lastError: string;
}

/** A running Prometheus. */
export interface PrometheusUnderTest {
  readonly url: string;
  /** The log so far, including debug lines. */
  readonly log: string;
  /** The result of an instant query. */
  query(expression: string): Promise<readonly QueriedSeries[]>;
  /**
   * The latest time, in Unix seconds, for which all samples and all results of rules are complete.
   */
  settled(): Promise<number>;
  targets(): Promise<readonly ScrapeTarget[]>;
  /** The types of each metric in Prometheus' metadata, by name. */
  types(): Promise<ReadonlyMap<string, readonly string[]>>;
  stop(): Promise<void>;
}

/** The rules, and the Alertmanager that gets the alerts. */
export interface Alerting {
  /** The text of a rules file. */
  readonly rules: string;
  /** Alertmanager's `host:port`. */
  readonly alertmanager: string;
  /** The scrape interval of exporters; one second by default. */
  readonly scrapeInterval?: string;
}

interface VectorItem {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

/**
 * Starts a Prometheus that scrapes an exporter every second. `authority` is the exporter's
 * `host:port`, `settings` are additional lines of the scrape configuration, and `alerting` adds
 * rules.
 */
export async function startPrometheus(
  authority: string,
  settings: readonly string[] = [],
  alerting?: Alerting,
): Promise<PrometheusUnderTest> {
  return startPrometheusWith(configuration(authority, settings, alerting), alerting?.rules);
}

/** The shipped rules, evaluated every second. */
export function rulesEverySecond(): string {
  const file = new URL('../../deploy/prometheus/rules/gameserver.yml', import.meta.url);
  return readFileSync(file, 'utf8').replaceAll(/^ {4}interval: \d+[sm]$/gm, '    interval: 1s');
}

/** Starts a Prometheus with this configuration. `rules` is the text of its rules file. */
export async function startPrometheusWith(text: string, rules?: string): Promise<PrometheusUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, text);
  if (rules !== undefined) await writeFile(join(folder, RULES), rules);
  const process = launch('prometheus', [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--web.listen-address=127.0.0.1:0',
    '--log.level=debug',
  ]);
  const [, address = ''] = await process.printed(/msg="Listening on" address=(127\.0\.0\.1:\d+)/);
  await process.printed(/Server is ready/);
  const url = `http://${address}`;
  const query = async (expression: string) => {
    const answer = await ask<{ result: readonly VectorItem[] }>(url, 'query', { query: expression });
    return answer.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
  };
  return {
    url,
    get log() {
      return process.stderr;
    },
    query,
    settled: async () => {
      const [scraped] = await query('min(timestamp(up))');
      const { groups } = await ask<{ groups: readonly { lastEvaluation: string }[] }>(url, 'rules');
      const evaluated = groups.map(({ lastEvaluation }) => Date.parse(lastEvaluation) / 1_000);
      if (scraped === undefined) throw new Error('nothing has been scraped');
      return Math.floor(Math.min(scraped.value, ...evaluated));
    },
    targets: async () =>
      (await ask<{ activeTargets: readonly ScrapeTarget[] }>(url, 'targets')).activeTargets,
    types: async () => {
      const known = await ask<Record<string, readonly { type: string }[]>>(url, 'metadata');
      return new Map(Object.entries(known).map(([name, entries]) => [name, entries.map(({ type }) => type)]));
    },
    stop: async () => {
      process.kill('SIGTERM');
      await process.ended;
      await rm(folder, { recursive: true });
    },
  };
}

function configuration(authority: string, settings: readonly string[], alerting?: Alerting): string {
  const interval = alerting?.scrapeInterval ?? '1s';
  return [
    `global: { scrape_interval: ${interval}, scrape_timeout: ${interval}, evaluation_interval: ${interval} }`,
    ...(alerting === undefined ? [] : alertingSettings(alerting)),
    'scrape_configs:',
    '  - job_name: gameserver',
    `    static_configs: [{ targets: ["${authority}"] }]`,
    ...settings.map((line) => `    ${line}`),
  ].join('\n');
}

function alertingSettings({ alertmanager }: Alerting): readonly string[] {
  return [
    `rule_files: [${RULES}]`,
    `alerting: { alertmanagers: [{ static_configs: [{ targets: ["${alertmanager}"] }] }] }`,
  ];
}

async function ask<Data>(url: string, path: string, parameters: Record<string, string> = {}): Promise<Data> {
  const query = new URLSearchParams(parameters).toString();
  const response = await fetch(`${url}/api/v1/${path}?${query}`);
  const answer = (await response.json()) as { status: string; error?: string; data: Data };
  if (answer.status !== 'success')
    throw new Error(`Prometheus rejected ${path}?${query}: ${answer.error ?? '?'}`);
  return answer.data;
}
