import type { AnySeries, ServerHistory } from '../data/protocol.ts';
import { MIB } from '../data/words.ts';
import type { LiveFleet } from './live-fleet.ts';
import { Track } from './tracks.ts';

/** Histories per request. */
const BATCH = 60;

/** Delay before a request, in milliseconds: fast scrolling passes rows that nobody looks at. */
const SETTLE_MS = 150;

/** The number of servers whose tracks are kept. */
const MAX_TRACKS = 400;

/** The tracks of the servers that were viewed, fetched from the exporter once and then continued from the stream. */
export class HistoryCache {
  readonly #tracks = new Map<string, Track>();
  /** Servers whose history has been requested since the last connect. */
  readonly #asked = new Set<string>();
  readonly #onNews: () => void;
  #waiting: readonly string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onNews` is called when a history has arrived. */
  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  find(key: string): Track | undefined {
    return this.#tracks.get(key);
  }

  track(key: string): Track {
    const found = this.#tracks.get(key) ?? new Track();
    // Inserted at the end, so that the least recently viewed come first.
    this.#tracks.delete(key);
    this.#tracks.set(key, found);
    for (const oldest of this.#tracks.keys()) {
      if (this.#tracks.size <= MAX_TRACKS) break;
      this.#tracks.delete(oldest);
      this.#asked.delete(oldest);
    }
    return found;
  }

  /** The exporter was restarted or the connection lost, so the histories in between must be fetched again. */
  reconnected(): void {
    this.#asked.clear();
  }

  /** Adds the current values from the stream to every track. */
  follow(fleet: LiveFleet): void {
    for (const [key, track] of this.#tracks) {
      const server = fleet.find(key);
      if (server !== undefined) track.add(fleet.time, valuesOf(fleet, server));
    }
  }

  /** Requests the sparklines of these servers, which are in view. */
  want(keys: readonly string[]): void {
    for (const key of keys) this.track(key);
    this.#waiting = keys.filter((key) => !this.#asked.has(key));
    clearTimeout(this.#timer);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => void this.#ask(), SETTLE_MS);
  }

  /** Fetches the whole history of one server; undefined if it is unavailable. */
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
      // The exporter is unreachable; the stream shows that, and the missing histories are fetched once it is back.
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
