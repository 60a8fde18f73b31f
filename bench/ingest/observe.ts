// Starts the clients of the benchmark `ingest`, and measures them at the same time.

import { setTimeout as delay } from 'node:timers/promises';
import type { ExporterProgram } from '../fleet/exporter.ts';
import { allStreaming, randomPause } from '../fleet/exposition.ts';
import type { ProcessUsage } from '../fleet/process-usage.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { BareClientProgram } from './bare-client.ts';
import { addLateness, type Lateness, lateness } from './lateness.ts';
import { scrapeExporter } from './scraped.ts';

/** The exporter, the bare client, and a client that only reads from its sockets. */
export const CLIENTS = ['exporter', 'bare client', 'reader'] as const;
export type Client = (typeof CLIENTS)[number];

/** The measurements of one client. */
export interface Observation {
  readonly usage: ProcessUsage;
  readonly panelUsage: ProcessUsage;
  /** Absent for the reader, which doesn't parse frames. */
  readonly lateness?: Lateness;
  /** Milliseconds of each scrape while frames arrived; empty for all clients but the exporter. */
  readonly scrapesMs: readonly number[];
}

/** The measurements of all clients in one run. Large fleets have no reader. */
export type Run = Readonly<Partial<Record<Client, Observation>>>;

/** A client and its own panel. All panels send the same frames. */
export interface Observed {
  readonly client: Client;
  readonly panel: ProgramProcess<PanelProgram>;
  /** The exporter's configuration, or the panel's address. */
  readonly file: string;
}

interface RunOptions {
  readonly servers: number;
  readonly renewals: boolean;
  readonly seconds: number;
  /** Where to write a CPU profile of the exporter. */
  readonly profile: string | undefined;
}

/** A client in its own process that streams all servers. */
interface Running {
  readonly watch: (profile?: string) => Promise<ProcessUsage>;
  /** Reads the ages of the newest samples; absent for the reader. */
  readonly look?: () => Promise<{ readonly lateness: Lateness; readonly tookMs?: number }>;
  readonly stop: () => Promise<void>;
}

/**
 * Milliseconds from the start of the last client to the measurement. After this time, hot code is
 * compiled, the garbage of connecting is collected, and tokens are renewed as often as later on.
 */
const WARM_AFTER_MS = 75_000;

/** The number of random instants at which the ages of samples are read. */
const INSTANTS = 20;

/** Starts all clients, waits until they are warm, and measures them at the same time. */
export async function observeRun(observed: readonly Observed[], options: RunOptions): Promise<Run> {
  const { seconds, profile } = options;
  const running: (readonly [Observed, Running])[] = [];
  try {
    for (const one of observed) running.push([one, await start(one, options)]);
    await delay(WARM_AFTER_MS);
    const entries = await Promise.all(
      running.map(async ([{ client, panel }, program]): Promise<[Client, Observation]> => {
        const [usage, panelUsage] = await Promise.all([
          program.watch(client === 'exporter' ? profile : undefined),
          panel.ask('watch', { seconds }),
        ]);
        return [client, { usage, panelUsage, ...(await lookOften(program)) }];
      }),
    );
    return Object.fromEntries(entries);
  } finally {
    await Promise.all(running.map(([, program]) => program.stop()));
    await Promise.all(observed.map(({ panel }) => panel.ask('drained', undefined)));
  }
}

async function start({ client, file }: Observed, options: RunOptions): Promise<Running> {
  const { servers, renewals, seconds } = options;
  if (client === 'exporter') {
    const exporter = new ProgramProcess<ExporterProgram>('exporter', { configFile: file });
    await exporter.start();
    const url = await exporter.ask('url', undefined);
    await allStreaming(url, servers);
    return {
      watch: (profile) => exporter.ask('watch', { seconds, ...(profile !== undefined && { profile }) }),
      look: () => scrapeExporter(url, servers),
      stop: () => exporter.stop(),
    };
  }
  const drops = client === 'reader';
  const bareClient = new ProgramProcess<BareClientProgram>('bare-client', {
    addressFile: file,
    renewals,
    drops,
  });
  await bareClient.start();
  await bareClient.ask('streaming', undefined);
  return {
    watch: () => bareClient.ask('watch', { seconds }),
    ...(!drops && { look: async () => ({ lateness: await bareClient.ask('lateness', undefined) }) }),
    stop: () => bareClient.stop(),
  };
}

async function lookOften({ look }: Running): Promise<Pick<Observation, 'lateness' | 'scrapesMs'>> {
  if (look === undefined) return { scrapesMs: [] };
  const scrapesMs: number[] = [];
  let late = lateness([]);
  for (let instant = 0; instant < INSTANTS; instant += 1) {
    await randomPause();
    const seen = await look();
    if (seen.tookMs !== undefined) scrapesMs.push(seen.tookMs);
    late = addLateness(late, seen.lateness);
  }
  return { lateness: late, scrapesMs };
}
