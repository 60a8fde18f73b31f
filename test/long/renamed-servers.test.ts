import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { ApiEndpoint } from '../../src/domain/telemetry.ts';
import { Scraper } from '../../src/metrics/scrape.ts';
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import { Gateway } from '../../src/panel/gateway.ts';
import type { Responses } from '../../src/panel/responses.ts';
import { apiOptions } from '../integration/panel/panel-api.ts';
import { FakeCalls, type Outcome } from '../support/fake-calls.ts';
import { FleetBench } from '../support/fleet-bench.ts';
import { listed } from '../support/listed.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const INTERVAL_MS = 15_000;
const SERVERS = 50;
const DISCOVER = { include: {}, exclude: {}, expect: [], labels: [], mode: 'auto', maxServers: 200 } as const;

/** The panel's reaction to calls for a server, by the server's number. */
const OUTCOMES: readonly Outcome[] = [
  'success',
  { own: 'suspended', status: 409 },
  { own: 'node_unreachable', status: 504 },
];

/** A panel with other servers in each server list. Their names and nodes were never used before. */
class RenamingPanel extends FakeCalls {
  renamed = 0;

  protected override valueOf<Endpoint extends ApiEndpoint>(
    endpoint: Endpoint,
    server: string,
  ): Responses[Endpoint] {
    const value = super.valueOf(endpoint, server);
    if (endpoint !== 'listing') return value;
    const servers = Array.from({ length: SERVERS }, (_, n) => this.#listed(this.renamed + n));
    this.renamed += SERVERS;
    return Object.assign(value, { servers });
  }

  #listed(n: number) {
    return listed(n, {
      name: `server ${n}`.padEnd(200, 'x'),
      node: `node ${n % 7} of ${n}`.padEnd(200, 'x'),
    });
  }
}

it('10,000 servers that are replaced by others leave memory and series where they were', async () => {
  const bench = new FleetBench();
  const { clock, log } = bench;
  const panel = new RenamingPanel(clock);
  panel.rate = { limitPerMinute: 6_000, remaining: 6_000 };
  panel.decide = (endpoint, server) =>
    endpoint === 'listing'
      ? 'success'
      : (OUTCOMES[Number.parseInt(server, 16) % OUTCOMES.length] ?? 'success');
  const gateway = new Gateway(
    { ...apiOptions('https://panel.example.com', { clock }), log, panel: 'main' },
    panel,
  );
  const fleet = bench.create(
    [],
    { listing: { type: 'owner', intervalMs: INTERVAL_MS, discover: DISCOVER } },
    { gateway },
  );
  const reading = { panels: () => [fleet.reading()], servers: () => fleet.records };
  const self = new SelfMetrics({ version: '1', revision: 'a', fleet: reading });
  const scraper = new Scraper({ fleet: reading, self, clock });
  const series = async () => {
    const text = Buffer.concat((await scraper.scrape('identity')).chunks).toString();
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  };
  const used = () => {
    // Without the records of the fakes.
    panel.calls.length = 0;
    log.lines.length = 0;
    bench.sockets.length = 0;
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const until = async (renamed: number) => {
    while (panel.renamed < renamed) await clock.advance(INTERVAL_MS);
  };
  fleet.start();
  await until(2_000);
  const [seriesBefore, usedBefore] = [await series(), used()];
  await until(10_000);
  expect(await series()).toBeLessThan(seriesBefore * 1.2);
  expect(used() - usedBefore).toBeLessThan(2_000_000);
  await fleet.stop();
});
