import type { Cancel, Clock } from '../../domain/clock.ts';
import type { ChartSeries, FleetReading } from '../../domain/reading.ts';
import { type Encoding, type RenderedBody, renderBody } from '../../metrics/rendered-body.ts';
import { SharedBodies, VIEWS } from '../../metrics/shared-bodies.ts';
import { historyText } from './history-view.ts';
import { jsonView } from './json-view.ts';
import { type Picture, takePicture, updateText } from './live-update.ts';
import { type PanelFacts, panelsStatus } from './panel-status.ts';
import { targetGroups } from './service-discovery.ts';
import { Viewers, type Watcher } from './viewers.ts';

const SECOND_MS = 1_000;

interface BoardOptions extends PanelFacts {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
}

/** The data behind the status page. While there are viewers, it looks at the fleet once a second and sends them what changed. */
export class StatusBoard {
  readonly #options: BoardOptions;
  readonly #viewers: Viewers;
  readonly #views: SharedBodies;
  /** What the viewers were sent last; present while there are viewers. */
  #picture: Picture | undefined;
  /** Everything in that picture, once somebody needs it. */
  #fullEvent: Promise<RenderedBody> | undefined;
  /** Cancels the next look at the fleet; present while there are viewers. */
  #cancel: Cancel | undefined;
  #isStopped = false;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#views = new SharedBodies(options.clock, VIEWS);
    this.#viewers = new Viewers(() => this.#full());
  }

  /** Stops watching the fleet, and ends every viewer's stream. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#viewers.close();
    this.#views.stop();
  }

  /** An event stream for one more viewer; undefined after `stop`. */
  watch(watcher: Watcher): ReadableStream<Uint8Array> | undefined {
    if (this.#isStopped) return undefined;
    if (this.#cancel === undefined) this.#scheduleLook();
    return this.#viewers.open(watcher);
  }

  /** Every panel and server as JSON. */
  servers(encoding: Encoding): Promise<RenderedBody> {
    return this.#view('servers', () => jsonView(this.#options), encoding);
  }

  /** The servers' addresses for Prometheus. */
  targets(encoding: Encoding): Promise<RenderedBody> {
    return this.#view('targets', () => targetGroups(this.#options.fleet), encoding);
  }

  /** The last minutes of the servers `<panel>/<id>`, with the short or the full id, as JSON; unknown ones are absent. */
  histories(
    keys: readonly string[],
    series: readonly ChartSeries[],
    encoding: Encoding,
  ): Promise<RenderedBody> {
    const what = JSON.stringify([keys, series]);
    return this.#view(what, () => historyText(this.#options, keys, series), encoding);
  }

  #view(what: string, blocks: () => Iterable<string>, encoding: Encoding): Promise<RenderedBody> {
    return this.#views.get(`${encoding} ${what}`, () => renderBody(blocks(), encoding, 'view'));
  }

  #scheduleLook(): void {
    const { clock } = this.#options;
    this.#cancel = clock.schedule(untilNextSecond(clock.now()), () => void this.#look());
  }

  async #look(): Promise<void> {
    const before = this.#picture;
    // Without one, the first viewer's is still being taken.
    if (this.#viewers.count > 0 && before !== undefined) {
      const event = await renderBody(this.#change(before), 'identity', 'view');
      this.#fullEvent = undefined;
      this.#viewers.update(event);
    }
    this.#cancel = undefined;
    if (this.#isStopped) return;
    if (this.#viewers.count > 0) this.#scheduleLook();
    else [this.#picture, this.#fullEvent] = [undefined, undefined];
  }

  #full(): Promise<RenderedBody> {
    this.#fullEvent ??= renderBody(this.#everything(this.#picture), 'identity', 'view');
    return this.#fullEvent;
  }

  /** What changed since this picture; everything if there are other servers. */
  *#change(before: Picture): Generator<string, void, void> {
    const { fleet, version } = this.#options;
    const picture = yield* this.#take();
    const isSameFleet = fleet.servers() === before.servers;
    const text = updateText(version, isSameFleet ? before : undefined, picture);
    yield* event(isSameFleet ? 'delta' : 'full', text);
    this.#picture = picture;
  }

  *#everything(known: Picture | undefined): Generator<string, void, void> {
    const picture = known ?? (yield* this.#take());
    yield* event('full', updateText(this.#options.version, undefined, picture));
    this.#picture ??= picture;
  }

  #take(): Generator<'', Picture, void> {
    const { fleet, clock } = this.#options;
    const now = clock.now();
    return takePicture(fleet.servers(), panelsStatus(fleet, now, this.#options), now, clock);
  }
}

/** An event of an event stream, in blocks of text; its data is one line of JSON. */
function* event(name: string, data: Iterable<string>): Generator<string, void, void> {
  yield `event: ${name}\ndata: `;
  yield* data;
  yield '\n\n';
}

// Aligned to the second, so that a late timer doesn't delay the next one; a slightly early timer waits for the second after.
function untilNextSecond(now: number): number {
  const half = SECOND_MS / 2;
  return SECOND_MS + half - ((now + half) % SECOND_MS);
}
