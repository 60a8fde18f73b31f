import type { RenderedBody } from '../../metrics/rendered-body.ts';

/** The default maximum of concurrent viewers; above it, a new viewer replaces an existing one. */
export const MAX_VIEWERS = 50;

/** A viewer of the page. */
export interface Watcher {
  /** The client that the stream counts towards: the client with the most streams is the first to lose one. */
  readonly client: string;
  /** Closes the stream's connection, discarding unsent data. */
  readonly cut: () => void;
  /** Called with each event that is sent; returns a function that is called when the viewer has consumed it or is gone. */
  readonly hold: (event: Pick<RenderedBody, 'bytes'>) => () => void;
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
 * The viewers, each on an event stream. All are sent the same bytes, which are rendered once. At most one event is queued per
 * viewer: a slow viewer skips changes, and is sent the full state once it has caught up.
 */
export class Viewers {
  readonly #max: number;
  readonly #viewers = new Set<Viewer>();
  readonly #full: () => Promise<RenderedBody>;
  /** The rendered full state, until something changes. */
  #fullEvent: RenderedBody | undefined;
  /** The last event that is being rendered. */
  #rendered: Promise<void> = Promise.resolve();

  /** `full` renders the first event of a new viewer. */
  constructor(full: () => Promise<RenderedBody>, max = MAX_VIEWERS) {
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
          if (!viewer.isBehind) return;
          if (this.#fullEvent === undefined) void this.#oneByOne(() => this.#catchUp());
          else give(viewer, this.#fullEvent);
        },
        cancel: () => {
          if (viewer !== undefined) this.#remove(viewer);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Sends a change to all viewers once it is rendered; undefined means that they need the full state. */
  update(change: () => Promise<RenderedBody | undefined>): Promise<void> {
    return this.#oneByOne(async () => {
      const event = await change();
      this.#fullEvent = undefined;
      for (const viewer of this.#viewers) {
        if (event === undefined || !viewer.isReady) viewer.isBehind = true;
        else if (!viewer.isBehind) give(viewer, event);
      }
      await this.#catchUp();
    });
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

  // A change that is taken while the full state is rendered could be missing in both.
  #oneByOne(render: () => Promise<void>): Promise<void> {
    this.#rendered = this.#rendered.then(render);
    return this.#rendered;
  }

  async #catchUp(): Promise<void> {
    const isWaiting = ({ isReady, isBehind }: Viewer) => isReady && isBehind;
    if (![...this.#viewers].some(isWaiting)) return;
    const full = this.#fullEvent ?? (await this.#full());
    for (const viewer of [...this.#viewers].filter(isWaiting)) give(viewer, full);
    // Without viewers, nothing would discard it.
    if (this.#viewers.size > 0) this.#fullEvent = full;
  }
}

function give(viewer: Viewer, event: RenderedBody): void {
  viewer.isReady = false;
  viewer.isBehind = false;
  viewer.release = viewer.hold(event);
  for (const chunk of event.chunks) viewer.controller.enqueue(chunk);
}

/** An event of an event stream, in blocks of text; its data is one line of JSON. */
export function* event(name: string, data: Iterable<string>): Generator<string, void, void> {
  yield `event: ${name}\ndata: `;
  yield* data;
  yield '\n\n';
}
