import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { ApiEndpoint } from '../../src/domain/telemetry.ts';
import { PanelFleet } from '../../src/fleet/panel-fleet.ts';
import { Supervisor } from '../../src/fleet/supervisor.ts';
import { Scraper } from '../../src/metrics/exposition.ts';
import { SelfMetrics } from '../../src/metrics/self.ts';
import type { Responses } from '../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../src/panel/dialects/pterodactyl.ts';
import { Gateway } from '../../src/panel/gateway.ts';
import type { ConsoleSocket } from '../../src/session/socket.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { FakeCalls, type Outcome } from '../support/fake-calls.ts';
import { FakeSocket, NO_TELEMETRY, SETTINGS } from '../support/fleet-bench.ts';
import { listed } from '../support/listed.ts';
import { collectingLogger } from '../support/logger.ts';
import { QueuedClock } from '../support/queued-clock.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const INTERVAL_MS = 15_000;
const SERVERS = 50;
const DISCOVER = { include: {}, exclude: {}, expect: [], labels: {}, mode: 'auto', maxServers: 200 } as const;

/** What the panel does with calls for a server, by its number. */
const OUTCOMES: readonly Outcome[] = [
  'success',
  { own: 'suspended', status: 409 },
  { own: 'node_unreachable', status: 504 },
];

/** A panel each of whose server lists has other servers, with names and on nodes that it never showed before. */
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
  const [clock, log] = [new QueuedClock(), collectingLogger()];
  const panel = new RenamingPanel(clock);
  panel.rate = { limitPerMinute: 6_000, remaining: 6_000 };
  panel.decide = (endpoint, server) =>
    endpoint === 'listing'
      ? 'success'
      : (OUTCOMES[Number.parseInt(server, 16) % OUTCOMES.length] ?? 'success');
  const gateway = new Gateway(
    {
      log,
      clock,
      panel: 'main',
      baseUrl: 'https://panel.example.com',
      apiKey: () => 'key',
      userAgent: 'test',
      telemetry: NO_TELEMETRY,
      requestTimeoutMs: 20_000,
      connectTimeoutMs: 10_000,
    },
    panel,
  );
  const fleet = new PanelFleet(
    SETTINGS,
    { servers: [], listing: { type: 'owner', intervalMs: INTERVAL_MS, discover: DISCOVER } },
    {
      clock,
      log,
      gateway,
      random: seededRandom(1),
      telemetry: NO_TELEMETRY,
      codec: PTERODACTYL.socket,
      // The class has private fields, so no other object has its type.
      openSocket: (url, listener) => new FakeSocket(url, listener) as unknown as ConsoleSocket,
      addressProblem: () => undefined,
      isProxied: () => false,
      isOurs: () => true,
    },
  );
  const supervisor = new Supervisor([fleet]);
  const self = new SelfMetrics({ version: '1', revision: 'a', fleet: supervisor });
  const scraper = new Scraper({ fleet: supervisor, self, clock });
  const series = async () => {
    const text = Buffer.concat((await scraper.scrape('identity')).chunks).toString();
    return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  };
  const used = () => {
    // What the fakes recorded.
    panel.calls.length = 0;
    log.lines.length = 0;
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const until = async (renamed: number) => {
    while (panel.renamed < renamed) await clock.advance(INTERVAL_MS);
  };
  supervisor.start();
  await until(2_000);
  const [seriesBefore, usedBefore] = [await series(), used()];
  await until(10_000);
  expect(await series()).toBeLessThan(seriesBefore * 1.2);
  expect(used() - usedBefore).toBeLessThan(2_000_000);
  await supervisor.stop();
}, 300_000);
