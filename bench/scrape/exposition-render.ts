// Measures the exporter's rendering of `/metrics`.

import type { Encoding } from '../../src/metrics/rendered-body.ts';
import { Scraper } from '../../src/metrics/scrape.ts';
import { BenchmarkFleet } from './fleet.ts';
import { measureRenders } from './render-measurement.ts';

export type ExpositionRenderProgram = Awaited<ReturnType<typeof start>>;

/**
 * Renders metrics of servers and panels only, because the exporter's self-metrics are rendered by
 * prom-client, too.
 */
export async function start({ servers }: { readonly servers: number }) {
  const fleet = new BenchmarkFleet(servers);
  const self = { metrics: async () => '', scraped: () => undefined };
  const scraper = new Scraper({ fleet, self, clock: fleet.clock });
  return {
    measure: ({ seconds, encoding }: { readonly seconds: number; readonly encoding: Encoding }) =>
      measureRenders({ update: () => fleet.tick(), render: () => scraper.scrape(encoding) }, seconds),
  };
}
