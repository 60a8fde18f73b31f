/** The default maximum of concurrent viewers; above it, a new viewer replaces an existing one. */
export const MAX_VIEWERS = 50;

const encoder = new TextEncoder();

/** An event as bytes; all viewers that are sent it share it. */
interface SentEvent {
  readonly data: Uint8Array;
  readonly bytes: number;
}

/** A viewer of the page. */
export interface Watcher {
  /** The client that the stream counts towards: the client with the most streams is the first to lose one. */
  readonly client: string;
  /** Closes the stream's connection, discarding unsent data. */
  readonly cut: () => void;
  /** Called with each event that is sent; returns a function that is called when the viewer has consumed it or is gone. */
  readonly hold: (event: SentEvent) => () => void;
}

interface Viewer extends Watcher {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether it has consumed everything that was sent. */
  isReady: boolean;
  /** Whether it missed a change and needs the full state. */
  isBehind: boolean;
  /** Releases the event that it hasn't consumed yet. */
  release: () => void;
}

/**
 * The viewers, each on an event stream. All are sent the same bytes, which are encoded once. At most one event is queued per
 * viewer: a slow viewer skips changes, and is sent the full state once it has caught up.
 */
export class Viewers {
  readonly #max: number;
  readonly #viewers = new Set<Viewer>();
  readonly #full: () => string;
  /** The encoded full state, until something changes. */
  #fullEvent: SentEvent | undefined;

  /** `full` returns the first event of a new viewer. */
  constructor(full: () => string, max = MAX_VIEWERS) {
    this.#full = full;
    this.#max = max;
  }

  get count(): number {
    return this.#viewers.size;
  }

  /** A stream for one more viewer. If there are too many, the oldest stream of the client with the most is closed. */
  open(watcher: Watcher): ReadableStream<Uint8Array> {
    if (this.#viewers.size >= this.#max) this.#makeRoom(watcher.client);
    let viewer: Viewer | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          viewer = { ...watcher, controller, isReady: false, isBehind: true, release: () => undefined };
          this.#viewers.add(viewer);
        },
        pull: () => {
          if (viewer === undefined) return;
          viewer.release();
          viewer.isReady = true;
          if (viewer.isBehind) this.#catchUp(viewer);
        },
        cancel: () => {
          if (viewer !== undefined) this.#remove(viewer);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Sends a change to all viewers; undefined means that they need the full state. */
  send(change: string | undefined): void {
    this.#fullEvent = undefined;
    const event = change === undefined ? undefined : sent(change);
    for (const viewer of this.#viewers) {
      if (event === undefined || !viewer.isReady) viewer.isBehind = true;
      if (!viewer.isReady) continue;
      if (viewer.isBehind || event === undefined) this.#catchUp(viewer);
      else give(viewer, event);
    }
  }

  /** Ends every stream. */
  close(): void {
    for (const viewer of this.#viewers) {
      viewer.controller.close();
      this.#remove(viewer);
    }
  }

  #makeRoom(newcomer: string): void {
    const held = new Map([[newcomer, 1]]);
    for (const { client } of this.#viewers) held.set(client, (held.get(client) ?? 0) + 1);
    const most = Math.max(...held.values());
    const oldest = [...this.#viewers].find(({ client }) => held.get(client) === most);
    // Only a newcomer can have the most streams and none to close, when there is no room at all.
    if (oldest === undefined) return;
    this.#remove(oldest);
    oldest.controller.close();
    oldest.cut();
  }

  #remove(viewer: Viewer): void {
    viewer.release();
    this.#viewers.delete(viewer);
    // There are no viewers to send further changes to, so nothing else would discard them.
    if (this.#viewers.size === 0) this.#fullEvent = undefined;
  }

  #catchUp(viewer: Viewer): void {
    this.#fullEvent ??= sent(this.#full());
    viewer.isBehind = false;
    give(viewer, this.#fullEvent);
  }
}

function give(viewer: Viewer, event: SentEvent): void {
  viewer.isReady = false;
  viewer.release = viewer.hold(event);
  viewer.controller.enqueue(event.data);
}

function sent(text: string): SentEvent {
  const data = encoder.encode(text);
  return { data, bytes: data.length };
}

/** An event of an event stream; `data` is one line of JSON. */
export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
