import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { MIB } from '../domain/server.ts';
import type { Encoding, Render, RenderedBody } from '../metrics/shared-body.ts';

/** What accompanies a request: the response's own stream if it came over HTTP. */
export interface RouteEnv {
  readonly Bindings: Partial<Pick<HttpBindings, 'outgoing'>>;
}

function encodingFor(c: Context): Encoding {
  return acceptsGzip(c.req.header('Accept-Encoding')) ? 'gzip' : 'identity';
}

/** Whether the client accepts gzip, according to its Accept-Encoding header (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | undefined): boolean {
  let gzip: number | undefined;
  let any = 0;
  for (const item of header?.split(',') ?? []) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = quality(parameters);
    if (coding === 'gzip' || coding === 'x-gzip') gzip = Math.max(gzip ?? 0, weight);
    else if (coding === '*') any = weight;
  }
  return (gzip ?? any) > 0;
}

// An unreadable weight counts as a refusal, because plain text always works.
function quality(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}

/**
 * A stream of shared chunks; no chunk is copied, or queued before the reader takes it. `onEnd` is called once, when the last
 * chunk was taken or the reader is gone.
 */
export function streamOf(chunks: readonly Uint8Array[], onEnd: () => void): ReadableStream<Uint8Array> {
  const rest = chunks.values();
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = rest.next();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
        onEnd();
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}

/**
 * The limit on bytes held by responses in flight, on all routes together: the newest expositions of the largest fleet, or hundreds
 * of a small one.
 */
export const HELD_BYTES = 128 * MIB;

/**
 * The bodies that responses in flight still have to send, on every route whose body grows with the fleet; several responses may
 * share one. When their total exceeds the limit, the oldest responses are cut, so that slow readers never block a new one.
 */
export class HeldBodies {
  readonly #maxBytes: number;
  /** Ordered by start, each with the functions that cut its readers. */
  readonly #held = new Map<Pick<RenderedBody, 'bytes'>, Set<() => void>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Responds with a body in the encoding that the client accepts; a HEAD request renders none. */
  async respond(
    c: Context<RouteEnv>,
    headers: Readonly<Record<string, string>>,
    render: Render,
  ): Promise<Response> {
    const all: Record<string, string> = { ...headers, Vary: 'Accept-Encoding' };
    const encoding = encodingFor(c);
    if (encoding === 'gzip') all['Content-Encoding'] = encoding;
    if (c.req.method === 'HEAD') return c.body(null, 200, all);
    const body = await render(encoding);
    all['Content-Length'] = String(body.bytes);
    const release = this.hold(body, () => c.env.outgoing?.destroy());
    // Node.js would copy a body that it is given whole, for each reader.
    return c.body(streamOf(body.chunks, release), 200, all);
  }

  /** Holds a body for one reader; returns a function that releases it. `cut` may be called before that. */
  hold(body: Pick<RenderedBody, 'bytes'>, cut: () => void): () => void {
    let readers = this.#held.get(body);
    if (readers === undefined) {
      readers = new Set();
      this.#held.set(body, readers);
      this.#bytes += body.bytes;
      this.#makeRoom(body);
    }
    readers.add(cut);
    return () => {
      readers.delete(cut);
      // After it was cut, the body may be held again, for other readers.
      if (readers.size === 0 && this.#held.get(body) === readers) this.#drop(body);
    };
  }

  #makeRoom(newest: Pick<RenderedBody, 'bytes'>): void {
    for (const [body, readers] of this.#held) {
      if (this.#bytes <= this.#maxBytes) return;
      if (body === newest) continue;
      this.#drop(body);
      for (const cut of readers) cut();
    }
  }

  #drop(body: Pick<RenderedBody, 'bytes'>): void {
    this.#held.delete(body);
    this.#bytes -= body.bytes;
  }
}
