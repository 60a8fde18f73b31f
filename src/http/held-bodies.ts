// Bounds the memory of the bodies of responses in flight, however slowly they are read.
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { MIB } from '../domain/units.ts';
import { giveWay, type WalkKind } from '../metrics/event-loop-slices.ts';
import type { Render, RenderedBody } from '../metrics/rendered-body.ts';

/** The context of a request: the response's own stream if it came over HTTP. */
export interface RouteEnv {
  readonly Bindings: Partial<Pick<HttpBindings, 'outgoing'>>;
}

/**
 * The limit on bytes of all responses in flight: the latest expositions of the largest fleet, or
 * hundreds of a small one.
 */
export const HELD_BYTES = 128 * MIB;

interface Reader {
  readonly body: Pick<RenderedBody, 'bytes'>;
  readonly cut: () => void;
}

/**
 * The bodies that responses in flight still have to send. Several responses may share one. If the
 * total exceeds the limit, the oldest responses are cut off, so that slow readers never block a new
 * one.
 */
export class HeldBodies {
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #readers = new Set<Reader>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Responds with a body in an encoding that the client accepts. A HEAD request renders none. The
   * body of a view gives way to scrapes.
   */
  async respond(
    c: Context<RouteEnv>,
    headers: Readonly<Record<string, string>>,
    render: Render,
    kind: WalkKind = 'view',
  ): Promise<Response> {
    const all: Record<string, string> = { ...headers, Vary: 'Accept-Encoding' };
    const accepted = accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' });
    const encoding = accepted === 'gzip' ? 'gzip' : 'identity';
    if (encoding === 'gzip') all['Content-Encoding'] = encoding;
    if (c.req.method === 'HEAD') return c.body(null, 200, all);
    const body = await render(encoding);
    all['Content-Length'] = String(body.bytes);
    const { outgoing } = c.env;
    const release = this.hold(body, () => outgoing?.destroy());
    if (outgoing?.destroyed === true) release();
    else outgoing?.once('close', release);
    // Node.js would copy a body that is given as a whole, for each reader.
    return c.body(ReadableStream.from(kind === 'view' ? givingWay(body.chunks) : body.chunks), 200, all);
  }

  /**
   * Holds a body for one reader, and returns a function that releases it. `cut` may be called
   * before that.
   */
  hold(body: Pick<RenderedBody, 'bytes'>, cut: () => void): () => void {
    const reader = { body, cut };
    this.#readers.add(reader);
    for (const oldest of this.#readers) {
      if (this.#heldBytes() <= this.#maxBytes) break;
      if (oldest.body !== body) this.#drop(oldest.body);
    }
    return () => this.#readers.delete(reader);
  }

  #heldBytes(): number {
    const bodies = new Set([...this.#readers].map(({ body }) => body));
    return [...bodies].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #drop(body: Reader['body']): void {
    for (const reader of this.#readers) {
      if (reader.body !== body) continue;
      this.#readers.delete(reader);
      reader.cut();
    }
  }
}

/** The chunks of a body, which isn't written while a scrape is rendered, however large it is. */
function* givingWay(chunks: RenderedBody['chunks']): Generator<Uint8Array | Promise<Uint8Array>, void, void> {
  for (const chunk of chunks) yield giveWay()?.then(() => chunk) ?? chunk;
}
