// The page's event stream, which sends the fleet once a second.
import { type Repeat, repeat } from '../../domain/repeated-work.ts';
import { SECOND_MS } from '../../domain/units.ts';
import { type RenderedBody, renderBody } from '../../metrics/rendered-body.ts';
import type { BoardSource } from './board-source.ts';
import { updateText } from './live-update.ts';
import { type Picture, takePicture } from './picture.ts';
import { Viewers, type Watcher } from './viewers.ts';

/** Reads the fleet, or a part of it, once a second while there are viewers. */
export class LiveStream {
  readonly #source: BoardSource;
  readonly #viewers: Viewers;
  /** Reads the fleet every second while there are viewers; otherwise undefined. */
  #looks: Repeat | undefined;
  /** The last state that was sent; undefined without viewers. */
  #picture: Picture | undefined;
  /** The event `full` of that picture, created when a viewer first needs it. */
  #fullEvent: Promise<RenderedBody> | undefined;
  #isStopped = false;

  constructor(source: BoardSource) {
    this.#source = source;
    this.#viewers = new Viewers(() => this.#full());
  }

  /** Stops watching the fleet, and ends every viewer's stream. */
  stop(): void {
    this.#isStopped = true;
    this.#looks?.stop();
    this.#viewers.close();
  }

  /** The stream of one more viewer; undefined after `stop`. */
  watch(watcher: Watcher): ReadableStream<Uint8Array> | undefined {
    if (this.#isStopped) return undefined;
    const stream = this.#viewers.open(watcher);
    this.#looks ??= repeat(this.#source.clock, () => this.#look());
    return stream;
  }

  async #look(): Promise<number> {
    const before = this.#picture;
    if (this.#viewers.count === 0) {
      this.#looks?.stop();
      [this.#looks, this.#picture, this.#fullEvent] = [undefined, undefined, undefined];
    } else if (before !== undefined) {
      // Without a picture, the first one is being taken.
      const event = await renderBody(this.#event(undefined, before), 'identity', 'view');
      this.#fullEvent = undefined;
      this.#viewers.update(event);
    }
    return this.#untilNextSecond();
  }

  #full(): Promise<RenderedBody> {
    this.#fullEvent ??= renderBody(this.#event(this.#picture), 'identity', 'view');
    return this.#fullEvent;
  }

  /**
   * An event of the stream in blocks of text, from the given picture or a new one. It contains only
   * the changes if the previous picture has the same servers.
   */
  *#event(given: Picture | undefined, before?: Picture): Generator<string, void, void> {
    const picture = given ?? (yield* takePicture(this.#source, before));
    const basis = before?.servers === picture.servers ? before : undefined;
    yield `event: ${basis === undefined ? 'full' : 'delta'}\ndata: `;
    yield* updateText(this.#source.version, basis, picture);
    yield '\n\n';
    if (given === undefined) this.#picture = picture;
  }

  // Aligned to the second, so that a late timer doesn't delay the next one. A slightly early timer
  // waits for the second after.
  #untilNextSecond(): number {
    const half = SECOND_MS / 2;
    return SECOND_MS + half - ((this.#source.clock.now() + half) % SECOND_MS);
  }
}
