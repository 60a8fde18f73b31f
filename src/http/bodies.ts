import type { Scrape } from '../metrics/scrape.ts';

/** Does the client take gzip, by its Accept-Encoding header (RFC 9110, 12.5.3)? */
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

// A weight that can't be read counts as refusal: plain text is always understood.
function quality(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}

/**
 * A stream of shared chunks, none of them copied or queued before the reader takes it. `onEnd` is called
 * once, when the last was taken or the reader is gone.
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

/** Bytes that answers under way may hold: the newest expositions of the largest fleet, and hundreds of a small one. */
export const HELD_BYTES = 128 * 1_048_576;

/**
 * The bodies that answers under way still have to send; several answers may share one. When they come to more than may be
 * held, the answers that have been under way for longest are cut, so that slow readers never keep a new one from its answer.
 */
export class HeldBodies {
  readonly #maxBytes: number;
  /** In the order in which they were begun, each with what cuts its readers. */
  readonly #held = new Map<Scrape, Set<() => void>>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Holds a body for one reader; gives what releases it. `cut` may be called before that. */
  hold(body: Scrape, cut: () => void): () => void {
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
      if (readers.size === 0) this.#drop(body);
    };
  }

  #makeRoom(newest: Scrape): void {
    for (const [body, readers] of this.#held) {
      if (this.#bytes <= this.#maxBytes) return;
      if (body === newest) continue;
      this.#drop(body);
      for (const cut of readers) cut();
    }
  }

  #drop(body: Scrape): void {
    if (this.#held.delete(body)) this.#bytes -= body.bytes;
  }
}
