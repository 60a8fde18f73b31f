// The connection to the exporter's stream, which is reopened as long as the page is open.
import type { LiveUpdate } from '../data/live-update.ts';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;

/**
 * Without an event for this long, a connection is dead, because the exporter sends one every
 * second.
 */
const SILENCE_MS = 15_000;

/** How often the page is updated while the connection is lost, so that its ages grow. */
const TICK_MS = 1_000;

export interface StreamEvents {
  readonly received: (type: 'full' | 'delta', update: LiveUpdate) => void;
  /** Called every second while the connection is lost. */
  readonly lost: (silentSeconds: number) => void;
}

export class Stream {
  readonly #events: StreamEvents;
  /**
   * The browser's clock at the last event, in milliseconds. Before the first event, when the page
   * was opened.
   */
  #heardAt = Date.now();
  #isLost = false;
  #retryMs = FIRST_RETRY_MS;
  #tick: ReturnType<typeof setTimeout> | undefined;

  constructor(events: StreamEvents) {
    this.#events = events;
  }

  /** Seconds since the last event; undefined unless the connection is lost. */
  get silentSeconds(): number | undefined {
    return this.#isLost ? (Date.now() - this.#heardAt) / 1_000 : undefined;
  }

  open(): void {
    const source = new EventSource('api/v1/stream');
    const lose = () => {
      clearTimeout(silence);
      source.close();
      if (!this.#isLost) {
        this.#isLost = true;
        this.#tell();
      }
      setTimeout(() => this.open(), this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 1.5, LONGEST_RETRY_MS);
    };
    let silence = setTimeout(lose, SILENCE_MS);
    const receive = ({ type, data }: MessageEvent<string>) => {
      clearTimeout(silence);
      clearTimeout(this.#tick);
      silence = setTimeout(lose, SILENCE_MS);
      this.#retryMs = FIRST_RETRY_MS;
      this.#isLost = false;
      this.#heardAt = Date.now();
      this.#events.received(type === 'full' ? 'full' : 'delta', JSON.parse(data) as LiveUpdate);
    };
    source.addEventListener('full', receive);
    source.addEventListener('delta', receive);
    // The browser stops retrying after a response that isn't an event stream, such as a proxy's
    // 502.
    source.addEventListener('error', lose);
  }

  #tell(): void {
    this.#events.lost(this.silentSeconds ?? 0);
    this.#tick = setTimeout(() => this.#tell(), TICK_MS);
  }
}
