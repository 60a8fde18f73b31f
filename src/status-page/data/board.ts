// The data for the page, rendered once for all viewers.
import type { ChartSeries } from '../../domain/recent-history.ts';
import { type Encoding, type RenderedBody, renderBody } from '../../metrics/rendered-body.ts';
import { SharedBodies, VIEWS } from '../../metrics/shared-bodies.ts';
import type { BoardSource } from './board-source.ts';
import { historyText } from './history.ts';
import { jsonView } from './json-view.ts';
import { LiveStream } from './live-stream.ts';
import { targetGroups } from './service-discovery.ts';

/** The data for the status page: the event stream and the documents that it fetches. */
export class StatusBoard {
  readonly stream: LiveStream;
  readonly #source: BoardSource;
  readonly #views: SharedBodies;

  constructor(source: BoardSource) {
    this.stream = new LiveStream(source);
    this.#source = source;
    this.#views = new SharedBodies(source.clock, VIEWS);
  }

  /** Ends every viewer's stream and all rendering. */
  stop(): void {
    this.stream.stop();
    this.#views.stop();
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
   * The last minutes of the servers `<panel>/<id>` as JSON, with the short or the full id. Unknown
   * servers are absent.
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
}
