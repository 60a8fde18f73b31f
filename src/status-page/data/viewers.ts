/** Viewers at once; beyond them a new one takes the place of another. */
export const MAX_VIEWERS = 50;

const encoder = new TextEncoder();

/** Who watches. */
export interface Watcher {
  /** Whom the stream counts as: the client with the most streams is the first to lose one. */
  readonly client: string;
  /** Cuts the stream's connection, whatever it still has to send. */
  readonly cut: () => void;
}

interface Viewer extends Watcher {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Has it taken all that it was sent? */
  isReady: boolean;
  /** It lacks a change, so that only the whole helps. */
  isBehind: boolean;
}

/**
 * The people who watch, each on an event stream. All are sent the same bytes, made once. Of what a viewer hasn't taken yet there
 * is one event at most: a slow one skips changes, and is given the whole when it has caught up.
 */
export class Viewers {
  readonly #max: number;
  readonly #viewers = new Set<Viewer>();
  readonly #full: () => string;
  /** The whole as bytes, until something changes. */
  #fullBytes: Uint8Array | undefined;

  /** `full` gives the event that a viewer begins with. */
  constructor(full: () => string, max = MAX_VIEWERS) {
    this.#full = full;
    this.#max = max;
  }

  get count(): number {
    return this.#viewers.size;
  }

  /** A stream for one more viewer. When there are too many, the oldest of the client that has the most is cut. */
  open({ client, cut }: Watcher): ReadableStream<Uint8Array> {
    if (this.#viewers.size >= this.#max) this.#makeRoom(client);
    let viewer: Viewer | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          viewer = { client, cut, controller, isReady: false, isBehind: true };
          this.#viewers.add(viewer);
        },
        pull: () => {
          if (viewer === undefined) return;
          viewer.isReady = true;
          if (viewer.isBehind) this.#catchUp(viewer);
        },
        cancel: () => {
          if (viewer !== undefined) this.#viewers.delete(viewer);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Sends all viewers what changed; undefined says that only the whole tells it. */
  send(change: string | undefined): void {
    this.#fullBytes = undefined;
    const bytes = change === undefined ? undefined : encoder.encode(change);
    for (const viewer of this.#viewers) {
      if (bytes === undefined || !viewer.isReady) viewer.isBehind = true;
      if (!viewer.isReady) continue;
      if (viewer.isBehind || bytes === undefined) this.#catchUp(viewer);
      else give(viewer, bytes);
    }
  }

  /** Ends every stream. */
  close(): void {
    for (const { controller } of this.#viewers) controller.close();
    this.#viewers.clear();
  }

  #makeRoom(newcomer: string): void {
    const held = new Map([[newcomer, 1]]);
    for (const { client } of this.#viewers) held.set(client, (held.get(client) ?? 0) + 1);
    const most = Math.max(...held.values());
    const oldest = [...this.#viewers].find(({ client }) => held.get(client) === most);
    // Only the newcomer itself can have the most without a stream, where there is no room at all.
    if (oldest === undefined) return;
    this.#viewers.delete(oldest);
    oldest.controller.close();
    oldest.cut();
  }

  #catchUp(viewer: Viewer): void {
    this.#fullBytes ??= encoder.encode(this.#full());
    viewer.isBehind = false;
    give(viewer, this.#fullBytes);
  }
}

function give(viewer: Viewer, bytes: Uint8Array): void {
  viewer.isReady = false;
  viewer.controller.enqueue(bytes);
}

/** An event of an event stream; `data` is one line of JSON. */
export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
