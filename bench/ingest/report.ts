// The tables and targets of the benchmark `ingest`.

import type { ProcessUsage } from '../fleet/process-usage.ts';
import type { BenchmarkResult, Target } from '../report/benchmark.ts';
import { median, percentile, ratios } from '../report/statistics.ts';
import { formatNumber, medianAndSpread, type Table } from '../report/table.ts';
import { CLIENTS, type Client, type Observation, type Run } from './observe.ts';
import { describeScenario, type Scenario, type ScenarioRuns } from './scenario.ts';

/** The size of the fleet with targets for memory and freshness. */
const TARGET_SERVERS = 10_000;

export function reportIngest(all: readonly ScenarioRuns[], seconds: number): BenchmarkResult {
  return {
    method: `The exporter, a bare ws + JSON.parse client, and (in fleets up to 3,000) a client that only reads, which is Node's own
part: each in its own process, with its own simulated panel in another, all at the same time, so that other load on the machine affects them alike.
Both renew tokens at random from 75 to 90 % of their ten minutes, the first ones from 10 %; without renewals, tokens live a day. Every run starts new
processes; it measures from 75 s after the last client streams. CPU is user + system time over ${seconds} s without scrapes, in percent of one core;
RSS is the maximum in that time, in 10^6 bytes; its peak, since the start. "×" is relative to the bare client of the same run, and "1/×" the bare client
relative to it. "Late" is the share of (server, instant) pairs, at 20 random instants, whose newest sample was older than that: at scrapes for the exporter,
read from memory for the bare client. "Scrape" is the time of those scrapes over HTTP with gzip; its p99 is over all runs together. The panel sends
in 20 bursts per second. Medians, with the minimum and maximum of the runs.`,
    tables: [costTable(all), timelinessTable(all)],
    targets: all.flatMap(targetsOf),
  };
}

/** The measurements of one client, from all runs of a scenario that included it. */
function seenOf(client: Client, runs: readonly Run[]): readonly Observation[] {
  return runs.map((run) => run[client]).filter((observation) => observation !== undefined);
}

/** The ratios of a client to the bare client of the same run. */
function relative(client: Client, runs: readonly Run[], read: (usage: ProcessUsage) => number) {
  const valuesOf = (which: Client) => seenOf(which, runs).map(({ usage }) => read(usage));
  return ratios(valuesOf(client), valuesOf('bare client'));
}

const readCpu = ({ cpuPercent }: ProcessUsage): number => cpuPercent;
const readRss = ({ rssMb }: ProcessUsage): number => rssMb;

function costTable(all: readonly ScenarioRuns[]): Table {
  return {
    header: [
      'servers',
      'scenario',
      'client',
      'CPU %',
      'CPU ×',
      'CPU 1/×',
      'RSS MB',
      'RSS ×',
      'RSS peak MB',
      "panel's CPU %",
    ],
    rows: all.flatMap(({ scenario, runs }) =>
      CLIENTS.map((client) => ({ client, seen: seenOf(client, runs) }))
        .filter(({ seen }) => seen.length > 0)
        .map(({ client, seen }) => {
          const compared = (values: readonly number[]) =>
            client === 'bare client' ? '' : medianAndSpread(values, 2);
          const cpu = relative(client, runs, readCpu);
          return [
            String(scenario.servers),
            describeScenario(scenario),
            client,
            show(seen, ({ usage }) => usage.cpuPercent, 1),
            compared(cpu),
            compared(cpu.map((ratio) => 1 / ratio)),
            show(seen, ({ usage }) => usage.rssMb, 0),
            compared(relative(client, runs, readRss)),
            show(seen, ({ usage }) => usage.peakRssMb, 0),
            show(seen, ({ panelUsage }) => panelUsage.cpuPercent, 1),
          ];
        }),
    ),
  };
}

function timelinessTable(all: readonly ScenarioRuns[]): Table {
  return {
    header: ['servers', 'scenario', 'client', 'late > 1.2 s %', '> 2 s %', 'scrape p50 ms', 'p99 ms'],
    rows: all.flatMap(({ scenario, runs }) =>
      (['exporter', 'bare client'] as const).map((client) => {
        const seen = seenOf(client, runs);
        const scrapesMs = seen.flatMap((observation) => observation.scrapesMs);
        return [
          String(scenario.servers),
          describeScenario(scenario),
          client,
          show(seen, (observation) => latePercent(observation, 'over1200Ms'), 2),
          show(seen, (observation) => latePercent(observation, 'over2000Ms'), 2),
          show(seen, (observation) => median(observation.scrapesMs), 0),
          formatNumber(percentile(scrapesMs, 0.99), 0),
        ];
      }),
    ),
  };
}

function targetsOf({ scenario, runs }: ScenarioRuns): readonly Target[] {
  const { servers, tls, renewals } = scenario;
  if (!renewals) return [];
  const name = `${servers} servers, ${describeScenario(scenario)}`;
  const exporter = seenOf('exporter', runs);
  const cpu: Target = {
    what: `${name}: CPU, relative to the bare client`,
    bound: { kind: 'at most', value: cpuBound(scenario) },
    unit: '×',
    measured: median(relative('exporter', runs, readCpu)),
  };
  if (servers !== TARGET_SERVERS) return [cpu];
  const freshness: Target = {
    what: `${name}: samples younger than 1.2 s at the scrape`,
    bound: { kind: 'at least', value: 99 },
    unit: '%',
    measured: median(exporter.map((observation) => 100 - latePercent(observation, 'over1200Ms'))),
  };
  const memory: Target = tls
    ? {
        what: `${name}: RSS, relative to the bare client`,
        bound: { kind: 'at most', value: 1.3 },
        unit: '×',
        measured: median(relative('exporter', runs, readRss)),
      }
    : {
        what: `${name}: peak RSS, including scrapes`,
        bound: { kind: 'at most', value: 420 },
        unit: 'MB',
        measured: median(exporter.map(({ usage }) => usage.peakRssMb)),
      };
  return [cpu, memory, freshness];
}

function cpuBound({ servers, tls, consoleLines }: Scenario): number {
  if (consoleLines > 0) return 0.7;
  return tls || servers === 3_000 ? 0.95 : 1;
}

function show<Item>(items: readonly Item[], read: (item: Item) => number, decimals: number): string {
  return medianAndSpread(items.map(read), decimals);
}

function latePercent({ lateness }: Observation, over: 'over1200Ms' | 'over2000Ms'): number {
  return lateness === undefined ? Number.NaN : (100 * lateness[over]) / lateness.samples;
}
