import { createGzip } from 'node:zlib';
import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { encodeChunks, renderFleet } from './exposition.ts';
import type { SelfMetrics } from './self.ts';

/** The content encoding of a response body. */
export type Encoding = 'identity' | 'gzip';

/** A complete exposition as bytes; several responses may send the same one. */
export interface Scrape {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
}

interface ScraperOptions {
  readonly fleet: FleetReading;
  readonly self: Pick<SelfMetrics, 'metrics' | 'scraped'>;
  readonly clock: Clock;
  /** Whether to add the families of pterodactyl_exporter. Called at every render; defaults to no. */
  readonly withCompatibility?: () => boolean;
}

/**
 * A render is shared with requests that arrive within this many milliseconds of its start. Later requests get the next
 * render; otherwise, a state that changed 100 ms ago could be missing, because with 10,000 servers a render takes longer
 * than that.
 */
const SHARED_FOR_MS = 50;

/** When a render began, on the monotonic clock; infinity while it waits for the previous one. */
interface RenderTurn {
  startedAt: number;
}

interface Render {
  readonly turn: RenderTurn;
  readonly scrape: Promise<Scrape>;
}

/** Renders the fleet's and the exporter's own metrics; for each encoding, one render runs at a time and at most one waits. */
export class Scraper {
  readonly #options: ScraperOptions;
  /** The latest requested render of each encoding, until it has ended. */
  readonly #last = new Map<Encoding, Render>();

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  /** The current exposition, or one whose render began at most 50 ms ago. */
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
    // The callers that requested that render get its error.
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

/** Exposition text is so repetitive that higher levels save a few percent for three times the CPU time. */
const GZIP_LEVEL = 3;

/** Size of the compressor's buffers: a few large ones cost less than many of the default 16 KiB. */
const GZIP_CHUNK_BYTES = 128 * 1024;

/** Receives a body piece by piece. */
export interface BodyWriter {
  /** Resolves when the piece has been consumed and its buffer may be reused. */
  write(piece: Uint8Array): Promise<void>;
  /** Returns the whole body. */
  end(): Promise<readonly Uint8Array[]>;
  /** Frees the writer's resources, whether or not the body is complete. */
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

/** Compresses off the event loop while the body is still being rendered, so that only one piece is uncompressed at a time. */
class GzipWriter implements BodyWriter {
  readonly #gzip = createGzip({ level: GZIP_LEVEL, chunkSize: GZIP_CHUNK_BYTES });
  readonly #chunks: Promise<readonly Uint8Array[]>;

  constructor() {
    this.#chunks = this.#gzip.toArray();
    // Prevents an unhandled rejection when a body is abandoned; callers of `end` still get the error.
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
