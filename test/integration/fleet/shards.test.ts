import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { configFor, type ExporterUnderTest } from '../../support/exporter.ts';
import { observed, simulated } from '../../support/stage.ts';

const TOTAL = 3;

/** The names of the servers that stream to this exporter. */
async function serversOf(exporter: ExporterUnderTest): Promise<string[]> {
  const text = await exporter.scrape();
  return [...text.matchAll(/^gameserver_collection_streaming\{.*server="([^"]+)".*\} 1$/gm)].map(
    ([, name]) => name ?? '',
  );
}

it('shards monitor each server exactly once, and divide the limit of their shared key', async () => {
  const panel = await simulated({ servers: 12, rateLimitPerMinute: 240 });
  const shards = await Promise.all(
    [0, 1, 2].map((index) => observed({ yaml: configFor(panel), shard: { index, total: TOTAL } })),
  );
  const names = panel.servers.map(({ name }) => name).toSorted();
  await eventually(async () =>
    expect((await Promise.all(shards.map(serversOf))).flat().toSorted()).toEqual(names),
  );
  for (const { uuid } of panel.servers) expect(panel.record.sockets(uuid).opened).toBe(1);
  const limits = await Promise.all(
    shards.map((shard) => shard.value('gameserver_exporter_allowed_calls_per_minute')),
  );
  // 80 % of 240 calls, divided among the shards with servers.
  for (const limit of limits) expect(limit).toBe(64);
  const ordinals = await Promise.all(shards.map((shard) => shard.value('gameserver_exporter_shard_ordinal')));
  expect(ordinals).toEqual([0, 1, 2]);
  expect(await shards[0]?.value('gameserver_exporter_total_shards')).toBe(TOTAL);
});

it("a shard without servers of a panel doesn't report that panel", async () => {
  const panel = await simulated({ servers: 1 });
  const shards = await Promise.all(
    [0, 1, 2].map((index) => observed({ yaml: configFor(panel), shard: { index, total: TOTAL } })),
  );
  const values = await Promise.all(shards.map((shard) => shard.value('gameserver_panel_up')));
  expect(values.filter((value) => value !== undefined)).toHaveLength(1);
});
