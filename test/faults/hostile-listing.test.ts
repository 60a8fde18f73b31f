import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  ATTACK_MS,
  endAfterEach,
  expectBounds,
  goodAlone,
  goodPanel,
  hostilePanel,
  manyPages,
  numbersIn,
  startGoodPanel,
  startListingPanel,
  WALK_MS,
  Watched,
  yamlOf,
} from '../support/hostile-listing.ts';

endAfterEach();

it("50,000 servers on 500 pages add no more than max_servers, and don't affect another panel", async () => {
  const good = await startGoodPanel();
  const alone = await goodAlone(good);
  const hostile = await startListingPanel(manyPages());
  const watched = await Watched.start(yamlOf(goodPanel(good), hostilePanel(hostile.url, 15_000)));
  const labels = 'panel="hostile"';
  for (const endsAt = performance.now() + WALK_MS; performance.now() < endsAt; await delay(100)) {
    const scraped = await watched.scrape();
    if (numbersIn(scraped, 'gameserver_exporter_discovered_servers', labels)[0] !== 0) break;
  }
  await watched.watch(ATTACK_MS / 2);
  const scraped = await watched.scrape();
  expect(numbersIn(scraped, 'gameserver_exporter_discovered_servers', labels)).toEqual([15_000]);
  expect(numbersIn(scraped, 'gameserver_exporter_discovery_left_out_servers', labels)).toEqual([35_000]);
  await expectBounds(watched, alone);
});
