import { setTimeout as delay } from 'node:timers/promises';
import type { ExporterProgram } from '../fleet/exporter.ts';
import { allStreaming, randomPause } from '../fleet/exposition.ts';
import type { ProcessUsage } from '../fleet/process-usage.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { BareClientProgram } from './bare-client.ts';
import { addLateness, type Lateness, lateness } from './lateness.ts';
import { scrapeExporter } from './scraped.ts';

/** The measurements of one client that ran alone. */
export interface Observation {
  readonly usage: ProcessUsage;
  readonly panelUsage: ProcessUsage;
  readonly framesPerSecond: number;
  readonly lateness: Lateness;
  /** Durations of scrapes in milliseconds while frames arrived; for the exporter only. */
  readonly scrapesMs: readonly number[];
}

/** The measurements of both clients in one run. */
export interface Run {
  readonly exporter: Observation;
  readonly bareClient: Observation;
  /** The usage of each: measured concurrently if the machine is large enough, or otherwise separately. */
  readonly compared: Compared;
}

interface Compared {
  readonly exporter: ProcessUsage;
  readonly bareClient: ProcessUsage;
}

export interface Observed {
  /** Each client has its own panel; both panels send the same. */
  readonly panels: {
    readonly exporter: ProgramProcess<PanelProgram>;
    readonly bareClient: ProgramProcess<PanelProgram>;
  };
  readonly servers: number;
  readonly seconds: number;
  readonly configFile: string;
  readonly addressFile: string;
}

type Exporter = ProgramProcess<ExporterProgram>;
type BareClient = ProgramProcess<BareClientProgram>;

/** Time after the last socket streams, for collecting the garbage from connecting and compiling hot code. */
const SETTLE_MS = 5_000;

/** The largest fleet for which both clients run concurrently: with TLS, twice as many sockets would keep two cores busy. */
export const MAX_CONCURRENT = 10_000;

/** The number of random instants at which samples' ages are measured. */
const INSTANTS = 20;

/** Measures both concurrently, then the exporter alone, then another bare client alone. */
export async function observeRun(observed: Observed, profile?: string): Promise<Run> {
  const { panels, servers, configFile } = observed;
  const exporter: Exporter = new ProgramProcess('exporter', { configFile });
  try {
    await exporter.start();
    const together = servers <= MAX_CONCURRENT ? await observeTogether(exporter, observed) : undefined;
    await allStreaming(await exporter.ask('url', undefined), servers);
    await delay(SETTLE_MS);
    const exporterAlone = await observeExporter(exporter, observed, profile);
    await exporter.stop();
    await panels.exporter.ask('drained', undefined);
    const bareClientAlone = await withBareClient(observed, async (bareClient) => {
      await delay(SETTLE_MS);
      return observeBareClient(bareClient, observed);
    });
    const compared = together ?? { exporter: exporterAlone.usage, bareClient: bareClientAlone.usage };
    return { exporter: exporterAlone, bareClient: bareClientAlone, compared };
  } finally {
    await exporter.stop();
    await panels.exporter.ask('drained', undefined);
  }
}

function observeTogether(exporter: Exporter, observed: Observed): Promise<Compared> {
  const { servers, seconds } = observed;
  return withBareClient(observed, async (bareClient) => {
    await allStreaming(await exporter.ask('url', undefined), servers);
    await delay(SETTLE_MS);
    const both = [exporter.ask('watch', { seconds }), bareClient.ask('watch', { seconds })] as const;
    const [ours, theirs] = await Promise.all(both);
    return { exporter: ours, bareClient: theirs };
  });
}

/** Runs a new bare client; calls the function once all its sockets stream, and stops the client afterwards. */
async function withBareClient<Result>(
  { panels, addressFile }: Observed,
  observe: (client: BareClient) => Promise<Result>,
): Promise<Result> {
  const client: BareClient = new ProgramProcess('bare-client', { addressFile });
  try {
    await client.start();
    await client.ask('streaming', undefined);
    return await observe(client);
  } finally {
    await client.stop();
    await panels.bareClient.ask('drained', undefined);
  }
}

/** Measures it without scrapes, then scrapes it at random instants. */
async function observeExporter(
  exporter: Exporter,
  { panels, servers, seconds }: Observed,
  profile: string | undefined,
): Promise<Observation> {
  const url = await exporter.ask('url', undefined);
  const before = await scrapeExporter(url, servers);
  const [usage, panelUsage] = await Promise.all([
    exporter.ask('watch', { seconds, ...(profile !== undefined && { profile }) }),
    panels.exporter.ask('watch', { seconds }),
  ]);
  const after = await scrapeExporter(url, servers);
  const scrapesMs: number[] = [];
  let late = lateness([]);
  for (let instant = 0; instant < INSTANTS; instant += 1) {
    await randomPause();
    const scraped = await scrapeExporter(url, servers);
    scrapesMs.push(scraped.tookMs);
    late = addLateness(late, scraped.lateness);
  }
  const frames = after.statsFrames - before.statsFrames;
  const framesPerSecond = (frames * 1_000) / (after.newestSampleUnixMs - before.newestSampleUnixMs);
  const { peakRssMb } = await exporter.ask('watch', { seconds: 0 });
  return { usage: { ...usage, peakRssMb }, panelUsage, framesPerSecond, lateness: late, scrapesMs };
}

async function observeBareClient(client: BareClient, { panels, seconds }: Observed): Promise<Observation> {
  const [usage, panelUsage] = await Promise.all([
    client.ask('watch', { seconds }),
    panels.bareClient.ask('watch', { seconds }),
  ]);
  let late = lateness([]);
  for (let instant = 0; instant < INSTANTS; instant += 1) {
    await randomPause();
    late = addLateness(late, await client.ask('lateness', undefined));
  }
  return { usage, panelUsage, framesPerSecond: usage.framesPerSecond, lateness: late, scrapesMs: [] };
}
