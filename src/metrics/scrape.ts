// Renders all metrics for a scrape.

import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { renderFleet } from './exposition.ts';
import { type Blocks, type Encoding, type RenderedBody, renderBody } from './rendered-body.ts';
import type { SelfMetrics } from './self-metrics.ts';
import { SCRAPES, SharedBodies } from './shared-bodies.ts';

interface ScraperOptions {
  readonly fleet: FleetReading;
  readonly self: Pick<SelfMetrics, 'metrics'>;
  readonly clock: Clock;
  /**
   * Returns the prefix of another exporter's families if they are included. Called for every
   * rendering.
   */
  readonly compatibility?: () => string | undefined;
}

/** Renders the fleet's and the exporter's own metrics. */
export class Scraper {
  readonly #options: ScraperOptions;
  readonly #shared: SharedBodies;

  constructor(options: ScraperOptions) {
    this.#options = options;
    this.#shared = new SharedBodies(options.clock, SCRAPES);
  }

  /** A new exposition, or one whose rendering began at most 50 ms ago. */
  scrape(encoding: Encoding): Promise<RenderedBody> {
    return this.#shared.get(encoding, () => renderBody(this.#blocks(), encoding, 'scrape'));
  }

  *#blocks(): Blocks {
    const { fleet, self, clock, compatibility } = this.#options;
    yield* renderFleet(fleet, clock, compatibility?.());
    yield self.metrics().then((text) => `\n${text}`);
  }
}
