import { createGzip } from 'node:zlib';

/** How an answer's body is encoded. */
export type Encoding = 'identity' | 'gzip';

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
