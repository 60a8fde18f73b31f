import { expect, it } from 'vitest';
import { missed } from '../../bench/fairness/benchmark.ts';
import { simulate } from '../../bench/fairness/simulation.ts';
import { expectWithinBudget } from '../support/call-budget.ts';
import { warmUp } from '../support/fault-row.ts';
import { type Scene, startScene } from '../support/fault-scene.ts';
import type { Scraped } from '../support/scrape-watch.ts';
import { FAIRNESS_ROWS, type FairnessRow, LARGE_SCENARIOS } from './rows/fairness.ts';

const MINUTE_MS = 60_000;

const LISTING_INTERVAL_MS = MINUTE_MS;
const MAX_LISTING_INTERVALS = 2;

const MIN_FRESH = 0.99;
const MAX_WASTED = 0.15;

/** The exporter uses four fifths of the panel's limit. */
const PART_OF_LIMIT = 0.8;

/** Calls in flight, which the panel may receive later than they were counted. */
const LATE_CALLS = 8;

/** The largest simulated fleet takes a minute of CPU time. */
const TIMEOUT_MS = 300_000;

const EXTRA = 'extra';

const upOf = (scraped: Scraped, server: string) => scraped.value('gameserver_collection_up', { server });

/** Passes every scrape during these milliseconds to a function. */
async function eachScrape(
  { watch, clock }: Scene,
  forMs: number,
  see: (scraped: Scraped) => void,
): Promise<void> {
  const until = clock.now() + forMs;
  // A single wait is at most a minute, because it has a limit in real time too.
  while (clock.now() < until) {
    const next = clock.now() + Math.min(MINUTE_MS, until - clock.now());
    await watch.until((scraped) => {
      see(scraped);
      expect(clock.now()).toBeGreaterThanOrEqual(next);
    }, 2 * MINUTE_MS);
  }
}

/** What was scraped in the measured minutes. */
interface Measured {
  /** The share of healthy servers that were fresh, over all scrapes, and the same of the worst server. */
  readonly fresh: number;
  readonly worstFresh: number;
  /** The greatest age of the server list. */
  readonly listingMs: number;
  /** The share of the budget spent on calls that couldn't succeed. */
  readonly wasted: number;
}

async function measure({ healthy, limit, isFutile, minutes }: FairnessRow, scene: Scene): Promise<Measured> {
  const { clock, panel } = scene;
  const fresh = new Map(healthy.map((server) => [server, 0]));
  let scrapes = 0;
  let listingMs = 0;
  const from = clock.now();
  await eachScrape(scene, minutes * MINUTE_MS, (scraped) => {
    scrapes += 1;
    for (const { labels, value } of scraped.series('gameserver_collection_up', { panel: 'main' })) {
      const before = fresh.get(labels['server'] ?? '');
      if (before !== undefined) fresh.set(labels['server'] ?? '', before + value);
    }
    const listedAt =
      scraped.value('gameserver_exporter_discovery_last_success_timestamp_seconds', { panel: 'main' }) ?? 0;
    listingMs = Math.max(listingMs, clock.toUnixMs(clock.now()) - listedAt * 1_000);
  });
  const names = new Map(panel.servers.map(({ uuid, name }) => [uuid, name]));
  const futile = panel.record.calls.filter(({ at, endpoint, server = '' }) => {
    const asksServer = endpoint === 'websocket' || endpoint === 'resources';
    return at >= from && asksServer && isFutile(names.get(server) ?? '', endpoint);
  });
  const budget = (limit * PART_OF_LIMIT * (clock.now() - from)) / MINUTE_MS;
  const counts = [...fresh.values()];
  return {
    fresh: counts.reduce((sum, count) => sum + count, 0) / (counts.length * scrapes),
    worstFresh: Math.min(...counts) / scrapes,
    listingMs,
    wasted: futile.length / budget,
  };
}

async function expectFound({ panel, watch }: Scene): Promise<void> {
  panel.addServer({ name: EXTRA });
  const withinMs = MAX_LISTING_INTERVALS * LISTING_INTERVAL_MS;
  const tookMs = await watch.until((scraped) => expect(upOf(scraped, EXTRA)).toBeDefined(), withinMs);
  expect(tookMs, 'how long it took to find a new server').toBeLessThanOrEqual(withinMs);
}

it.each(FAIRNESS_ROWS.map((row) => [row.name, row] as const))(
  'with %s, the other servers are fresh and a new server is found',
  async (_name, row) => {
    await warmUp();
    const scene = await startScene(row.scene, row.before);
    try {
      await eachScrape(scene, row.settleMinutes * MINUTE_MS, () => undefined);
      const measured = await measure(row, scene);
      const said = JSON.stringify(measured);
      expect(measured.fresh, said).toBeGreaterThanOrEqual(MIN_FRESH);
      expect(measured.worstFresh, said).toBeGreaterThanOrEqual(MIN_FRESH);
      expect(measured.wasted, said).toBeLessThanOrEqual(MAX_WASTED);
      expect(measured.listingMs, said).toBeLessThanOrEqual(MAX_LISTING_INTERVALS * LISTING_INTERVAL_MS);
      await expectFound(scene);
      expectWithinBudget(scene, row.limit * PART_OF_LIMIT + LATE_CALLS);
    } finally {
      await scene.end();
    }
  },
  TIMEOUT_MS,
);

it.each(LARGE_SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  'every limit holds for %s',
  async (_name, scenario) => {
    const outcome = await simulate(scenario);
    const said = JSON.stringify(outcome);
    expect(missed(scenario, outcome), said).toEqual([]);
    expect(outcome.allSampledAfterS, said).toBeLessThan(Number.POSITIVE_INFINITY);
    // The backups of a server that is refused or suspended can't be read.
    const works = scenario.groups.every(({ trouble }) => trouble === 'none');
    if (works && outcome.backupsKnown !== undefined) expect(outcome.backupsKnown, said).toBe(1);
  },
  TIMEOUT_MS,
);
