// The benchmark `scrape`: rendering `/metrics`, compared with prom-client.

import type { Encoding } from '../../src/metrics/rendered-body.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark, Target } from '../report/benchmark.ts';
import { median, ratios } from '../report/statistics.ts';
import { medianAndSpread, type Table } from '../report/table.ts';
import type { ExpositionRenderProgram } from './exposition-render.ts';
import type { PromClientRenderProgram } from './prom-client-render.ts';
import type { RenderMeasurement } from './render-measurement.ts';

/** The runs with one fleet. Measurements with the same index were made one after the other. */
interface FleetRuns {
  readonly servers: number;
  readonly exporter: readonly RenderMeasurement[];
  /** Compressed while rendering, as requested by Prometheus. */
  readonly compressed: readonly RenderMeasurement[];
  readonly promClient: readonly RenderMeasurement[];
}

type Way = Exclude<keyof FleetRuns, 'servers'>;

const FLEETS = [1_000, 10_000];
const DEFAULT_RUNS = 3;
const DEFAULT_SECONDS = 8;
const TARGET_SERVERS = 10_000;

export const scrape: Benchmark = {
  name: 'scrape',
  title: 'rendering /metrics, compared with prom-client and the same series',
  run: async ({ servers, runs = DEFAULT_RUNS, seconds = DEFAULT_SECONDS, progress }) => {
    const all: FleetRuns[] = [];
    for (const fleet of servers === undefined ? FLEETS : [servers]) {
      const exporter: RenderMeasurement[] = [];
      const compressed: RenderMeasurement[] = [];
      const promClient: RenderMeasurement[] = [];
      for (let run = 1; run <= runs; run += 1) {
        progress(`${fleet} servers, run ${run} of ${runs}`);
        const measured = await runAll(fleet, seconds);
        exporter.push(measured.exporter);
        compressed.push(measured.compressed);
        promClient.push(measured.promClient);
      }
      all.push({ servers: fleet, exporter, compressed, promClient });
    }
    return {
      method: `Each renders in its own process, one after the other, for ${seconds} s of rendering per run; before every render each server gets a
new sample with new values, whose update isn't measured, here or in prom-client. It is verified that both render the same
series with the same values. "Block" is the longest time during a render in which the event loop got no turn, in the median render and in
the worst; waiting for a core counts as blocked too. With gzip (level 3, outside the event loop), which Prometheus requests, the text is
compressed piece by piece while it is rendered. prom-client's text is plain. Medians, with the minimum and maximum of ${runs} runs; "×" is prom-client / exporter of the same run.`,
      tables: [renderTable(all), sizeTable(all)],
      targets: all.filter((fleet) => fleet.servers === TARGET_SERVERS).flatMap(targetsOf),
    };
  },
};

async function runAll(servers: number, seconds: number): Promise<Record<Way, RenderMeasurement>> {
  const exporter = await measureExporter(servers, seconds, 'identity');
  const compressed = await measureExporter(servers, seconds, 'gzip');
  const theirs = await new ProgramProcess<PromClientRenderProgram>('prom-client-render', { servers }).start();
  const promClient = await theirs.ask('measure', { seconds });
  await theirs.stop();
  if (new Set([exporter.digest, compressed.digest, promClient.digest]).size > 1) {
    throw new Error(
      `the series differ: ${exporter.series} by the exporter, ${compressed.series} compressed, ${promClient.series} by prom-client`,
    );
  }
  return { exporter, compressed, promClient };
}

async function measureExporter(
  servers: number,
  seconds: number,
  encoding: Encoding,
): Promise<RenderMeasurement> {
  const ours = await new ProgramProcess<ExpositionRenderProgram>('exposition-render', { servers }).start();
  const measured = await ours.ask('measure', { seconds, encoding });
  await ours.stop();
  return measured;
}

function renderTable(all: readonly FleetRuns[]): Table {
  return {
    header: [
      'servers',
      'series',
      'by',
      'renders',
      'p50 ms',
      'p99 ms',
      'block p50 ms',
      'block max ms',
      'p50 ×',
    ],
    rows: all.flatMap(({ servers, exporter, compressed, promClient }) =>
      [
        { by: 'exporter', runs: exporter, ratio: speedUps(promClient, exporter) },
        { by: 'exporter, gzip', runs: compressed, ratio: speedUps(promClient, compressed) },
        { by: 'prom-client', runs: promClient, ratio: undefined },
      ].map(({ by, runs, ratio }) => [
        String(servers),
        String(runs[0]?.series ?? 0),
        by,
        medianAndSpread(
          runs.map(({ renders }) => renders),
          0,
        ),
        show(runs, ({ p50Ms }) => p50Ms),
        show(runs, ({ p99Ms }) => p99Ms),
        show(runs, ({ blockP50Ms }) => blockP50Ms),
        show(runs, ({ blockMaxMs }) => blockMaxMs),
        ratio === undefined ? '' : medianAndSpread(ratio, 1),
      ]),
    ),
  };
}

function sizeTable(all: readonly FleetRuns[]): Table {
  return {
    header: ['servers', 'bytes', 'gzip bytes'],
    rows: all.map(({ servers, exporter, compressed }) => [
      String(servers),
      String(exporter[0]?.bytes ?? 0),
      String(compressed[0]?.bytes ?? 0),
    ]),
  };
}

function targetsOf({ servers, exporter, compressed, promClient }: FleetRuns): readonly Target[] {
  const block = (way: string, runs: readonly RenderMeasurement[]): Target => ({
    what: `${servers} servers, ${way}: longest block of the event loop in any render of the median run`,
    bound: { kind: 'at most', value: 25 },
    unit: 'ms',
    measured: median(runs.map(({ blockMaxMs }) => blockMaxMs)),
  });
  return [
    {
      what: `${servers} servers: how many times faster than prom-client`,
      bound: { kind: 'at least', value: 5 },
      unit: '×',
      measured: median(speedUps(promClient, exporter)),
    },
    block('plain', exporter),
    block('gzip', compressed),
  ];
}

function speedUps(
  theirs: readonly RenderMeasurement[],
  ours: readonly RenderMeasurement[],
): readonly number[] {
  return ratios(
    theirs.map(({ p50Ms }) => p50Ms),
    ours.map(({ p50Ms }) => p50Ms),
  );
}

function show(runs: readonly RenderMeasurement[], read: (run: RenderMeasurement) => number): string {
  return medianAndSpread(runs.map(read), 1);
}
