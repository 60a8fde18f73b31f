import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { encodeChunks, renderFleet } from './exposition.ts';
import type { SelfMetrics } from './self.ts';

/** A whole exposition as bytes; several responses may send the same one. */
export interface Scrape {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
}

interface ScraperOptions {
  readonly fleet: FleetReading;
  readonly self: Pick<SelfMetrics, 'metrics' | 'scraped'>;
  readonly clock: Clock;
}

/** Renders the fleet's and the exporter's own metrics; scrapes that overlap share one render. */
export class Scraper {
  readonly #options: ScraperOptions;
  #inFlight: Promise<Scrape> | undefined;

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  /** The exposition of now, or the one that is being rendered. */
  scrape(): Promise<Scrape> {
    this.#inFlight ??= this.#render().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  async #render(): Promise<Scrape> {
    const { fleet, self, clock } = this.#options;
    const startedAt = clock.now();
    const chunks = await encodeChunks(renderFleet(fleet, clock));
    chunks.push(Buffer.from(`\n${await self.metrics()}`));
    self.scraped((clock.now() - startedAt) / 1_000);
    return { chunks, bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
  }
}
