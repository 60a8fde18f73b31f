import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { encodeChunks, renderFleet } from './exposition.ts';
import type { SelfMetrics } from './self.ts';
import { type Encoding, type RenderedBody, renderBody, SharedBody } from './shared-body.ts';

interface ScraperOptions {
  readonly fleet: FleetReading;
  readonly self: Pick<SelfMetrics, 'metrics'>;
  readonly clock: Clock;
  /** Whether to add the families of pterodactyl_exporter. Called at every render; defaults to no. */
  readonly withCompatibility?: () => boolean;
}

/** Renders the fleet's and the exporter's own metrics. */
export class Scraper {
  readonly #options: ScraperOptions;
  readonly #shared: SharedBody;

  constructor(options: ScraperOptions) {
    this.#options = options;
    this.#shared = new SharedBody(options.clock, (encoding) => renderBody(this.#pieces(), encoding));
  }

  /** The current exposition, or one whose render began at most 50 ms ago. */
  scrape(encoding: Encoding): Promise<RenderedBody> {
    return this.#shared.get(encoding);
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    const { fleet, self, clock, withCompatibility } = this.#options;
    yield* encodeChunks(renderFleet(fleet, clock, withCompatibility?.() === true));
    yield Buffer.from(`\n${await self.metrics()}`);
  }
}
