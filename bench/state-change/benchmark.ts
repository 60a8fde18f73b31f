// The benchmark `state-change`: the time from a new state to the first scrape that shows it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortId } from '../../src/domain/server-ids.ts';
import { configText } from '../fleet/config-text.ts';
import type { ExporterProgram } from '../fleet/exporter.ts';
import { allStreaming, getExposition, keepScraping, randomPause } from '../fleet/exposition.ts';
import type { PanelProgram } from '../fleet/simulated-panel.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { medianAndSpread } from '../report/table.ts';
import { BANDS_MS, oldestHiddenMs, type Seen, shownByBand } from './visibility.ts';

const FLEETS = [1_000, 10_000];
const DEFAULT_RUNS = 3;
const TARGET_MS = 100;

const SCRAPES = 40;

/**
 * Changes before each scrape: this many starts and as many crashes, at random instants within this
 * time.
 */
const CHANGES = { each: 25, overMs: 200 };

/**
 * The number of scrapers: one that checks the states, or another one as well that scrapes
 * continuously.
 */
type Scrapers = 1 | 2;

/** Matches the current state of a server in the exposition. */
const STATE = /^gameserver_state\{[^}]*server_id="([^"]+)",state="([^"]+)"\} 1$/gm;

interface Row {
  readonly servers: number;
  readonly scrapers: Scrapers;
  readonly runs: readonly (readonly Seen[])[];
}

export const stateChange: Benchmark = {
  name: 'state-change',
  title: 'from the frame with a new state to the first scrape that shows it',
  run: async ({ servers, runs = DEFAULT_RUNS, progress }) => {
    const rows: Row[] = [];
    for (const fleet of servers === undefined ? FLEETS : [servers]) {
      rows.push(...(await runFleet(fleet, runs, progress)));
    }
    return {
      method: `The simulated panel and the exporter run in separate processes; every server sends one stats frame per second. Before each of ${SCRAPES} scrapes
per run, up to ${CHANGES.each} servers are started and ${CHANGES.each} crashed, at random instants within ${CHANGES.overMs} ms; the scrape, with gzip, is requested when the last of those
frames is written. A change's age is the time from writing its frame to requesting the scrape. "Shown" is the share of the changes of that age in ms
whose new state is in the response; the target limits "oldest not shown". With two scrapers, the other one scrapes without a pause, so that every
scrape begins while another is in progress. Medians, with the minimum and maximum of ${runs} runs.`,
      tables: [
        {
          header: ['servers', 'scrapers', 'changes', 'oldest not shown ms', ...bandNames()],
          rows: rows.map(({ servers: fleet, scrapers, runs: all }) => [
            String(fleet),
            String(scrapers),
            String(all.flat().length),
            medianAndSpread(all.map(oldestHiddenMs), 0),
            ...BANDS_MS.map((_, band) =>
              medianAndSpread(
                all.map((seen) => shownByBand(seen)[band] ?? Number.NaN),
                1,
              ),
            ),
          ]),
        },
      ],
      targets: rows.map(({ servers: fleet, scrapers, runs: all }) => ({
        what: `${fleet} servers, scrapers: ${scrapers}: age of the oldest change not shown by a scrape, in all runs`,
        bound: { kind: 'at most', value: TARGET_MS },
        unit: 'ms',
        measured: oldestHiddenMs(all.flat()),
      })),
    };
  },
};

function bandNames(): readonly string[] {
  return BANDS_MS.map((upTo, band) => {
    const from = BANDS_MS[band - 1] ?? 0;
    return upTo === Infinity ? `≥ ${from} ms, shown %` : `${from}–${upTo} ms`;
  });
}

async function runFleet(
  servers: number,
  runs: number,
  progress: (what: string) => void,
): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'state-change-'));
  const panel = new ProgramProcess<PanelProgram>('simulated-panel', { servers });
  try {
    await panel.start();
    const configFile = join(folder, 'config.yaml');
    const address = await panel.ask('address', undefined);
    await writeFile(configFile, configText(address, { ofPanel: ['requests_per_minute: 60000'] }));
    const alone: (readonly Seen[])[] = [];
    const withAnother: (readonly Seen[])[] = [];
    for (let run = 1; run <= runs; run += 1) {
      progress(`${servers} servers, run ${run} of ${runs}`);
      alone.push(await runOnce(panel, { servers, scrapers: 1 }, configFile));
      withAnother.push(await runOnce(panel, { servers, scrapers: 2 }, configFile));
    }
    return [
      { servers, scrapers: 1, runs: alone },
      { servers, scrapers: 2, runs: withAnother },
    ];
  } finally {
    await panel.stop();
    await rm(folder, { recursive: true });
  }
}

async function runOnce(
  panel: ProgramProcess<PanelProgram>,
  { servers, scrapers }: Pick<Row, 'servers' | 'scrapers'>,
  configFile: string,
): Promise<readonly Seen[]> {
  const end = new AbortController();
  const exporter = await new ProgramProcess<ExporterProgram>('exporter', { configFile }).start();
  try {
    const url = await exporter.ask('url', undefined);
    await allStreaming(url, servers);
    const otherScraper = scrapers === 2 ? keepScraping(url, end.signal) : undefined;
    // Thrown below, where it can't hide an error of this scraper or of the panel.
    otherScraper?.catch(() => undefined);
    const seen: Seen[] = [];
    for (let scrape = 0; scrape < SCRAPES; scrape += 1) {
      await randomPause();
      const changes = await panel.ask('changeStates', CHANGES);
      const { text, askedUnixMs } = await getExposition(url);
      const states = new Map([...text.matchAll(STATE)].map(([, id, state]) => [id, state]));
      for (const { uuid, state, sentUnixMs } of changes) {
        seen.push({ ageMs: askedUnixMs - sentUnixMs, shown: states.get(shortId({ id: uuid })) === state });
      }
    }
    end.abort();
    await otherScraper;
    return seen;
  } finally {
    await exporter.stop();
    await panel.ask('drained', undefined);
  }
}
