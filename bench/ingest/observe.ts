import { setTimeout as delay } from 'node:timers/promises';
import type { ExporterProgram } from '../fleet/exporter.ts';
import { allStreaming, randomPause } from '../fleet/exposition.ts';
import type { ProcessUsage } from '../fleet/process-usage.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { BareClientProgram } from './bare-client.ts';
import { addLateness, type Lateness, lateness } from './lateness.ts';
import { scrapeExporter } from './scraped.ts';

/** What came of one client's run. */
export interface Observation {
  readonly usage: ProcessUsage;
  readonly panelUsage: ProcessUsage;
  readonly framesPerSecond: number;
  readonly lateness: Lateness;
  /** Milliseconds that scrapes took while frames came in; of the exporter only. */
  readonly scrapesMs: readonly number[];
}

export interface Observed {
  readonly panel: ProgramProcess<PanelProgram>;
  readonly servers: number;
  readonly seconds: number;
}

/** After the last socket streams: time for the garbage of connecting to go and for the hot code to be compiled. */
const SETTLE_MS = 5_000;

/** Random instants at which samples' ages are looked at. */
const INSTANTS = 20;

/** Runs the exporter until all servers stream, watches it unscraped, then scrapes it at random instants. */
export async function observeExporter(
  { panel, servers, seconds }: Observed,
  configFile: string,
  profile?: string,
): Promise<Observation> {
  const exporter = await new ProgramProcess<ExporterProgram>('exporter', { configFile }).start();
  try {
    const url = await exporter.ask('url', undefined);
    await allStreaming(url, servers);
    await delay(SETTLE_MS);
    const before = await scrapeExporter(url, servers);
    const [usage, panelUsage] = await Promise.all([
      exporter.ask('watch', { seconds, ...(profile !== undefined && { profile }) }),
      panel.ask('watch', { seconds }),
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
  } finally {
    await exporter.stop();
    await panel.ask('drained', undefined);
  }
}

/** Runs the bare client in the same way. */
export async function observeBareClient(
  { panel, seconds }: Observed,
  addressFile: string,
): Promise<Observation> {
  const client = await new ProgramProcess<BareClientProgram>('bare-client', { addressFile }).start();
  try {
    await client.ask('streaming', undefined);
    await delay(SETTLE_MS);
    const [usage, panelUsage] = await Promise.all([
      client.ask('watch', { seconds }),
      panel.ask('watch', { seconds }),
    ]);
    let late = lateness([]);
    for (let instant = 0; instant < INSTANTS; instant += 1) {
      await randomPause();
      late = addLateness(late, await client.ask('lateness', undefined));
    }
    return { usage, panelUsage, framesPerSecond: usage.framesPerSecond, lateness: late, scrapesMs: [] };
  } finally {
    await client.stop();
    await panel.ask('drained', undefined);
  }
}
