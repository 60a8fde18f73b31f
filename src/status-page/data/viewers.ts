// The viewers of the page's event stream.
import { INTERNAL_ERRORS } from '../../domain/internal-errors.ts';
import type { RenderedBody } from '../../metrics/rendered-body.ts';

/**
 * The maximum number of concurrent viewers by default. Above it, a new viewer replaces an existing
 * one.
 */
const MAX_VIEWERS = 50;

/** A viewer of the page. */
export interface Watcher {
  /**
   * The client to which the stream belongs. The client with the most streams is the first to lose
   * one.
   */
  readonly client: string;
  /** Closes the stream's connection and discards unsent data. */
  readonly cut: () => void;
  /**
   * Called with each event that is sent. Returns a function that is called when the viewer has
   * consumed it or is gone.
   */
  readonly hold: (event: Pick<RenderedBody, 'bytes'>) => () => void;
}

interface Viewer extends Watcher {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** Whether there was an update since its last event began. */
  isBehind: boolean;
  /** Whether it has consumed everything that was sent, and waits for the next update. */
  isWaiting: boolean;
  /** Releases the event that it hasn't consumed yet. */
  release: () => void;
}

/**
 * The viewers, each with an event stream. All get the same bytes, which are rendered once. At most
 * one event is queued per viewer: a slow viewer skips updates, and gets the full state once it has
 * caught up.
 */
export class Viewers {
  readonly #max: number;
  readonly #viewers = new Set<Viewer>();
  readonly #full: () => Promise<RenderedBody>;

  /** `full` renders the state after the last update. */
  constructor(full: () => Promise<RenderedBody>, max = MAX_VIEWERS) {
    this.#full = full;
    this.#max = max;
  }

  get count(): number {
    return this.#viewers.size;
  }

  /**
   * A stream for one more viewer. If there are too many, the oldest stream of the client with the
   * most is closed.
   */
  open(watcher: Watcher): ReadableStream<Uint8Array> {
    if (this.#viewers.size >= this.#max) this.#makeRoom(watcher.client);
    let viewer: Viewer | undefined;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          viewer = { ...watcher, controller, isBehind: true, isWaiting: false, release: () => undefined };
          this.#viewers.add(viewer);
        },
        pull: () => {
          if (viewer === undefined) return;
          viewer.release();
          viewer.isWaiting = !viewer.isBehind;
          if (viewer.isBehind) void this.#catchUp(viewer);
        },
        cancel: () => {
          if (viewer !== undefined) this.#remove(viewer);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Sends an update to all viewers with the state before it. */
  update(event: RenderedBody): void {
    for (const viewer of this.#viewers) {
      if (viewer.isWaiting) this.#serve(viewer, () => this.#give(viewer, event));
      else viewer.isBehind = true;
    }
  }

  /** Ends every stream. */
  close(): void {
    for (const viewer of this.#viewers) {
      viewer.controller.close();
      this.#remove(viewer);
    }
  }

  async #catchUp(viewer: Viewer): Promise<void> {
    viewer.isBehind = false;
    try {
      this.#give(viewer, await this.#full());
    } catch (error) {
      this.#fail(viewer, error);
    }
  }

  /** An exception ends only this viewer's stream. */
  #serve(viewer: Viewer, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(viewer, error);
    }
  }

  #fail(viewer: Viewer, error: unknown): void {
    this.#viewers.delete(viewer);
    viewer.cut();
    INTERNAL_ERRORS.report(error);
  }

  #give(viewer: Viewer, event: RenderedBody): void {
    if (!this.#viewers.has(viewer)) return;
    viewer.isWaiting = false;
    viewer.release = viewer.hold(event);
    for (const chunk of event.chunks) viewer.controller.enqueue(chunk);
  }

  #makeRoom(newcomer: string): void {
    const held = new Map([[newcomer, 1]]);
    for (const { client } of this.#viewers) held.set(client, (held.get(client) ?? 0) + 1);
    const most = Math.max(...held.values());
    const oldest = [...this.#viewers].find(({ client }) => held.get(client) === most);
    // Without viewers, there is no stream to close. This happens only if the maximum is 0.
    if (oldest === undefined) return;
    this.#remove(oldest);
    oldest.controller.close();
    oldest.cut();
  }

  #remove(viewer: Viewer): void {
    viewer.release();
    this.#viewers.delete(viewer);
  }
}
