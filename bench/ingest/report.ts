import type { ProcessUsage } from '../fleet/process-usage.ts';
import type { BenchmarkResult, Target } from '../report/benchmark.ts';
import { median, percentile, ratios } from '../report/statistics.ts';
import { formatNumber, medianAndSpread, type Table } from '../report/table.ts';
import type { Observation } from './observe.ts';
import type { Scenario, ScenarioRuns } from './scenario.ts';

/** The fleet that the design's targets are about. */
const TARGET_SERVERS = 10_000;

export function reportIngest(all: readonly ScenarioRuns[], seconds: number): BenchmarkResult {
  return {
    method: `The simulated panel, and each client in turn, run in processes of their own; every client run is a new process.
CPU is user + system time over ${seconds} s in which nobody scrapes, in percent of one core; RSS is the highest in that time, and its
peak the highest since the start, scrapes included, in 10^6 bytes. "Late" is the share of (server, instant) pairs, at 20 random
instants, whose newest sample was older than that: at scrapes for the exporter, looked up in memory for the bare client. "Scrape" is
the time of those scrapes over HTTP with gzip, while frames come in; its p99 is that of all runs together. The panel sends in 20 bursts
a second. Medians, with the lowest and the highest of the runs; "×" is exporter / bare client of the same run.`,
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
    rows: all.flatMap((runs) =>
      clientsOf(runs).map(([client, observations, isExporter]) => [
        String(runs.scenario.servers),
        linkOf(runs.scenario),
        client,
        show(observations, ({ usage }) => usage.cpuPercent, 1),
        isExporter ? showRatio(runs, (usage) => usage.cpuPercent) : '',
        show(observations, ({ usage }) => usage.rssMb, 0),
        isExporter ? showRatio(runs, (usage) => usage.rssMb) : '',
        show(observations, ({ usage }) => usage.peakRssMb, 0),
        show(observations, ({ panelUsage }) => panelUsage.cpuPercent, 1),
      ]),
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
    rows: all.flatMap((runs) =>
      clientsOf(runs).map(([client, observations]) => [
        String(runs.scenario.servers),
        linkOf(runs.scenario),
        client,
        show(observations, ({ framesPerSecond }) => framesPerSecond, 0),
        show(observations, ({ usage }) => usage.loopDelayMs.p50, 1),
        show(observations, ({ usage }) => usage.loopDelayMs.p99, 1),
        show(observations, ({ usage }) => usage.loopDelayMs.max, 1),
        show(observations, ({ panelUsage }) => panelUsage.loopDelayMs.max, 1),
        show(observations, ({ lateness }) => (100 * lateness.over1200Ms) / lateness.samples, 2),
        show(observations, ({ lateness }) => (100 * lateness.over2000Ms) / lateness.samples, 2),
        show(observations, ({ scrapesMs }) => median(scrapesMs), 0),
        slowest(observations),
      ]),
    ),
  };
}

function targetsOf(runs: ScenarioRuns): readonly Target[] {
  const { servers, tls } = runs.scenario;
  const name = `${servers} servers, ${linkOf(runs.scenario)}`;
  const fresh = median(
    runs.exporter.map(({ lateness }) => 100 * (1 - lateness.over1200Ms / lateness.samples)),
  );
  const freshness: Target = {
    what: `${name}: samples younger than 1.2 s at the scrape`,
    bound: { kind: 'at least', value: 99 },
    unit: '%',
    measured: fresh,
  };
  const cpu: Target = {
    what: `${name}: CPU, of the bare client's`,
    bound: { kind: 'at most', value: 1.3 },
    unit: '×',
    measured: median(ratiosOf(runs, (usage) => usage.cpuPercent)),
  };
  const memory: Target = tls
    ? {
        what: `${name}: RSS, of the bare client's`,
        bound: { kind: 'at most', value: 1.3 },
        unit: '×',
        measured: median(ratiosOf(runs, (usage) => usage.rssMb)),
      }
    : {
        what: `${name}: RSS at its peak, scrapes included`,
        bound: { kind: 'at most', value: 400 },
        unit: 'MB',
        measured: median(runs.exporter.map(({ usage }) => usage.peakRssMb)),
      };
  // The design sets no bound for CPU over TLS.
  return tls ? [memory, freshness] : [cpu, memory, freshness];
}

function clientsOf(
  runs: ScenarioRuns,
): readonly (readonly [name: string, observations: readonly Observation[], isExporter: boolean])[] {
  return [
    ['exporter', runs.exporter, true],
    ['bare client', runs.bareClient, false],
  ];
}

function linkOf({ tls }: Scenario): string {
  return tls ? 'TLS' : 'plain';
}

function show(
  observations: readonly Observation[],
  read: (observation: Observation) => number,
  decimals: number,
): string {
  return medianAndSpread(observations.map(read), decimals);
}

function slowest(observations: readonly Observation[]): string {
  const scrapesMs = observations.flatMap((observation) => observation.scrapesMs);
  return formatNumber(percentile(scrapesMs, 0.99), 0);
}

function ratiosOf(runs: ScenarioRuns, read: (usage: ProcessUsage) => number): readonly number[] {
  const values = (observations: readonly Observation[]) => observations.map(({ usage }) => read(usage));
  return ratios(values(runs.exporter), values(runs.bareClient));
}

function showRatio(runs: ScenarioRuns, read: (usage: ProcessUsage) => number): string {
  return medianAndSpread(ratiosOf(runs, read), 2);
}
