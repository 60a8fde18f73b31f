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

const noSelf = { metrics: () => Promise.resolve('# nothing\n'), scraped: () => undefined };

const ENCODINGS = ['identity', 'gzip'] as const;

test.each(ENCODINGS)(
  '%s: scrapes that overlap share one render; a later one gets its own',
  async (encoding) => {
    const { fleet, renders } = counted();
    const scraper = new Scraper({ fleet, self: noSelf, clock: new ManualClock() });
    const [first, second] = await Promise.all([scraper.scrape(encoding), scraper.scrape(encoding)]);
    expect(second).toBe(first);
    expect(renders()).toBe(1);
    expect(await scraper.scrape(encoding)).not.toBe(first);
    expect(renders()).toBe(2);
  },
);

test('compressed and plain are the same exposition, however long', async () => {
  const scraper = new Scraper({ fleet: largeFleet(2_000), self: noSelf, clock: new ManualClock() });
  const [plain, compressed] = await Promise.all([scraper.scrape('identity'), scraper.scrape('gzip')]);
  const text = Buffer.concat(plain.chunks);
  expect(text.length).toBeGreaterThan(2_000_000);
  expect(gunzipSync(Buffer.concat(compressed.chunks)).equals(text)).toBe(true);
  expect(compressed.bytes).toBe(Buffer.concat(compressed.chunks).length);
});

test.each(ENCODINGS)('%s: a render that failed is not shared with the next scrape', async (encoding) => {
  const { fleet } = counted();
  let fail = true;
  const metrics = () => (fail ? Promise.reject(new Error('broken')) : noSelf.metrics());
  const scraper = new Scraper({ fleet, self: { ...noSelf, metrics }, clock: new ManualClock() });
  await expect(scraper.scrape(encoding)).rejects.toThrow('broken');
  fail = false;
  expect((await scraper.scrape(encoding)).bytes).toBeGreaterThan(0);
});

test('the self-metrics follow after an empty line, and are told how long the render took', async () => {
  const clock = new ManualClock();
  const seen: number[] = [];
  const self = {
    metrics: async () => {
      await clock.advance(250);
      return '# self\n';
    },
    scraped: (seconds: number) => void seen.push(seconds),
  };
  const scrape = await new Scraper({ fleet: counted().fleet, self, clock }).scrape('identity');
  const text = Buffer.concat(scrape.chunks);
  expect(text.toString()).toMatch(/gameserver_panel_up\{panel="main"\} 1\n\n# self\n$/);
  expect(scrape.bytes).toBe(text.length);
  expect(seen).toEqual([0.25]);
});
