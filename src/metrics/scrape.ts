import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { createBodyWriter, type Encoding } from './body-writer.ts';
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
  /** Are the names of pterodactyl_exporter wanted, too? Asked at every render; not unless said. */
  readonly withCompatibility?: () => boolean;
}

/** Renders the fleet's and the exporter's own metrics; scrapes of one encoding that overlap share one render. */
export class Scraper {
  readonly #options: ScraperOptions;
  readonly #inFlight = new Map<Encoding, Promise<Scrape>>();

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  /** The exposition of now, or the one that is being rendered. */
  scrape(encoding: Encoding): Promise<Scrape> {
    const inFlight = this.#inFlight.get(encoding);
    if (inFlight !== undefined) return inFlight;
    const begun = this.#render(encoding).finally(() => this.#inFlight.delete(encoding));
    this.#inFlight.set(encoding, begun);
    return begun;
  }

  async #render(encoding: Encoding): Promise<Scrape> {
    const { fleet, self, clock, withCompatibility } = this.#options;
    const startedAt = clock.now();
    const blocks = renderFleet(fleet, clock, withCompatibility?.() === true);
    const writer = createBodyWriter(encoding);
    try {
      for await (const piece of encodeChunks(blocks)) await writer.write(piece);
      await writer.write(Buffer.from(`\n${await self.metrics()}`));
      const chunks = await writer.end();
      self.scraped((clock.now() - startedAt) / 1_000);
      return { chunks, bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
    } finally {
      writer.close();
    }
  }
}
