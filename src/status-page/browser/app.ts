import type { LiveUpdate } from '../data/live-update.ts';
import { Page } from './page.tsx';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;

/** A connection without an event for this many milliseconds is dead, because the exporter sends one every second. */
const SILENCE_MS = 15_000;

/** Listens to the exporter's stream, and reconnects for as long as the page is open. */
function listen(page: Page, firstRetryMs = FIRST_RETRY_MS): void {
  const source = new EventSource('api/v1/stream');
  let retryMs = firstRetryMs;
  let silence = setTimeout(lose, SILENCE_MS);

  function lose(): void {
    clearTimeout(silence);
    source.close();
    page.lost();
    setTimeout(() => listen(page, Math.min(retryMs * 1.5, LONGEST_RETRY_MS)), retryMs);
  }

  for (const name of ['full', 'delta'] as const) {
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      clearTimeout(silence);
      silence = setTimeout(lose, SILENCE_MS);
      retryMs = FIRST_RETRY_MS;
      page[name](JSON.parse(data) as LiveUpdate);
    });
  }
  // The browser's own retry gives up at the first response that isn't an event stream, such as a proxy's 502.
  source.addEventListener('error', lose);
}

listen(new Page());
