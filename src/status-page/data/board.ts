import type { Cancel, Clock } from '../../domain/clock.ts';
import type { FleetReading, PanelReading, ServerReading } from '../../domain/reading.ts';
import { identityOf } from '../../domain/server.ts';
import { panelViewOf } from '../../metrics/server-view.ts';
import { ATTENTION } from './attention.ts';
import { SERIES } from './history.ts';
import { jsonView, type NetworkRates } from './json-view.ts';
import { type Entry, Ledger, serverKey } from './ledger.ts';
import { LiveEncoder, type Picture } from './live-encoder.ts';
import { explained, nodesDown } from './problems.ts';
import {
  ALL_SERIES,
  type AnySeries,
  HISTORY_SERIES,
  type HistorySeries,
  type PanelStatus,
  type ServerHistory,
  STEP_SECONDS,
} from './protocol.ts';
import { serverAttention, serverTrouble } from './server-attention.ts';
import type { Trouble } from './trouble.ts';
import { event, Viewers, type Watcher } from './viewers.ts';
import { listingStatus } from './words.ts';

const SECOND_MS = 1_000;

interface BoardOptions {
  readonly fleet: FleetReading;
  readonly clock: Clock;
  readonly version: string;
  /** The number of this panel's API calls that were answered with 429. */
  readonly rateLimited: (panel: string) => number;
  /** The address at which people open this panel, if known. */
  readonly panelUrl?: (panel: string) => string | undefined;
  /** The maximum number of concurrent viewers; defaults to 50. */
  readonly maxViewers?: number;
}

/** How urgently a server needs attention, and why. */
export interface Triage {
  /** The rank of its reason among all reasons for attention. */
  readonly urgency: number;
  readonly trouble: Trouble;
}

/** The data behind the status page: observes the fleet once a second, keeps histories, and sends changes to the viewers. */
export class StatusBoard {
  readonly #options: BoardOptions;
  readonly #ledger = new Ledger();
  readonly #viewers: Viewers;
  /** Present while there are viewers. */
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

  /** Stops observing, and ends every viewer's stream. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#viewers.close();
  }

  /** An event stream for one more viewer; undefined after `stop`. */
  watch(watcher: Watcher): ReadableStream<Uint8Array> | undefined {
    return this.#isStopped ? undefined : this.#viewers.open(watcher);
  }

  panels(): readonly PanelStatus[] {
    const { fleet, rateLimited, panelUrl } = this.#options;
    const now = this.#options.clock.now();
    return fleet
      .panels()
      .map((panel) => panelStatus(panel, rateLimited(panel.name), panelUrl?.(panel.name), now));
  }

  /** Every panel and server as JSON, in pieces of text, each a few milliseconds of work. */
  json(): Generator<string, void, void> {
    return jsonView({
      ...this.#options,
      rates: (reading) => this.#rates(reading),
      followed: (reading) => this.#entryOf(reading),
    });
  }

  /** A server's urgency and problem; undefined if it needs no attention. */
  triage(reading: ServerReading): Triage | undefined {
    const now = this.#options.clock.now();
    const followed = this.#entryOf(reading);
    const attention = serverAttention(reading, now, followed);
    const trouble = attention && serverTrouble(reading, now, followed);
    return attention && trouble && { urgency: ATTENTION.indexOf(attention), trouble };
  }

  #entryOf({ target }: ServerReading): Entry | undefined {
    return this.#ledger.find(serverKey(target.panel, target.id));
  }

  #rates(server: ServerReading): NetworkRates {
    const entry = this.#entryOf(server);
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

  /** The last minutes of one server; undefined if there is no server with this key. */
  history(key: string, wanted: readonly AnySeries[] = ALL_SERIES): ServerHistory | undefined {
    const entry = this.#ledger.find(key);
    return entry === undefined ? undefined : this.#historyOf(entry, wanted);
  }

  #historyOf(entry: Entry, wanted: readonly AnySeries[]): ServerHistory {
    const { target } = entry.reading;
    const end = this.#options.clock.toUnixMs(this.#ledger.newestPointAt(entry));
    return {
      panel: target.panel,
      server_id: identityOf(target),
      step_seconds: STEP_SECONDS,
      end_timestamp_seconds: Math.round(end / SECOND_MS),
      series: Object.fromEntries(
        wanted.flatMap((name) => {
          const values = name === 'players' ? this.#ledger.players(entry) : this.#seriesOf(entry, name);
          return values === undefined ? [] : [[name, values] as const];
        }),
      ),
      state_changes: this.#ledger.changes(entry),
      stops: entry.reading.stops,
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
    this.#notifyViewers();
    this.#cancel = clock.schedule(untilNextSecond(clock.now()), () => this.#look());
  }

  #notifyViewers(): void {
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

// Aligned to the second, so that a late timer doesn't delay the next one; a slightly early timer waits for the second after.
function untilNextSecond(now: number): number {
  const half = SECOND_MS / 2;
  return SECOND_MS + half - ((now + half) % SECOND_MS);
}

// A 32-bit float holds seven digits, and a chart shows fewer.
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toPrecision(6));
}

/**
 * A panel as the page shows it; `rateLimited` is its number of 429 answers, and `url` the address at which people open it.
 */
function panelStatus(
  panel: PanelReading,
  rateLimited: number,
  url: string | undefined,
  now: number,
): PanelStatus {
  const { budget, needs, discovery } = panel;
  const { name, up, problems, nodes } = panelViewOf(panel, now);
  return {
    name,
    url,
    up,
    problems: problems.map(explained),
    nodesDown: nodesDown(nodes),
    listing: listingStatus(discovery, problems.length > 0),
    limitPerMinute: Math.round(budget.limitPerMinute),
    usedLastMinute: budget.usedLastMinute,
    queueLength: budget.queueLength,
    paused: budget.paused,
    rateLimited,
    requiredCallsPerMinute: Math.ceil(needs.requiredCallsPerMinute),
    requiredSockets: needs.requiredSockets,
    allowedSockets: Number.isFinite(needs.allowedSockets) ? needs.allowedSockets : undefined,
    polls: needs.polls,
  };
}
