import type { LiveUpdate } from '../data/live-update.ts';
import { Page } from './page.tsx';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;

/** A connection without an event for this many milliseconds is dead, because the exporter sends one every second. */
const SILENCE_MS = 15_000;

/** Listens to the exporter's stream, and reconnects for as long as the page is open. */
class Stream {
  readonly #address: string;
  readonly #page: Page;
  #source: EventSource | undefined;
  #retryMs = FIRST_RETRY_MS;
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string, page: Page) {
    this.#address = address;
    this.#page = page;
  }

  start(): void {
    const source = new EventSource(this.#address);
    this.#source = source;
    this.#expect(source);
    source.addEventListener('full', ({ data }: MessageEvent<string>) => {
      this.#retryMs = FIRST_RETRY_MS;
      this.#expect(source);
      this.#page.full(JSON.parse(data) as LiveUpdate);
    });
    source.addEventListener('delta', ({ data }: MessageEvent<string>) => {
      this.#expect(source);
      this.#page.delta(JSON.parse(data) as LiveUpdate);
    });
    // The browser's own retry gives up at the first response that isn't an event stream, such as a proxy's 502.
    source.addEventListener('error', () => this.#lose(source));
  }

  #expect(source: EventSource): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#lose(source), SILENCE_MS);
  }

  #lose(source: EventSource): void {
    if (source !== this.#source) return;
    clearTimeout(this.#silence);
    source.close();
    this.#source = undefined;
    this.#page.lost();
    setTimeout(() => this.start(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 1.5, LONGEST_RETRY_MS);
  }
}

new Stream('api/v1/stream', new Page()).start();
