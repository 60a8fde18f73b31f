import { getExposition } from '../fleet/exposition.ts';
import { type Lateness, lateness } from './lateness.ts';

/** What one scrape of the exporter shows about its ingest. */
export interface Scraped {
  /** From the request to the last byte of the compressed response. */
  readonly tookMs: number;
  readonly lateness: Lateness;
}

const SAMPLED = 'gameserver_last_sample_timestamp_seconds{';

/**
 * Scrapes the exporter. A sample's age is measured at the time of the request, which is the timestamp that Prometheus gives
 * the scrape; a sample that arrived during the response has age 0.
 */
export async function scrapeExporter(url: string, servers: number): Promise<Scraped> {
  const { text, askedUnixMs, tookMs } = await getExposition(url);
  const agesMs: number[] = [];
  for (let from = text.indexOf(SAMPLED); from !== -1; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end);
    const sampledUnixMs = Number(line.slice(line.lastIndexOf(' ') + 1)) * 1_000;
    agesMs.push(Math.max(0, askedUnixMs - sampledUnixMs));
    from = text.startsWith(SAMPLED, end + 1) ? end + 1 : -1;
  }
  // A server without a sample counts as infinitely late.
  while (agesMs.length < servers) agesMs.push(Infinity);
  return { tookMs, lateness: lateness(agesMs) };
}
