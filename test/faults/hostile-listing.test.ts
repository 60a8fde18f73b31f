// A hostile panel with an endless server list, beside a good panel.
import { afterEach, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { hostilePanel, startListingPanel } from '../support/hostile-listing.ts';
import { endPrograms, serveProgram } from '../support/program.ts';

const GOOD_SERVERS = 20;
const MAX_ADDED_BYTES = 250 * 1_048_576;
const MAX_ADDED_LINES = 20;

/**
 * The duration of the watch, without the hostile panel and after its server list, in seconds of
 * samples.
 */
const WATCH_SECONDS = 6;

let good: Simulator | undefined;

afterEach(async () => {
  await endPrograms();
  await good?.stop();
});

const uuidOf = (n: number) => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** A page with a hundred suspended servers, of five hundred pages. */
function pageOf(page: number): string {
  const data = Array.from({ length: 100 }, (_, index) => {
    const uuid = uuidOf((page - 1) * 100 + index);
    return {
      attributes: { uuid, name: 'one of fifty thousand', node: 'somewhere', is_suspended: true },
    };
  });
  return JSON.stringify({ data, meta: { pagination: { total_pages: 500 } } });
}

/**
 * The values of the series with this name whose labels start with this prefix. A complete parser
 * would be too slow for these scrapes.
 */
function numbersIn(scraped: string, name: string, labels: string): readonly number[] {
  const series = new RegExp(`^${name}${labels === '' ? '' : `\\{${labels}[^}]*\\}`} (\\S+)$`, 'gm');
  return [...scraped.matchAll(series)].map(([, value]) => Number(value));
}

/**
 * Runs the built program with these panels, and scrapes it continuously until the end of the
 * attack.
 */
async function watched(panels: readonly string[], isEnd: (scraped: string) => boolean) {
  const { process, url, until } = await serveProgram({ yaml: ['panels:', ...panels].join('\n') });
  const all = Array.from({ length: GOOD_SERVERS }, () => 1);
  await until('gameserver_collection_streaming', { panel: 'good' }, all);
  let mostBytes = 0;
  const scrape = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    mostBytes = Math.max(mostBytes, ...numbersIn(text, 'process_resident_memory_bytes', ''));
    return text;
  };
  await eventually(async () => expect(isEnd(await scrape())).toBe(true));
  const sampledAt = async () =>
    Math.min(...numbersIn(await scrape(), 'gameserver_last_sample_timestamp_seconds', 'panel="good"'));
  const from = await sampledAt();
  await eventually(async () => expect(await sampledAt()).toBeGreaterThan(from + WATCH_SECONDS));
  const scraped = await scrape();
  for (const name of ['gameserver_collection_streaming', 'gameserver_collection_up'])
    expect(numbersIn(scraped, name, 'panel="good"')).toEqual(all);
  const lines = process.stderr.split('\n').length;
  await endPrograms();
  return { scraped, mostBytes, lines };
}

it("50,000 servers on 500 pages add no more than max_servers, and don't affect another panel", async () => {
  good = await startSimulator({ servers: GOOD_SERVERS });
  const goodPanel = `  - { name: good, url: '${good.url}', api_key: ${good.apiKey}, discover: true }`;
  const alone = await watched([goodPanel], () => true);
  const labels = 'panel="hostile"';
  const discovered = (text: string) => numbersIn(text, 'gameserver_exporter_discovered_servers', labels);
  const hostile = hostilePanel(await startListingPanel(pageOf), 15_000);
  const attacked = await watched([goodPanel, hostile], (text) => discovered(text)[0] !== 0);
  expect(discovered(attacked.scraped)).toEqual([15_000]);
  const leftOut = numbersIn(attacked.scraped, 'gameserver_exporter_discovery_left_out_servers', labels);
  expect(leftOut).toEqual([35_000]);
  expect(attacked.mostBytes - alone.mostBytes).toBeLessThan(MAX_ADDED_BYTES);
  expect(attacked.lines - alone.lines).toBeLessThanOrEqual(MAX_ADDED_LINES);
});
