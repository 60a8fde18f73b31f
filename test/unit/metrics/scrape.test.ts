import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { FleetReading } from '../../../src/domain/reading.ts';
import { Scraper } from '../../../src/metrics/exposition.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
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

const ENCODINGS = ['identity', 'gzip'] as const;

test.each(ENCODINGS)(
  '%s: simultaneous scrapes share one render, and a later one gets its own',
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

/** A scraper whose renders end when the test lets them. */
function gated() {
  const clock = new ManualClock();
  const { fleet, renders } = counted();
  const waiting: Deferred<string>[] = [];
  const metrics = () => {
    const gate = deferred<string>();
    waiting.push(gate);
    return gate.promise;
  };
  const scraper = new Scraper({ fleet, self: { ...noSelf, metrics }, clock });
  return { clock, renders, waiting, scraper };
}

describe.each(ENCODINGS)('%s: a slow render', (encoding) => {
  test('is shared with scrapes that begin within 50 ms', async () => {
    const { clock, renders, waiting, scraper } = gated();
    const first = scraper.scrape(encoding);
    await eventually(() => expect(waiting).toHaveLength(1));
    await clock.advance(50);
    const second = scraper.scrape(encoding);
    waiting[0]?.resolve('# nothing\n');
    expect(await second).toBe(await first);
    expect(renders()).toBe(1);
  });

  test('is followed by one render for all later scrapes, and never runs beside it', async () => {
    const { clock, renders, waiting, scraper } = gated();
    const first = scraper.scrape(encoding);
    await eventually(() => expect(waiting).toHaveLength(1));
    await clock.advance(51);
    const second = scraper.scrape(encoding);
    await clock.advance(10_000);
    const third = scraper.scrape(encoding);
    expect(renders()).toBe(1);
    waiting[0]?.resolve('# nothing\n');
    await first;
    await eventually(() => expect(waiting).toHaveLength(2));
    expect(renders()).toBe(2);
    const fourth = scraper.scrape(encoding);
    waiting[1]?.resolve('# nothing\n');
    expect(await second).not.toBe(await first);
    expect(await third).toBe(await second);
    expect(await fourth).toBe(await second);
    expect(renders()).toBe(2);
  });

  test('that fails does not affect later ones', async () => {
    const { clock, waiting, scraper } = gated();
    const first = scraper.scrape(encoding).catch((error: Error) => error.message);
    await eventually(() => expect(waiting).toHaveLength(1));
    await clock.advance(51);
    const second = scraper.scrape(encoding);
    waiting[0]?.reject(new Error('broken'));
    expect(await first).toBe('broken');
    await eventually(() => expect(waiting).toHaveLength(2));
    waiting[1]?.resolve('# nothing\n');
    expect((await second).bytes).toBeGreaterThan(0);
  });
});

test('the compressed and the plain exposition are the same, however long', async () => {
  const scraper = new Scraper({ fleet: largeFleet(2_000), self: noSelf, clock: new ManualClock() });
  const [plain, compressed] = await Promise.all([scraper.scrape('identity'), scraper.scrape('gzip')]);
  const text = Buffer.concat(plain.chunks);
  expect(text.length).toBeGreaterThan(2_000_000);
  expect(gunzipSync(Buffer.concat(compressed.chunks)).equals(text)).toBe(true);
  expect(compressed.bytes).toBe(Buffer.concat(compressed.chunks).length);
});

test.each(ENCODINGS)('%s: a failed render is not shared with the next scrape', async (encoding) => {
  const { fleet } = counted();
  let fail = true;
  const metrics = () => (fail ? Promise.reject(new Error('broken')) : noSelf.metrics());
  const scraper = new Scraper({ fleet, self: { ...noSelf, metrics }, clock: new ManualClock() });
  await expect(scraper.scrape(encoding)).rejects.toThrow('broken');
  fail = false;
  expect((await scraper.scrape(encoding)).bytes).toBeGreaterThan(0);
});

test('the self-metrics follow after an empty line', async () => {
  const { fleet } = counted();
  const scrape = await new Scraper({ fleet, self: noSelf, clock: new ManualClock() }).scrape('identity');
  const text = Buffer.concat(scrape.chunks);
  expect(text.toString()).toMatch(/# TYPE gameserver_node_maintenance gauge\n\n# self\n$/);
  expect(scrape.bytes).toBe(text.length);
});
