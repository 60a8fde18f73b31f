import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { configText } from '../fleet/config-text.ts';
import type { PanelAddress, PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark, BenchmarkOptions } from '../report/benchmark.ts';
import { selfSigned } from './certificate.ts';
import { type Observation, type Observed, observeBareClient, observeExporter } from './observe.ts';
import { reportIngest } from './report.ts';
import type { Scenario, ScenarioRuns } from './scenario.ts';

const DEFAULT_SECONDS = 10;
const DEFAULT_RUNS = 3;

/** So many that the connects are not waited for; what that costs in real life is another question. */
const REQUESTS_PER_MINUTE = 60_000;

/** Of a client towards one address, on Linux as it comes. */
const EPHEMERAL_PORTS = 28_232;

/** For API calls, scrapes and files. */
const SPARE_DESCRIPTORS = 500;

interface ProcessLimits {
  /** `unlimited` where there is no limit. */
  readonly userLimits: { readonly open_files: { readonly soft: number | string } };
}

export const ingest: Benchmark = {
  name: 'ingest',
  title: 'the exporter against a bare ws + JSON.parse client, one stats frame a second from each server',
  run: async (options) => {
    const fleets = options.servers === undefined ? [1_000, 10_000, mostServers()] : [options.servers];
    const links = options.tls === undefined ? [false, true] : [options.tls];
    const scenarios = links.flatMap((tls) => fleets.map((servers) => ({ servers, tls })));
    const all: ScenarioRuns[] = [];
    for (const scenario of scenarios) all.push(await runScenario(scenario, options));
    return reportIngest(all, options.seconds ?? DEFAULT_SECONDS);
  },
};

/** Thousands of servers that this machine has file descriptors and ports for: a socket takes one of each at either end. */
function mostServers(): number {
  const { userLimits } = process.report.getReport() as unknown as ProcessLimits;
  const descriptors = Number(userLimits.open_files.soft);
  const sockets = Math.min(Number.isNaN(descriptors) ? EPHEMERAL_PORTS : descriptors, EPHEMERAL_PORTS);
  return Math.floor((sockets - SPARE_DESCRIPTORS) / 1_000) * 1_000;
}

async function runScenario(scenario: Scenario, options: BenchmarkOptions): Promise<ScenarioRuns> {
  const { servers, tls } = scenario;
  const { runs = DEFAULT_RUNS, seconds = DEFAULT_SECONDS, profiles, progress } = options;
  const name = `${servers} servers, ${tls ? 'TLS' : 'plain'}`;
  const folder = await mkdtemp(join(tmpdir(), 'ingest-'));
  const panel = new ProgramProcess<PanelProgram>('simulated-panel', {
    servers,
    ...(tls && { tls: await selfSigned(folder) }),
  });
  const exporter: Observation[] = [];
  const bareClient: Observation[] = [];
  try {
    await panel.start();
    const { configFile, addressFile } = await writeFiles(folder, await panel.ask('address', undefined), tls);
    const observed: Observed = { panel, servers, seconds };
    for (let run = 1; run <= runs; run += 1) {
      progress(`${name}, run ${run} of ${runs}: the exporter`);
      const profile = profiles && (await profileFile(profiles, scenario, run));
      exporter.push(await observeExporter(observed, configFile, profile));
      progress(`${name}, run ${run} of ${runs}: the bare client`);
      bareClient.push(await observeBareClient(observed, addressFile));
    }
  } finally {
    await panel.stop();
    await rm(folder, { recursive: true });
  }
  return { scenario, exporter, bareClient };
}

async function writeFiles(folder: string, address: PanelAddress, tls: boolean) {
  const [configFile, addressFile] = [join(folder, 'config.yaml'), join(folder, 'panel.json')];
  await writeFile(addressFile, JSON.stringify(address));
  const ofPanel = [
    `requests_per_minute: ${REQUESTS_PER_MINUTE}`,
    ...(tls ? ['tls_config: { insecure_skip_verify: true }'] : []),
  ];
  await writeFile(configFile, configText(address, { ofPanel }));
  return { configFile, addressFile };
}

async function profileFile(folder: string, { servers, tls }: Scenario, run: number): Promise<string> {
  await mkdir(folder, { recursive: true });
  return resolve(folder, `ingest-${servers}-${tls ? 'tls' : 'plain'}-${run}.cpuprofile`);
}
