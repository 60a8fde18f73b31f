// The benchmark `ingest`: the exporter and a bare client that receive the same frames.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { configText } from '../fleet/config-text.ts';
import type { PanelOptions, PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark, BenchmarkOptions } from '../report/benchmark.ts';
import { selfSigned } from './certificate.ts';
import { CLIENTS, type Observed, observeRun, type Run } from './observe.ts';
import { reportIngest } from './report.ts';
import { describeScenario, type Scenario, type ScenarioRuns } from './scenario.ts';

/**
 * In runs of 20 s, ratios formed two groups, 0.15 apart: probably runs with and without a full
 * garbage collection.
 */
const DEFAULT_SECONDS = 60;
const DEFAULT_RUNS = 5;

/**
 * So high that the rate limit doesn't delay connects. The effect of a real limit isn't measured
 * here.
 */
const REQUESTS_PER_MINUTE = 60_000;

/** The life of a token in a scenario without renewals. */
const DAY_SECONDS = 86_400;

const DEFAULT_SERVERS = [100, 3_000, 10_000];

/** The scenario with console lines: its servers, and their lines per second together. */
const CONSOLE = { servers: 100, consoleLines: 1_000 };

/** The largest fleet with a reader: in larger ones, a third client would keep two cores busy. */
const MAX_READERS = 3_000;

export const ingest: Benchmark = {
  name: 'ingest',
  title: 'the exporter and a bare ws + JSON.parse client, with one stats frame per second from each server',
  run: async (options) => {
    const all: ScenarioRuns[] = [];
    for (const scenario of scenariosOf(options)) all.push(await runScenario(scenario, options));
    return reportIngest(all, options.seconds ?? DEFAULT_SECONDS);
  },
};

function scenariosOf({ servers, tls, renewals }: BenchmarkOptions): readonly Scenario[] {
  const fleets = servers === undefined ? DEFAULT_SERVERS : [servers];
  const links = tls === undefined ? [false, true] : [tls];
  const lifetimes = renewals === undefined ? [true, false] : [renewals];
  const quiet = fleets.flatMap((count) =>
    links.flatMap((isTls) =>
      lifetimes.map((isRenewed) => ({
        servers: count,
        tls: isTls,
        renewals: isRenewed,
        consoleLines: 0,
      })),
    ),
  );
  const hasConsole = fleets.includes(CONSOLE.servers) && links.includes(false) && lifetimes.includes(true);
  return [...quiet, ...(hasConsole ? [{ ...CONSOLE, tls: false, renewals: true }] : [])];
}

async function runScenario(scenario: Scenario, options: BenchmarkOptions): Promise<ScenarioRuns> {
  const { servers, tls, renewals, consoleLines } = scenario;
  const { runs = DEFAULT_RUNS, seconds = DEFAULT_SECONDS, profiles, progress } = options;
  const folder = await mkdtemp(join(tmpdir(), 'ingest-'));
  const panelOptions: PanelOptions = {
    servers,
    ...(tls && { tls: await selfSigned(folder) }),
    ...(!renewals && { tokenLifetimeSeconds: DAY_SECONDS }),
    ...(consoleLines > 0 && { consoleLinesPerSecond: consoleLines / servers }),
  };
  const clients = CLIENTS.filter((client) => client !== 'reader' || servers <= MAX_READERS);
  const panels = clients.map(() => new ProgramProcess<PanelProgram>('simulated-panel', panelOptions));
  const done: Run[] = [];
  try {
    await Promise.all(panels.map((panel) => panel.start()));
    const observed = await Promise.all(
      clients.map(async (client, index): Promise<Observed> => {
        const panel = panels[index];
        if (panel === undefined) throw new Error(`expected a panel for the ${client}`);
        return { client, panel, file: await writeFileFor(client, panel, folder, tls) };
      }),
    );
    for (let run = 1; run <= runs; run += 1) {
      progress(`${servers} servers, ${describeScenario(scenario)}, run ${run} of ${runs}`);
      const profile = profiles && (await profileFile(profiles, scenario, run));
      done.push(await observeRun(observed, { servers, renewals, seconds, profile }));
    }
  } finally {
    await Promise.all(panels.map((panel) => panel.stop()));
    await rm(folder, { recursive: true });
  }
  return { scenario, runs: done };
}

/** Writes the exporter's configuration, or the panel's address for another client. */
async function writeFileFor(
  client: Observed['client'],
  panel: Observed['panel'],
  folder: string,
  tls: boolean,
): Promise<string> {
  const address = await panel.ask('address', undefined);
  const file = join(folder, client);
  const ofPanel = [
    `requests_per_minute: ${REQUESTS_PER_MINUTE}`,
    ...(tls ? ['tls_config: { insecure_skip_verify: true }'] : []),
  ];
  await writeFile(file, client === 'exporter' ? configText(address, { ofPanel }) : JSON.stringify(address));
  return file;
}

async function profileFile(folder: string, scenario: Scenario, run: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  const name = describeScenario(scenario).replaceAll(/\W+/g, '-');
  return resolve(folder, `ingest-${scenario.servers}-${name}-${run}.cpuprofile`);
}
