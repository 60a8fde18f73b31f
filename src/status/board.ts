import type { Cancel, Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import { SERIES } from './history.ts';
import { type Entry, Ledger } from './ledger.ts';
import { LiveEncoder, type Picture } from './live-encoder.ts';
import { panelStatus } from './panel-status.ts';
import {
  HISTORY_SERIES,
  type HistorySeries,
  type PanelStatus,
  type ServerHistory,
  STEP_SECONDS,
} from './protocol.ts';
import { event, Viewers } from './viewers.ts';

const SECOND_MS = 1_000;

interface BoardOptions {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** Calls of this panel that were answered with 429. */
  readonly rateLimited: (panel: string) => number;
  /** Viewers at once, 50 unless said. */
  readonly maxViewers?: number;
}

/** What the status page lives on: looks at the fleet once a second, and tells those who watch. */
export class StatusBoard {
  readonly #options: BoardOptions;
  readonly #ledger = new Ledger();
  readonly #viewers: Viewers;
  /** While somebody watches. */
  #encoder: LiveEncoder | undefined;
  #cancel: Cancel = () => {};
  #isStopped = false;

  constructor(options: BoardOptions) {
    this.#options = options;
    this.#viewers = new Viewers(
      () => event('full', this.#encoderOf(this.#picture()).full()),
      options.maxViewers,
    );
  }

  start(): void {
    this.#look();
  }

  /** Ends the looking, and every viewer's stream. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#viewers.close();
  }

  /** A stream of events for one more viewer; undefined where there are too many, or it has stopped. */
  watch(): ReadableStream<Uint8Array> | undefined {
    return this.#isStopped ? undefined : this.#viewers.open();
  }

  panels(): readonly PanelStatus[] {
    const { fleet, rateLimited } = this.#options;
    return fleet.panels().map((panel) => panelStatus(panel, rateLimited(panel.name)));
  }

  /** Network rates of a server over its last two steps, in bytes a second; NaN where none is known. */
  rates(key: string): { readonly receive: number; readonly transmit: number } {
    const entry = this.#ledger.find(key);
    const { sample, sampledAt } = entry?.reading ?? {};
    if (entry === undefined || sample === undefined || sampledAt === undefined) {
      return { receive: Number.NaN, transmit: Number.NaN };
    }
    const { traffic } = entry;
    return {
      receive: traffic.receiveRate(sample, sampledAt),
      transmit: traffic.transmitRate(sample, sampledAt),
    };
  }

  /** The last minutes of one server; undefined where there is none of this key. */
  history(key: string, wanted: readonly HistorySeries[] = HISTORY_SERIES): ServerHistory | undefined {
    const entry = this.#ledger.find(key);
    return entry === undefined ? undefined : this.#historyOf(entry, wanted);
  }

  #historyOf(entry: Entry, wanted: readonly HistorySeries[]): ServerHistory {
    const { target } = entry.reading;
    const end = this.#options.clock.toUnixMs(this.#ledger.newestPointAt(entry));
    return {
      panel: target.panel,
      server_id: target.id,
      step_seconds: STEP_SECONDS,
      end_timestamp_seconds: Math.round(end / SECOND_MS),
      series: Object.fromEntries(wanted.map((name) => [name, this.#seriesOf(entry, name)])),
      state_changes: this.#ledger.changes(entry),
    };
  }

  #seriesOf(entry: Entry, name: HistorySeries): (number | null)[] {
    const series = SERIES[HISTORY_SERIES.indexOf(name)];
    return series === undefined ? [] : this.#ledger.series(entry, series).map(rounded);
  }

  #look(): void {
    const { fleet, clock } = this.#options;
    const now = clock.now();
    this.#ledger.observe(fleet.servers(), now, clock.toUnixMs(now));
    this.#tell();
    this.#cancel = clock.schedule(untilNextSecond(clock.now()), () => this.#look());
  }

  #tell(): void {
    if (this.#viewers.count === 0) {
      this.#encoder = undefined;
      return;
    }
    const picture = this.#picture();
    const isSame = this.#encoder?.fits(picture.entries) === true;
    const encoder = this.#encoderOf(picture);
    this.#viewers.send(isSame ? event('delta', encoder.delta(picture)) : undefined);
  }

  #picture(): Picture {
    return { entries: this.#ledger.entries, panels: this.panels(), now: this.#options.clock.now() };
  }

  #encoderOf(picture: Picture): LiveEncoder {
    const { version, clock } = this.#options;
    if (this.#encoder?.fits(picture.entries) !== true) {
      this.#encoder = new LiveEncoder(picture, version, clock);
    }
    return this.#encoder;
  }
}

// On the second, so that a late timer makes the next no later; one that came a little early means the second after.
function untilNextSecond(now: number): number {
  const half = SECOND_MS / 2;
  return SECOND_MS + half - ((now + half) % SECOND_MS);
}

// Seven digits are all that a 32-bit float holds; a chart shows fewer.
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(6));
}
