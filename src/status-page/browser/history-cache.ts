import type { AnySeries, ServerHistory } from '../data/protocol.ts';
import type { LiveFleet } from './live-fleet.ts';
import { Track } from './tracks.ts';

const MIB = 1_048_576;

/** Histories that are asked for at once. */
const BATCH = 60;

/** Scrolling fast passes rows that nobody looks at. */
const SETTLE_MS = 150;

/** Tracks of this many servers are kept. */
const MAX_TRACKS = 400;

/** The tracks of the servers that were looked at, fetched from the exporter once and then continued from the stream. */
export class HistoryCache {
  readonly #tracks = new Map<string, Track>();
  /** Servers whose history has been asked for since the last connect. */
  readonly #asked = new Set<string>();
  readonly #onNews: () => void;
  #waiting: readonly string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onNews` is called when a history has come. */
  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  find(key: string): Track | undefined {
    return this.#tracks.get(key);
  }

  track(key: string): Track {
    const found = this.#tracks.get(key) ?? new Track();
    // Put last, so that those that were not looked at for longest come first.
    this.#tracks.delete(key);
    this.#tracks.set(key, found);
    for (const oldest of this.#tracks.keys()) {
      if (this.#tracks.size <= MAX_TRACKS) break;
      this.#tracks.delete(oldest);
      this.#asked.delete(oldest);
    }
    return found;
  }

  /** The exporter was restarted, or the connection gone: what came meanwhile must be asked for. */
  reconnected(): void {
    this.#asked.clear();
  }

  /** Takes on what the stream says now of every server with a track. */
  follow(fleet: LiveFleet): void {
    for (const [key, track] of this.#tracks) {
      const server = fleet.find(key);
      if (server !== undefined) track.add(fleet.time, valuesOf(fleet, server));
    }
  }

  /** These servers are seen: their sparklines are wanted. */
  want(keys: readonly string[]): void {
    for (const key of keys) this.track(key);
    this.#waiting = keys.filter((key) => !this.#asked.has(key));
    clearTimeout(this.#timer);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => void this.#ask(), SETTLE_MS);
  }

  /** Asks for all that is remembered of one server; undefined where it can't be had. */
  async refresh(key: string): Promise<ServerHistory | undefined> {
    const [history] = await this.#fetch([key]);
    return history;
  }

  async #ask(): Promise<void> {
    const keys = this.#waiting.slice(0, BATCH);
    for (const key of keys) this.#asked.add(key);
    const histories = await this.#fetch(keys, ['cpu_usage_cores']);
    if (histories.length === 0) for (const key of keys) this.#asked.delete(key);
  }

  async #fetch(
    keys: readonly string[],
    series: readonly AnySeries[] = [],
  ): Promise<readonly ServerHistory[]> {
    const query = new URLSearchParams();
    for (const key of keys) query.append('server', key);
    for (const name of series) query.append('series', name);
    try {
      const response = await fetch(`api/v1/history?${query.toString()}`);
      if (!response.ok) return [];
      const { servers } = (await response.json()) as { readonly servers: readonly ServerHistory[] };
      for (const history of servers) this.track(`${history.panel}/${history.server_id}`).remember(history);
      this.#onNews();
      return servers;
    } catch {
      // The exporter is away; the stream says so, and what is missing is asked for when it is back.
      return [];
    }
  }
}

function valuesOf(fleet: LiveFleet, server: number): Readonly<Record<AnySeries, number>> {
  const known = (value: number, factor = 1) => (value < 0 ? Number.NaN : value * factor);
  return {
    cpu_usage_cores: known(fleet.value('cpu', server), 1 / 100),
    memory_usage_bytes: known(fleet.value('memory', server), MIB),
    network_receive_bytes_per_second: known(fleet.value('receive', server)),
    network_transmit_bytes_per_second: known(fleet.value('transmit', server)),
    players: known(fleet.value('players', server)),
  };
}
