import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { configText } from '../fleet/config-text.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark, BenchmarkOptions } from '../report/benchmark.ts';
import { selfSigned } from './certificate.ts';
import { type Observed, observeRun, type Run } from './observe.ts';
import { reportIngest } from './report.ts';
import type { Scenario, ScenarioRuns } from './scenario.ts';

const DEFAULT_SECONDS = 10;
const DEFAULT_RUNS = 5;

/** High enough that connecting isn't delayed by the rate limit; the effect of a real limit isn't measured here. */
const REQUESTS_PER_MINUTE = 60_000;

/** The number of ports for a client's connections to one address, in Linux's default configuration. */
const EPHEMERAL_PORTS = 28_232;

/** For API calls, scrapes and files. */
const SPARE_DESCRIPTORS = 500;

interface ProcessLimits {
  /** `unlimited` if there is no limit. */
  readonly userLimits: { readonly open_files: { readonly soft: number | string } };
}

export const ingest: Benchmark = {
  name: 'ingest',
  title: 'the exporter and a bare ws + JSON.parse client, with one stats frame per second from each server',
  run: async (options) => {
    const fleets = options.servers === undefined ? [1_000, 10_000, mostServers()] : [options.servers];
    const links = options.tls === undefined ? [false, true] : [options.tls];
    const scenarios = links.flatMap((tls) => fleets.map((servers) => ({ servers, tls })));
    const all: ScenarioRuns[] = [];
    for (const scenario of scenarios) all.push(await runScenario(scenario, options));
    return reportIngest(all, options.seconds ?? DEFAULT_SECONDS);
  },
};

/**
 * The number of servers, in whole thousands, for which this machine has enough file descriptors and ports: a socket takes one
 * of each at either end.
 */
function mostServers(): number {
  const { userLimits } = process.report.getReport() as unknown as ProcessLimits;
  const descriptors = Number(userLimits.open_files.soft);
  const sockets = Math.min(Number.isNaN(descriptors) ? EPHEMERAL_PORTS : descriptors, EPHEMERAL_PORTS);
  return Math.floor((sockets - SPARE_DESCRIPTORS) / 1_000) * 1_000;
}

async function runScenario(scenario: Scenario, options: BenchmarkOptions): Promise<ScenarioRuns> {
  const { servers, tls } = scenario;
  const { runs = DEFAULT_RUNS, seconds = DEFAULT_SECONDS, profiles, progress } = options;
  const folder = await mkdtemp(join(tmpdir(), 'ingest-'));
  const panelOptions = { servers, ...(tls && { tls: await selfSigned(folder) }) };
  const newPanel = () => new ProgramProcess<PanelProgram>('simulated-panel', panelOptions);
  const panels = { exporter: newPanel(), bareClient: newPanel() };
  const done: Run[] = [];
  try {
    await Promise.all([panels.exporter.start(), panels.bareClient.start()]);
    const files = await writeFiles(folder, panels, tls);
    for (let run = 1; run <= runs; run += 1) {
      progress(`${servers} servers, ${tls ? 'TLS' : 'plain'}, run ${run} of ${runs}`);
      const profile = profiles && (await profileFile(profiles, scenario, run));
      done.push(await observeRun({ panels, servers, seconds, ...files }, profile));
    }
  } finally {
    await Promise.all([panels.exporter.stop(), panels.bareClient.stop()]);
    await rm(folder, { recursive: true });
  }
  return { scenario, runs: done };
}

async function writeFiles(folder: string, panels: Observed['panels'], tls: boolean) {
  const [configFile, addressFile] = [join(folder, 'config.yaml'), join(folder, 'panel.json')];
  const ofPanel = [
    `requests_per_minute: ${REQUESTS_PER_MINUTE}`,
    ...(tls ? ['tls_config: { insecure_skip_verify: true }'] : []),
  ];
  await writeFile(configFile, configText(await panels.exporter.ask('address', undefined), { ofPanel }));
  await writeFile(addressFile, JSON.stringify(await panels.bareClient.ask('address', undefined)));
  return { configFile, addressFile };
}

async function profileFile(folder: string, { servers, tls }: Scenario, run: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  return resolve(folder, `ingest-${servers}-${tls ? 'tls' : 'plain'}-${run}.cpuprofile`);
}
