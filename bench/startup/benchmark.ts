// The benchmark `startup`: the time from the command to the first response.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configText } from '../fleet/config-text.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { ratios } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import { freePort, type Launch, timeToAnswer } from './launch.ts';

const FLEETS = [100, 1_000, 10_000];
const DEFAULT_RUNS = 7;
const TARGET_MS = 1_000;

interface Row {
  readonly servers: number;
  readonly panel: 'up' | 'down';
  readonly exporterMs: readonly number[];
  readonly bareMs: readonly number[];
}

export const startup: Benchmark = {
  name: 'startup',
  title: 'from the command to the first response of /metrics',
  run: async ({ servers, runs = DEFAULT_RUNS, progress }) => {
    const rows: Row[] = [];
    for (const fleet of servers === undefined ? FLEETS : [servers]) {
      progress(`${fleet} servers`);
      rows.push(...(await runFleet(fleet, runs)));
    }
    return {
      method: `Milliseconds from the start of \`node dist/cli.js serve\` until /metrics has responded with 200 and its whole body, requested every 2 ms;
the configuration has two lines per server and a panel that is simulated in another process (up) or has a closed port (down). The baseline
is a node process that only listens with node:http, started alternately. Medians, with the minimum and maximum of ${runs} runs.`,
      tables: [
        {
          header: ['servers', 'panel', '/metrics responds after ms', 'bare node:http ms', '×'],
          rows: rows.map(({ servers: fleet, panel, exporterMs, bareMs }) => [
            String(fleet),
            panel,
            medianAndSpread(exporterMs, 0),
            medianAndSpread(bareMs, 0),
            medianAndSpread(ratios(exporterMs, bareMs), 1),
          ]),
        },
      ],
      targets: rows.map(({ servers: fleet, panel, exporterMs }) => ({
        what: `${fleet} servers, panel ${panel}: /metrics responds in the slowest run`,
        bound: { kind: 'at most', value: TARGET_MS },
        unit: 'ms',
        measured: Math.max(...exporterMs),
      })),
    };
  },
};

async function runFleet(servers: number, runs: number): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'startup-'));
  const panel = new ProgramProcess<PanelProgram>('simulated-panel', { servers });
  try {
    await panel.start();
    const address = await panel.ask('address', undefined);
    const launches: readonly (readonly ['up' | 'down', Launch])[] = [
      ['up', { folder, config: configText(address) }],
      ['down', { folder, config: configText({ ...address, url: `http://127.0.0.1:${await freePort()}` }) }],
    ];
    const rows: Row[] = [];
    for (const [state, launch] of launches) {
      const exporterMs: number[] = [];
      const bareMs: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        exporterMs.push(await timeToAnswer('exporter', launch));
        bareMs.push(await timeToAnswer('bare', launch));
      }
      rows.push({ servers, panel: state, exporterMs, bareMs });
    }
    return rows;
  } finally {
    await panel.stop();
    await rm(folder, { recursive: true });
  }
}
