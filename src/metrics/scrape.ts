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

/**
 * A render is shared with whoever asks this soon after it began. Who asks later gets the next one, or a state that changed
 * 100 ms before could be missing: with 10,000 servers a render takes longer than that.
 */
const SHARED_FOR_MS = 50;

/** When a render began, on the monotonic clock; later than any instant while it waits for the one before it. */
interface Turn {
  startedAt: number;
}

interface Render {
  readonly turn: Turn;
  readonly scrape: Promise<Scrape>;
}

/** Renders the fleet's and the exporter's own metrics; of each encoding one render runs at a time, and at most one waits. */
export class Scraper {
  readonly #options: ScraperOptions;
  /** The render of each encoding that was asked for last, until it has ended. */
  readonly #last = new Map<Encoding, Render>();

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  /** The exposition of now, or one that began to be rendered 50 ms ago at the earliest. */
  scrape(encoding: Encoding): Promise<Scrape> {
    const last = this.#last.get(encoding);
    const { clock } = this.#options;
    if (last !== undefined && clock.now() - last.turn.startedAt <= SHARED_FOR_MS) return last.scrape;
    const turn = { startedAt: Infinity };
    const scrape = this.#inTurn(encoding, turn, last?.scrape);
    this.#last.set(encoding, { turn, scrape });
    return scrape;
  }

  async #inTurn(encoding: Encoding, turn: Turn, before: Promise<Scrape> | undefined): Promise<Scrape> {
    // Those who asked for that one hear of its failure.
    await before?.catch(() => undefined);
    turn.startedAt = this.#options.clock.now();
    try {
      return await this.#render(encoding);
    } finally {
      if (this.#last.get(encoding)?.turn === turn) this.#last.delete(encoding);
    }
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
