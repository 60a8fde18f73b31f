import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { encodeChunks, renderFleet } from './exposition.ts';
import type { SelfMetrics } from './self.ts';
import { type Encoding, type RenderedBody, renderBody, SharedBody } from './shared-body.ts';

interface ScraperOptions {
  readonly fleet: FleetReading;
  readonly self: Pick<SelfMetrics, 'metrics'>;
  readonly clock: Clock;
  /** The prefix of another exporter's families, if they are added. Called at every render. */
  readonly compatibility?: () => string | undefined;
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
    const { fleet, self, clock, compatibility } = this.#options;
    yield* encodeChunks(renderFleet(fleet, clock, compatibility?.()));
    yield Buffer.from(`\n${await self.metrics()}`);
  }
}
