// Renders a response body block by block, compresses it, and shares it among requests.

import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import type { Cancel, Clock } from '../domain/time.ts';

/** The content encoding of a response body. */
export type Encoding = 'identity' | 'gzip';

/** A complete response body as bytes; several responses may send the same one. */
export interface RenderedBody {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
}

/** Renders a whole body. */
export type Render = (encoding: Encoding) => Promise<RenderedBody>;

/** Text in blocks, each a bounded piece of work; a block may be empty. */
export type Blocks = Iterable<string | Promise<string>>;

/** What a walk over the fleet renders: a scrape, or a view for people and their programs. */
export type WalkKind = 'scrape' | 'view';

/**
 * Time between two yields to the event loop, in milliseconds. It is a time rather than a number of
 * servers because the cost of a step varies by a factor of ten between families, and between
 * machines.
 */
const SLICE_MS: Readonly<Record<WalkKind, number>> = { scrape: 5, view: 2 };

/**
 * The longest slice of a scrape, in milliseconds: while other work keeps the event loop busy for
 * longer than a slice, as when all sockets reconnect, a scrape takes as much time as that work.
 */
const LONGEST_SLICE_MS = 15;

/**
 * How long a view rests before each slice while a scrape is rendered, in milliseconds: it then
 * takes a sixteenth of the time.
 */
const REST_MS = 30;

/** A walk over the fleet, in slices. */
export interface Walk {
  /** Called before each step; the step must wait for the result unless that is undefined. */
  pause(): Promise<void> | undefined;
  /** Called once, after the last step. */
  end(): void;
}

/**
 * Shares the event loop between walks over the fleet and everything else. Views give way to
 * scrapes.
 */
export class Slices {
  readonly #now: () => number;
  #scrapes = 0;

  /** `now` returns milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get isScraped(): boolean {
    return this.#scrapes > 0;
  }

  begin(kind: WalkKind): Walk {
    const by = kind === 'scrape' ? 1 : 0;
    this.#scrapes += by;
    // Many short views must give way as well as a long one.
    let endsAt = this.#mustRest(kind) ? -Infinity : this.#now() + SLICE_MS[kind];
    const rest = async () => {
      const restedAt = this.#now();
      await (this.#mustRest(kind) ? delay(REST_MS) : setImmediate());
      const at = this.#now();
      const fairMs = kind === 'scrape' ? Math.min(LONGEST_SLICE_MS, at - restedAt) : 0;
      endsAt = at + Math.max(SLICE_MS[kind], fairMs);
    };
    return {
      pause: () => (this.#now() < endsAt ? undefined : rest()),
      end: () => {
        this.#scrapes -= by;
      },
    };
  }

  #mustRest(kind: WalkKind): boolean {
    return kind === 'view' && this.isScraped;
  }
}

/** There is one event loop, whatever is rendered. */
const EVENT_LOOP = new Slices();

/** Is a scrape being rendered? */
export function isScraped(): boolean {
  return EVENT_LOOP.isScraped;
}

/**
 * Resolves when a response other than a scrape's may be made: after a rest if a scrape is being
 * rendered.
 */
export async function giveWay(): Promise<void> {
  const walk = EVENT_LOOP.begin('view');
  await walk.pause();
  walk.end();
}

/**
 * Exposition text and JSON are so repetitive that higher levels save a few percent for three times
 * the CPU time.
 */
const GZIP_LEVEL = 3;

/** Size of the compressor's buffers: a few large ones cost less than many of the default 16 KiB. */
const GZIP_CHUNK_BYTES = 128 * 1024;

/**
 * Renders text as a body, in slices of a few milliseconds, so that a large fleet delays no socket.
 */
export async function renderBody(blocks: Blocks, encoding: Encoding, kind: WalkKind): Promise<RenderedBody> {
  const pieces = encodeChunks(blocks, kind);
  const chunks = await (encoding === 'gzip' ? compress(pieces) : copy(pieces));
  return { chunks, bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
}

/**
 * Compresses off the event loop while the body is still being rendered, so that only one piece is
 * uncompressed at a time.
 */
async function compress(pieces: AsyncIterable<Buffer>): Promise<readonly Uint8Array[]> {
  const gzip = createGzip({ level: GZIP_LEVEL, chunkSize: GZIP_CHUNK_BYTES });
  const consume = promisify<Uint8Array, void>((piece, done) => gzip.write(piece, done));
  const compressed = gzip.toArray();
  // Prevents an unhandled rejection when a body is abandoned; the caller still gets the error.
  compressed.catch(() => {});
  try {
    for await (const piece of pieces) await consume(piece);
    gzip.end();
    return await compressed;
  } finally {
    gzip.destroy();
  }
}

async function copy(pieces: AsyncIterable<Buffer>): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces) chunks.push(Buffer.from(piece));
  return chunks;
}

/**
 * Size of the buffer for encoded text. After each piece is compressed, the next waits for a turn of
 * the event loop: in pieces of 256 KiB, the slowest scrape of 2,000 servers took 3.4 to 4.5 times as
 * long while sockets reconnected as in calm.
 */
const CHUNK_BYTES = 1024 * 1024;

/** A UTF-16 code unit takes at most this many bytes in UTF-8. */
const MAX_UTF8_BYTES = 3;

/**
 * Encodes blocks of text as UTF-8, in pieces of bounded size. All pieces share one buffer, so each
 * is valid only until the next is requested; otherwise every scrape of a large fleet would leave
 * tens of megabytes to the garbage collector.
 */
export async function* encodeChunks(
  blocks: Blocks,
  kind: WalkKind,
  slices = EVENT_LOOP,
): AsyncGenerator<Buffer, void, undefined> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let used = 0;
  const walk = slices.begin(kind);
  try {
    await walk.pause();
    for (const block of blocks) {
      const text = typeof block === 'string' ? block : await block;
      const room = text.length * MAX_UTF8_BYTES;
      if (used + room > buffer.length) {
        if (used > 0) yield buffer.subarray(0, used);
        if (room > buffer.length) buffer = Buffer.allocUnsafe(room);
        used = 0;
      }
      used += buffer.write(text, used);
      const pause = walk.pause();
      if (pause !== undefined) await pause;
    }
    if (used > 0) yield buffer.subarray(0, used);
  } finally {
    walk.end();
  }
}

/** How renders are shared. */
export interface Sharing {
  /**
   * A render is shared with requests that arrive within this many milliseconds of its start. Later
   * requests get the next one.
   */
  readonly sharedForMs: number;
  /** Whether that includes requests that arrive after its end. */
  readonly isKept: boolean;
}

/**
 * A state that changed 100 ms ago must not be missing in a scrape, and with 10,000 servers a render
 * takes longer than that. A finished one isn't shared, so that a scrape shows everything that
 * happened before it.
 */
export const SCRAPES: Sharing = { sharedForMs: 50, isKept: false };

/** What people look at is rendered at most once a second, however many look at it. */
export const VIEWS: Sharing = { sharedForMs: 1_000, isKept: true };

interface SharedRender {
  /** When it began, on the monotonic clock; infinity while it waits for the previous one. */
  startedAt: number;
  readonly body: Promise<RenderedBody>;
}

/** Bodies that are rendered on request, one at a time; those with the same key are shared. */
export class SharedBodies {
  readonly #clock: Pick<Clock, 'now' | 'schedule'>;
  readonly #sharing: Sharing;
  /** The latest render of each key, for as long as it may be shared. */
  readonly #latest = new Map<string, SharedRender>();
  readonly #ends = new Set<Cancel>();
  #last: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(clock: Pick<Clock, 'now' | 'schedule'>, sharing: Sharing) {
    this.#clock = clock;
    this.#sharing = sharing;
  }

  /** The body with this key: a shared one, or the result of `render`. */
  get(key: string, render: () => Promise<RenderedBody>): Promise<RenderedBody> {
    const latest = this.#latest.get(key);
    if (latest !== undefined && this.#clock.now() - latest.startedAt <= this.#sharing.sharedForMs) {
      return latest.body;
    }
    const body = this.#last.then(() => {
      shared.startedAt = this.#clock.now();
      return render();
    });
    const shared: SharedRender = { startedAt: Infinity, body };
    this.#latest.set(key, shared);
    this.#last = body.then(
      () => this.#ended(key, shared),
      () => this.#drop(key, shared),
    );
    return body;
  }

  /** Drops all bodies, and keeps none that is still rendered. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#ends) cancel();
    this.#ends.clear();
    this.#latest.clear();
  }

  #ended(key: string, shared: SharedRender): void {
    const { sharedForMs, isKept } = this.#sharing;
    const leftMs = shared.startedAt + sharedForMs - this.#clock.now();
    if (!isKept || this.#isStopped || leftMs < 0) {
      this.#drop(key, shared);
      return;
    }
    const cancel = this.#clock.schedule(leftMs, () => {
      this.#ends.delete(cancel);
      this.#drop(key, shared);
    });
    this.#ends.add(cancel);
  }

  #drop(key: string, shared: SharedRender): void {
    if (this.#latest.get(key) === shared) this.#latest.delete(key);
  }
}
