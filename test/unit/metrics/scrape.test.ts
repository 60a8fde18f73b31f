import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { FleetReading } from '../../../src/domain/reading.ts';
import { Scraper } from '../../../src/metrics/scrape.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, largeFleet, streamingReading } from '../../support/readings.ts';

function counted(): { fleet: FleetReading; renders: () => number } {
  const inner = fleetReading([streamingReading()]);
  let renders = 0;
  const servers = () => {
    renders += 1;
    return inner.servers();
  };
  return { fleet: { ...inner, servers }, renders: () => renders };
}

const noSelf = { metrics: () => Promise.resolve('# self\n') };

test('the compressed and the plain exposition are the same, however long', async () => {
  const scraper = new Scraper({ fleet: largeFleet(2_000), self: noSelf, clock: new ManualClock() });
  const [plain, compressed] = await Promise.all([scraper.scrape('identity'), scraper.scrape('gzip')]);
  const text = Buffer.concat(plain.chunks);
  expect(text.length).toBeGreaterThan(2_000_000);
  expect(gunzipSync(Buffer.concat(compressed.chunks)).equals(text)).toBe(true);
  expect(compressed.bytes).toBe(Buffer.concat(compressed.chunks).length);
});

test('the self-metrics follow after an empty line', async () => {
  const { fleet } = counted();
  const scrape = await new Scraper({ fleet, self: noSelf, clock: new ManualClock() }).scrape('identity');
  const text = Buffer.concat(scrape.chunks);
  expect(text.toString()).toMatch(/# TYPE gameserver_node_maintenance gauge\n\n# self\n$/);
  expect(scrape.bytes).toBe(text.length);
});
