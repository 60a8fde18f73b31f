import { type ChartSeries, STEP_SECONDS } from '../../domain/reading.ts';
import type { ServerHistory } from '../data/protocol.ts';

/** Histories per request. */
const BATCH = 60;

/** Delay before a request, in milliseconds: fast scrolling passes rows that nobody looks at. */
const SETTLE_MS = 150;

/** What is drawn in a row. */
const ROW_SERIES: readonly ChartSeries[] = ['cpu_usage_cores'];

/** The histories of the servers in view, as the exporter last sent them. */
export class Histories {
  #rows: ReadonlyMap<string, ServerHistory> = new Map();
  #shown: readonly string[] = [];
  #askedAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onNews: () => void;

  /** `onNews` is called when histories of rows have arrived. */
  constructor(onNews: () => void) {
    this.#onNews = onNews;
  }

  /** The CPU usage of a row, oldest first. */
  cpuOf(key: string): readonly (number | null)[] {
    return this.#rows.get(key)?.series.cpu_usage_cores ?? [];
  }

  /** These servers' rows are in view now. */
  show(keys: readonly string[]): void {
    this.#shown = keys;
    if (keys.some((key) => !this.#rows.has(key))) this.#askSoon();
  }

  /** Requests the rows' histories when they have a new point, by this Unix time in seconds. */
  follow(time: number): void {
    if (Math.abs(time - this.#askedAt) < STEP_SECONDS || this.#shown.length === 0) return;
    this.#askedAt = time;
    this.#askSoon();
  }

  /** The whole history of one server; undefined if it is unavailable. */
  async of(key: string): Promise<ServerHistory | undefined> {
    const [history] = await fetchHistories([key], []);
    return history;
  }

  #askSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#ask(), SETTLE_MS);
  }

  async #ask(): Promise<void> {
    // The rows may have left the view meanwhile.
    if (this.#shown.length === 0) return;
    const histories = await fetchHistories(this.#shown.slice(0, BATCH), ROW_SERIES);
    if (histories.length === 0) return;
    this.#rows = new Map(histories.map((history) => [`${history.panel}/${history.server_id}`, history]));
    this.#onNews();
  }
}

/** Resolves to an empty list if the exporter is unreachable, which the stream shows. */
async function fetchHistories(
  keys: readonly string[],
  series: readonly ChartSeries[],
): Promise<readonly ServerHistory[]> {
  const query = new URLSearchParams();
  for (const key of keys) query.append('server', key);
  for (const name of series) query.append('series', name);
  try {
    const response = await fetch(`api/v1/history?${query.toString()}`);
    if (!response.ok) return [];
    const { servers } = (await response.json()) as { readonly servers: readonly ServerHistory[] };
    return servers;
  } catch {
    return [];
  }
}
