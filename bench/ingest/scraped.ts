// Scrapes the exporter for the lateness of its samples.

import { getExposition } from '../fleet/exposition.ts';
import { type Lateness, lateness } from './lateness.ts';

/** The measurements of one scrape. */
export interface Scraped {
  /** The time from the request to the last byte of the compressed response. */
  readonly tookMs: number;
  readonly lateness: Lateness;
}

const SAMPLED = 'gameserver_last_sample_timestamp_seconds{';

/**
 * Scrapes the exporter. The age of a sample is measured at the time of the request, which
 * Prometheus uses as the timestamp of the scrape. A sample that arrived during the response has age
 * 0.
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
  // Servers without a sample count as infinitely late.
  while (agesMs.length < servers) agesMs.push(Infinity);
  return { tookMs, lateness: lateness(agesMs) };
}
