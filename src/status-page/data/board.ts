import type { Cancel, Clock } from '../../domain/clock.ts';
import {
  type ChartSeries,
  type FleetReading,
  type ServerReading,
  STEP_SECONDS,
} from '../../domain/reading.ts';
import { identityOf } from '../../domain/server.ts';
import { type Encoding, type RenderedBody, renderBody } from '../../metrics/rendered-body.ts';
import { SharedBodies, VIEWS } from '../../metrics/shared-bodies.ts';
import { arrayText, objectText } from './json-text.ts';
import { jsonView } from './json-view.ts';
import { LiveEncoder, type Picture } from './live-encoder.ts';
import { type PanelFacts, panelsStatus } from './panel-status.ts';
import type { HistoryView } from './protocol.ts';
import { targetGroups } from './service-discovery.ts';
import { event, Viewers, type Watcher } from './viewers.ts';

const SECOND_MS = 1_000;

interface BoardOptions extends PanelFacts {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** The maximum number of concurrent viewers; defaults to 50. */
  readonly maxViewers?: number;
}

/** The data behind the status page. While there are viewers, it looks at the fleet once a second and sends them what changed. */
export class StatusBoard {
  readonly #options: BoardOptions;
  readonly #viewers: Viewers;
  readonly #views: SharedBodies;
  /** Present while there are viewers. */
  #encoder: LiveEncoder | undefined;
  /** Cancels the next look at the fleet; present while there are viewers. */
  #cancel: Cancel | undefined;
  #isStopped = false;
  /** The servers by their keys, for the list that it was made from. */
  #servers: readonly ServerReading[] = [];
  #byKey: ReadonlyMap<string, ServerReading> = new Map();

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#views = new SharedBodies(options.clock, VIEWS);
    this.#viewers = new Viewers(() => this.#full(), options.maxViewers);
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
    return this.#view(what, () => this.#historyText(keys, series), encoding);
  }

  #view(what: string, blocks: () => Iterable<string>, encoding: Encoding): Promise<RenderedBody> {
    return this.#views.get(`${encoding} ${what}`, () => renderBody(blocks(), encoding, 'view'));
  }

  *#historyText(keys: readonly string[], series: readonly ChartSeries[]): Generator<string, void, void> {
    const histories: HistoryView[] = [];
    for (const key of keys) {
      const found = this.#history(key, series);
      if (found !== undefined) histories.push(found);
      yield '';
    }
    yield* objectText([['servers', arrayText(histories, (found) => found)]]);
  }

  /** The last minutes of a server; undefined if there is none with this key. */
  #history(key: string, wanted: readonly ChartSeries[]): HistoryView | undefined {
    const { clock } = this.#options;
    const slash = key.lastIndexOf('/');
    const server = this.#find(keyOf(key.slice(0, slash), key.slice(slash + 1)));
    if (server === undefined) return undefined;
    const now = clock.now();
    const { series, ...history } = server.history(now, clock);
    return {
      panel: server.target.panel,
      server_id: identityOf(server.target),
      step_seconds: STEP_SECONDS,
      ...history,
      series: Object.fromEntries(
        wanted.flatMap((name) => (series[name] === undefined ? [] : [[name, series[name]]])),
      ),
      stops: server.snapshot(now, clock).stops,
    };
  }

  #find(key: string): ServerReading | undefined {
    const servers = this.#options.fleet.servers();
    if (servers !== this.#servers) {
      this.#servers = servers;
      this.#byKey = new Map(servers.map((server) => [keyOf(server.target.panel, server.target.id), server]));
    }
    return this.#byKey.get(key);
  }

  #scheduleLook(): void {
    const { clock } = this.#options;
    this.#cancel = clock.schedule(untilNextSecond(clock.now()), () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#viewers.count > 0) await this.#viewers.update(() => this.#changes());
    this.#cancel = undefined;
    if (this.#isStopped) return;
    if (this.#viewers.count > 0) this.#scheduleLook();
    else this.#encoder = undefined;
  }

  /** What changed since the last look; undefined if there are other servers. */
  async #changes(): Promise<RenderedBody | undefined> {
    const picture = this.#picture();
    if (this.#encoder?.fits(picture.servers) !== true) return undefined;
    return renderBody(event('delta', this.#encoder.delta(picture)), 'identity', 'view');
  }

  #full(): Promise<RenderedBody> {
    const { version, clock } = this.#options;
    const picture = this.#picture();
    if (this.#encoder?.fits(picture.servers) !== true) {
      this.#encoder = new LiveEncoder(picture.servers, version, clock);
    }
    return renderBody(event('full', this.#encoder.full(picture)), 'identity', 'view');
  }

  #picture(): Picture {
    const { fleet, clock } = this.#options;
    const now = clock.now();
    return { servers: fleet.servers(), status: panelsStatus(fleet, now, this.#options), now };
  }
}

/** A server's key, the same for its short and its full id. */
function keyOf(panel: string, id: string): string {
  return `${panel}/${identityOf({ id })}`;
}

// Aligned to the second, so that a late timer doesn't delay the next one; a slightly early timer waits for the second after.
function untilNextSecond(now: number): number {
  const half = SECOND_MS / 2;
  return SECOND_MS + half - ((now + half) % SECOND_MS);
}
