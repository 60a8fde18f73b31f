// The data behind the page, rendered once for all who ask.
import type { ChartSeries } from '../../domain/reading.ts';
import { type Repeat, repeat } from '../../domain/repeat.ts';
import {
  type Encoding,
  type RenderedBody,
  renderBody,
  SharedBodies,
  VIEWS,
} from '../../metrics/rendered-body.ts';
import type { BoardSource } from './board-source.ts';
import { historyText } from './history.ts';
import { jsonView } from './json-view.ts';
import { updateText } from './live-update.ts';
import { type Picture, takePicture } from './picture.ts';
import { targetGroups } from './service-discovery.ts';
import { Viewers, type Watcher } from './viewers.ts';

const SECOND_MS = 1_000;

/**
 * The data behind the status page. While there are viewers, it looks at the fleet, or a part of it,
 * once a second.
 */
export class StatusBoard {
  readonly #source: BoardSource;
  readonly #viewers: Viewers;
  readonly #views: SharedBodies;
  /** The looks at the fleet; present while there are viewers. */
  #looks: Repeat | undefined;
  /** What the viewers were sent last; present while there are viewers. */
  #picture: Picture | undefined;
  /** Everything in that picture, once somebody needs it. */
  #fullEvent: Promise<RenderedBody> | undefined;
  #isStopped = false;

  constructor(source: BoardSource) {
    this.#source = source;
    this.#views = new SharedBodies(source.clock, VIEWS);
    this.#viewers = new Viewers(() => this.#full());
  }

  /** Stops watching the fleet, and ends every viewer's stream. */
  stop(): void {
    this.#isStopped = true;
    this.#looks?.stop();
    this.#viewers.close();
    this.#views.stop();
  }

  /** An event stream for one more viewer; undefined after `stop`. */
  watch(watcher: Watcher): ReadableStream<Uint8Array> | undefined {
    if (this.#isStopped) return undefined;
    const stream = this.#viewers.open(watcher);
    this.#looks ??= repeat(this.#source.clock, () => this.#look());
    return stream;
  }

  /** Every panel and server as JSON. */
  servers(encoding: Encoding): Promise<RenderedBody> {
    return this.#view('servers', () => jsonView(this.#source), encoding);
  }

  /** The servers' addresses for Prometheus. */
  targets(encoding: Encoding): Promise<RenderedBody> {
    return this.#view('targets', () => targetGroups(this.#source.fleet), encoding);
  }

  /**
   * The last minutes of the servers `<panel>/<id>`, with the short or the full id, as JSON; unknown
   * ones are absent.
   */
  histories(
    keys: readonly string[],
    series: readonly ChartSeries[],
    encoding: Encoding,
  ): Promise<RenderedBody> {
    const what = JSON.stringify([keys, series]);
    return this.#view(what, () => historyText(this.#source, keys, series), encoding);
  }

  #view(what: string, blocks: () => Iterable<string>, encoding: Encoding): Promise<RenderedBody> {
    return this.#views.get(`${encoding} ${what}`, () => renderBody(blocks(), encoding, 'view'));
  }

  async #look(): Promise<number> {
    const before = this.#picture;
    if (this.#viewers.count === 0) {
      this.#looks?.stop();
      [this.#looks, this.#picture, this.#fullEvent] = [undefined, undefined, undefined];
    } else if (before !== undefined) {
      // Without a picture, the first viewer's is still being taken.
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
   * An event of the stream, in blocks of text; its data is one line of JSON: what a picture shows,
   * a new one unless it is given, or what changed since another one, unless there are other
   * servers.
   */
  *#event(given: Picture | undefined, before?: Picture): Generator<string, void, void> {
    const picture = given ?? (yield* takePicture(this.#source, before));
    const basis = before?.servers === picture.servers ? before : undefined;
    yield `event: ${basis === undefined ? 'full' : 'delta'}\ndata: `;
    yield* updateText(this.#source.version, basis, picture);
    yield '\n\n';
    if (given === undefined) this.#picture = picture;
  }

  // Aligned to the second, so that a late timer doesn't delay the next one; a slightly early timer
  // waits for the second after.
  #untilNextSecond(): number {
    const half = SECOND_MS / 2;
    return SECOND_MS + half - ((this.#source.clock.now() + half) % SECOND_MS);
  }
}
