import { createGzip } from 'node:zlib';
import type { Clock } from '../domain/clock.ts';

/** The content encoding of a response body. */
export type Encoding = 'identity' | 'gzip';

/** A complete response body as bytes; several responses may send the same one. */
export interface RenderedBody {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
}

/** Renders a whole body. */
export type Render = (encoding: Encoding) => Promise<RenderedBody>;

/**
 * A render is shared with requests that arrive within this many milliseconds of its start. Later requests get the next
 * render; otherwise, a state that changed 100 ms ago could be missing, because with 10,000 servers a render takes longer
 * than that.
 */
const SHARED_FOR_MS = 50;

/** When a render began, on the monotonic clock; infinity while it waits for the previous one. */
interface RenderStart {
  at: number;
}

interface LatestRender {
  readonly start: RenderStart;
  readonly body: Promise<RenderedBody>;
}

/** A body that is rendered on request; for each encoding, one render runs at a time and at most one waits. */
export class SharedBody {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #render: Render;
  /** The latest requested render of each encoding, until it has ended. */
  readonly #last = new Map<Encoding, LatestRender>();

  constructor(clock: Pick<Clock, 'now'>, render: Render) {
    this.#clock = clock;
    this.#render = render;
  }

  /** The current body, or one whose render began at most 50 ms ago. */
  get(encoding: Encoding): Promise<RenderedBody> {
    const last = this.#last.get(encoding);
    if (last !== undefined && this.#clock.now() - last.start.at <= SHARED_FOR_MS) return last.body;
    const start = { at: Infinity };
    const body = this.#renderAfter(encoding, start, last?.body);
    this.#last.set(encoding, { start, body });
    return body;
  }

  async #renderAfter(
    encoding: Encoding,
    start: RenderStart,
    before: Promise<RenderedBody> | undefined,
  ): Promise<RenderedBody> {
    // The callers that requested that render get its error.
    await before?.catch(() => undefined);
    start.at = this.#clock.now();
    try {
      return await this.#render(encoding);
    } finally {
      if (this.#last.get(encoding)?.start === start) this.#last.delete(encoding);
    }
  }
}

/** The body made of these pieces, each of which may be overwritten once the next is requested. */
export async function renderBody(
  pieces: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): Promise<RenderedBody> {
  const writer = encoding === 'gzip' ? new GzipWriter() : new PlainWriter();
  try {
    for await (const piece of pieces) await writer.write(piece);
    const chunks = await writer.end();
    return { chunks, bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
  } finally {
    writer.close();
  }
}

/** Exposition text and JSON are so repetitive that higher levels save a few percent for three times the CPU time. */
const GZIP_LEVEL = 3;

/** Size of the compressor's buffers: a few large ones cost less than many of the default 16 KiB. */
const GZIP_CHUNK_BYTES = 128 * 1024;

/** Receives a body piece by piece. */
interface BodyWriter {
  /** Resolves when the piece has been consumed and its buffer may be reused. */
  write(piece: Uint8Array): Promise<void>;
  /** Returns the whole body. */
  end(): Promise<readonly Uint8Array[]>;
  /** Frees the writer's resources, whether or not the body is complete. */
  close(): void;
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
