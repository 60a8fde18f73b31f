// The exporter's HTTP routes for tests.
import type { Clock } from '../../src/domain/clock.ts';
import type { FleetReading } from '../../src/domain/reading.ts';
import { createRoutes, type RouteDependencies } from '../../src/http/routes.ts';
import { Scraper } from '../../src/metrics/scrape.ts';
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import { StatusBoard } from '../../src/status-page/data/board.ts';

interface RouteOptions extends Partial<RouteDependencies> {
  readonly fleet: FleetReading;
  readonly clock: Clock;
}

/** All routes for this fleet. The board watches the fleet only after its start. */
export function exporterRoutes(options: RouteOptions) {
  const { fleet, clock } = options;
  const version = '1.2.3';
  const self = new SelfMetrics({ version, revision: 'abc', fleet });
  const scraper = new Scraper({ fleet, self, clock });
  const board = new StatusBoard({ fleet, clock, version, rateLimited: () => 0 });
  const routes = createRoutes({
    scrape: (encoding) => scraper.scrape(encoding),
    ready: () => true,
    version,
    board,
    ...options,
  });
  return { routes, board };
}
