import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { startScene } from '../support/fault-scene.ts';
import { ELSEWHERE, NEIGHBORS, TARGET, TARGET_UUID } from '../support/fault-stage.ts';
import type { Scraped } from '../support/scrape-watch.ts';

/** Lines that one server prints per second. */
const LINES = 100_000;

/** Less than what a node keeps for a slow reader. */
const LINES_AT_ONCE = 2_000;

const LINE = JSON.stringify({
  event: 'console output',
  args: ['\u001b[31m[12:00:00 INFO]: §aflood\u001b[0m'],
});

const SERVERS = [TARGET, ...NEIGHBORS, ELSEWHERE];

const linesOf = (scraped: Scraped, server: string) =>
  scraped.value('gameserver_console_lines_total', { server }) ?? 0;

/** Makes the target server print as fast as its lines can be sent. */
async function pour(panel: Simulator, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (let sent = 0; sent < LINES_AT_ONCE; sent += 1) {
      panel.sockets({ kind: 'raw', server: TARGET_UUID, text: LINE });
    }
    await turn();
  }
}

it('100,000 console lines per second are all counted, and the samples of all servers continue', async () => {
  const scene = await startScene({});
  const { watch, panel, time } = scene;
  try {
    await watch.until((scraped) => {
      for (const server of SERVERS) {
        expect(scraped.value('gameserver_collection_up', { server }), server).toBe(1);
        expect(scraped.value('gameserver_collection_streaming', { server }), server).toBe(1);
      }
    }, 60_000);
    // Seconds are real from here on: ten milliseconds wouldn't be a flood.
    time.speed = 1;
    watch.observe(SERVERS);
    const flood = new AbortController();
    const poured = pour(panel, flood.signal);
    await watch.until((scraped) => expect(linesOf(scraped, TARGET)).toBeGreaterThanOrEqual(LINES), 30_000);
    flood.abort();
    await poured;
    for (const [server, oldestMs] of Object.entries(watch.oldest)) {
      expect(oldestMs, server).toBeLessThanOrEqual(2_000);
    }
    for (const { name, uuid } of panel.servers) expect(panel.record.sockets(uuid).opened, name).toBe(1);
  } finally {
    time.speed = 60;
    await scene.end();
  }
});
