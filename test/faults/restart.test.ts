import { expect, it } from 'vitest';
import { seededRandom } from '../../src/simulator/random.ts';
import { expectWithinBudget } from '../support/call-budget.ts';
import { startScene } from '../support/fault-scene.ts';
import { ELSEWHERE } from '../support/fault-stage.ts';
import type { Scraped } from '../support/scrape-watch.ts';

const SERVERS = 200;

/** The exporter uses four fifths of it. */
const LIMIT_PER_MINUTE = 240;
const BUDGET_PER_MINUTE = LIMIT_PER_MINUTE * 0.8;

/** Calls in flight, which the panel may receive later than they were counted. */
const IN_FLIGHT = 8;

/** How long the panel is down. */
const OUTAGE_MS = 20_000;

/** Canaries that may be under way when the panel is back. */
const MAX_CANARIES = 2;

/** The longest back-off of a server whose random delays were all short, plus the time to request all tokens. */
const RECOVERY_MS = 5 * 60_000 + (SERVERS / BUDGET_PER_MINUTE) * 60_000;

/** A tenth of a token's life. */
const EARLIEST_REFRESH_MS = 60_000;

const streaming = (scraped: Scraped) =>
  scraped.value('gameserver_exporter_sockets', { panel: 'main', state: 'streaming' });

it('after a restart of the panel that closes all sockets, each server requests one new token', async () => {
  const servers = Array.from({ length: SERVERS }, (_, index) => ({ name: `server-${index}` }));
  const scene = await startScene({
    panel: { servers, rateLimitPerMinute: LIMIT_PER_MINUTE, statsIntervalMs: 5_000 },
    random: seededRandom(3),
  });
  const { watch, panel, clock } = scene;
  try {
    await watch.until((scraped) => expect(streaming(scraped)).toBe(SERVERS), RECOVERY_MS);
    watch.observe([ELSEWHERE]);
    const before = panel.record.calls.length;

    await panel.stopListening();
    await watch.until((scraped) => expect(streaming(scraped)).toBe(0), 60_000);
    const until = clock.now() + OUTAGE_MS;
    await watch.until(() => expect(clock.now()).toBeGreaterThan(until), 2 * OUTAGE_MS);
    await panel.startListening();
    const backAt = clock.now();
    const tookMs = await watch.until((scraped) => expect(streaming(scraped)).toBe(SERVERS), RECOVERY_MS);

    expect(tookMs).toBeLessThanOrEqual(RECOVERY_MS);
    const calls = panel.record.calls.slice(before).filter(({ at }) => at >= backAt);
    const tokens = calls.filter(({ endpoint }) => endpoint === 'websocket');
    let repeated = 0;
    for (const { uuid, name } of panel.servers) {
      const [first, second] = tokens.filter(({ server }) => server === uuid);
      expect(first, `the token of ${name}`).toBeDefined();
      if (second !== undefined && second.at - (first?.at ?? 0) < EARLIEST_REFRESH_MS) repeated += 1;
    }
    // A token that a canary gets is thrown away; another is due when its server's refresh is.
    expect(repeated).toBeLessThanOrEqual(MAX_CANARIES);
    expectWithinBudget(scene, BUDGET_PER_MINUTE + IN_FLIGHT);
    expect(watch.oldest[ELSEWHERE]).toBeLessThanOrEqual(2_000);
    for (const { uuid } of panel.servers) expect(panel.record.sockets(uuid).maxOpen).toBe(1);
  } finally {
    await scene.end();
  }
});
