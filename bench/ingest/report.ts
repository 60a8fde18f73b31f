import type { ProcessUsage } from '../fleet/process-usage.ts';
import type { BenchmarkResult, Target } from '../report/benchmark.ts';
import { median, percentile } from '../report/statistics.ts';
import { formatNumber, medianAndSpread, type Table } from '../report/table.ts';
import { MAX_CONCURRENT, type Observation, type Run } from './observe.ts';
import type { Scenario, ScenarioRuns } from './scenario.ts';

/** The size of the fleet for which the design has targets. */
const TARGET_SERVERS = 10_000;

const CLIENTS = [
  ['exporter', 'exporter'],
  ['bareClient', 'bare client'],
] as const;

export function reportIngest(all: readonly ScenarioRuns[], seconds: number): BenchmarkResult {
  return {
    method: `Each client runs in its own process, with its own simulated panel in another; every run starts a new process. A run has three parts: both clients
at the same time, the exporter alone, a new bare client alone. CPU and RSS are from the first part, in which other load on the machine affects both
clients alike; fleets over ${MAX_CONCURRENT} have no such part. CPU is user + system time over ${seconds} s without scrapes, in percent of one core; RSS is the maximum in
that time, in 10^6 bytes. The other values are of each client alone: the peak of RSS is the maximum since its start, including scrapes. "Late" is the
share of (server, instant) pairs, at 20 random instants, whose newest sample was older than that: at scrapes for the exporter, read from memory for the
bare client. "Scrape" is the time of those scrapes over HTTP with gzip, while frames arrive; its p99 is over all runs together. The panel sends in 20
bursts per second. Medians, with the minimum and maximum of the runs; "×" is exporter / bare client of the same run.`,
    tables: [costTable(all), timelinessTable(all)],
    targets: all.filter(({ scenario }) => scenario.servers === TARGET_SERVERS).flatMap(targetsOf),
  };
}

function costTable(all: readonly ScenarioRuns[]): Table {
  return {
    header: [
      'servers',
      'link',
      'client',
      'CPU %',
      'CPU ×',
      'RSS MB',
      'RSS ×',
      'RSS peak MB',
      "panel's CPU %",
    ],
    rows: all.flatMap(({ scenario, runs }) =>
      CLIENTS.map(([client, name]) => {
        const isExporter = client === 'exporter';
        const observations = runs.map((run) => run[client]);
        return [
          String(scenario.servers),
          linkOf(scenario),
          name,
          show(runs, ({ compared }) => compared[client].cpuPercent, 1),
          isExporter
            ? medianAndSpread(
                ratiosOf(runs, ({ cpuPercent }) => cpuPercent),
                2,
              )
            : '',
          show(runs, ({ compared }) => compared[client].rssMb, 0),
          isExporter
            ? medianAndSpread(
                ratiosOf(runs, ({ rssMb }) => rssMb),
                2,
              )
            : '',
          show(observations, ({ usage }) => usage.peakRssMb, 0),
          show(observations, ({ panelUsage }) => panelUsage.cpuPercent, 1),
        ];
      }),
    ),
  };
}

function timelinessTable(all: readonly ScenarioRuns[]): Table {
  return {
    header: [
      'servers',
      'link',
      'client',
      'frames/s',
      'loop delay p50 ms',
      'p99 ms',
      'max ms',
      "panel's max ms",
      'late > 1.2 s %',
      '> 2 s %',
      'scrape p50 ms',
      'p99 ms',
    ],
    rows: all.flatMap(({ scenario, runs }) =>
      CLIENTS.map(([client, name]) => {
        const observations = runs.map((run) => run[client]);
        return [
          String(scenario.servers),
          linkOf(scenario),
          name,
          show(observations, ({ framesPerSecond }) => framesPerSecond, 0),
          show(observations, ({ usage }) => usage.loopDelayMs.p50, 1),
          show(observations, ({ usage }) => usage.loopDelayMs.p99, 1),
          show(observations, ({ usage }) => usage.loopDelayMs.max, 1),
          show(observations, ({ panelUsage }) => panelUsage.loopDelayMs.max, 1),
          show(observations, (observation) => latePercent(observation), 2),
          show(observations, ({ lateness }) => (100 * lateness.over2000Ms) / lateness.samples, 2),
          show(observations, ({ scrapesMs }) => median(scrapesMs), 0),
          slowest(observations),
        ];
      }),
    ),
  };
}

function targetsOf({ scenario, runs }: ScenarioRuns): readonly Target[] {
  const name = `${scenario.servers} servers, ${linkOf(scenario)}`;
  const freshness: Target = {
    what: `${name}: samples younger than 1.2 s at the scrape`,
    bound: { kind: 'at least', value: 99 },
    unit: '%',
    measured: median(runs.map(({ exporter }) => 100 - latePercent(exporter))),
  };
  const cpu: Target = {
    what: `${name}: CPU, relative to the bare client`,
    bound: { kind: 'at most', value: 1.15 },
    unit: '×',
    measured: median(ratiosOf(runs, ({ cpuPercent }) => cpuPercent)),
  };
  const memory: Target = scenario.tls
    ? {
        what: `${name}: RSS, relative to the bare client`,
        bound: { kind: 'at most', value: 1.3 },
        unit: '×',
        measured: median(ratiosOf(runs, ({ rssMb }) => rssMb)),
      }
    : {
        what: `${name}: peak RSS, including scrapes`,
        bound: { kind: 'at most', value: 420 },
        unit: 'MB',
        measured: median(runs.map(({ exporter }) => exporter.usage.peakRssMb)),
      };
  // The design has no target for CPU usage with TLS.
  return scenario.tls ? [memory, freshness] : [cpu, memory, freshness];
}

function linkOf({ tls }: Scenario): string {
  return tls ? 'TLS' : 'plain';
}

function show<Item>(items: readonly Item[], read: (item: Item) => number, decimals: number): string {
  return medianAndSpread(items.map(read), decimals);
}

function latePercent({ lateness }: Observation): number {
  return (100 * lateness.over1200Ms) / lateness.samples;
}

function slowest(observations: readonly Observation[]): string {
  const scrapesMs = observations.flatMap((observation) => observation.scrapesMs);
  return formatNumber(percentile(scrapesMs, 0.99), 0);
}

function ratiosOf(runs: readonly Run[], read: (usage: ProcessUsage) => number): readonly number[] {
  return runs.map(({ compared: { exporter, bareClient } }) => read(exporter) / read(bareClient));
}
