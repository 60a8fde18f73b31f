import { createGzip } from 'node:zlib';
import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { encodeChunks, renderFleet } from './exposition.ts';
import type { SelfMetrics } from './self.ts';

/** How an answer's body is encoded. */
export type Encoding = 'identity' | 'gzip';

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
interface RenderTurn {
  startedAt: number;
}

interface Render {
  readonly turn: RenderTurn;
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

  async #inTurn(encoding: Encoding, turn: RenderTurn, before: Promise<Scrape> | undefined): Promise<Scrape> {
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

/** Exposition text repeats itself so much that higher levels save some per cent for thrice the CPU time. */
const GZIP_LEVEL = 3;

/** Size of the compressor's buffers: few large ones cost less than many of the default 16 KiB. */
const GZIP_CHUNK_BYTES = 128 * 1024;

/** Takes a body piece by piece. */
export interface BodyWriter {
  /** Resolves when the piece is taken and its buffer may be used anew. */
  write(piece: Uint8Array): Promise<void>;
  /** Gives the whole body. */
  end(): Promise<readonly Uint8Array[]>;
  /** Frees what the writing took, be the body whole or not. */
  close(): void;
}

export function createBodyWriter(encoding: Encoding): BodyWriter {
  return encoding === 'gzip' ? new GzipWriter() : new PlainWriter();
}

class PlainWriter implements BodyWriter {
  readonly #chunks: Uint8Array[] = [];

  async write(piece: Uint8Array): Promise<void> {
    this.#chunks.push(Buffer.from(piece));
  }

  async end(): Promise<readonly Uint8Array[]> {
    return this.#chunks;
  }

  close(): void {}
}

/** Compresses off the event loop, while the body is still being made: what is not compressed yet is one piece. */
class GzipWriter implements BodyWriter {
  readonly #gzip = createGzip({ level: GZIP_LEVEL, chunkSize: GZIP_CHUNK_BYTES });
  readonly #chunks: Promise<readonly Uint8Array[]>;

  constructor() {
    this.#chunks = this.#gzip.toArray();
    // A body that was given up is nobody's trouble; who waits for its end is told all the same.
    this.#chunks.catch(() => {});
  }

  write(piece: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#gzip.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }

  end(): Promise<readonly Uint8Array[]> {
    this.#gzip.end();
    return this.#chunks;
  }

  close(): void {
    this.#gzip.destroy();
  }
}
