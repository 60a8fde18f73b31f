import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  ATTACK_MS,
  endAfterEach,
  expectBounds,
  goodAlone,
  goodPanel,
  hostilePanel,
  hugePage,
  numbersIn,
  startGoodPanel,
  startListingPanel,
  Watched,
  yamlOf,
} from '../support/hostile-listing.ts';

/** The longest time for a scrape during one page; machines are shared, so a few may take longer. */
const SCRAPE_MS = 1_000;
const MAX_SCRAPE_MS = 5_000;

endAfterEach();

it("one page of 4 MB with 50,000 servers doesn't affect another panel", async () => {
  const good = await startGoodPanel();
  const alone = await goodAlone(good);
  const hostile = await startListingPanel(hugePage());
  const yaml = (maxServers: number) => yamlOf(goodPanel(good), hostilePanel(hostile.url, maxServers));
  const watched = await Watched.start(yaml(15_000));
  await watched.watch(ATTACK_MS);
  // A change of this setting makes the exporter read the server list again at once.
  for (const maxServers of [14_999, 14_998]) {
    const before = hostile.listed();
    await watched.reload(yaml(maxServers));
    await eventually(() => expect(hostile.listed()).toBeGreaterThan(before));
    await watched.watch(ATTACK_MS / 4);
  }
  const scraped = await watched.scrape();
  const labels = 'panel="hostile"';
  expect(numbersIn(scraped, 'gameserver_exporter_discovered_servers', labels)).toEqual([100]);
  expect(numbersIn(scraped, 'gameserver_exporter_discovery_left_out_servers', labels)).toEqual([49_900]);
  expect(numbersIn(scraped, 'gameserver_panel_problem', `${labels},cause="listing_too_long"`)).toEqual([1]);
  for (const text of [await watched.page(), await watched.json()]) expect(text).toContain('49900');
  expect(watched.lines.join('\n')).toContain('50000 entries');
  await expectBounds(watched, alone);
  const { durationsMs } = watched;
  expect(durationsMs[Math.floor(durationsMs.length * 0.9)]).toBeLessThan(SCRAPE_MS);
  expect(durationsMs.at(-1)).toBeLessThan(MAX_SCRAPE_MS);
});
