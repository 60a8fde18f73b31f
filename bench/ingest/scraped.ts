import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Lateness, lateness } from './lateness.ts';

/** What one scrape of the exporter says of its ingest. */
export interface Scraped {
  /** The newest sample's time, which is when it was rendered to within the panel's 50 ms between two bursts. */
  readonly newestSampleUnixMs: number;
  /** From asking to the last byte of the compressed answer. */
  readonly tookMs: number;
  readonly streaming: number;
  readonly statsFrames: number;
  readonly lateness: Lateness;
}

const SAMPLED = 'gameserver_last_sample_timestamp_seconds{';
const STREAMING = /^gameserver_exporter_servers\{[^}]*condition="streaming"[^}]*\} (\d+)/m;
const STATS_FRAMES = /^gameserver_exporter_messages_total\{[^}]*event="stats"[^}]*\} (\d+)/m;

/**
 * Scrapes the exporter. A sample's age is counted to the moment of asking, which is the timestamp that Prometheus gives
 * the scrape; one that came while the answer was made has no age.
 */
export async function scrapeExporter(url: string, servers: number): Promise<Scraped> {
  const askedUnixMs = Date.now();
  const askedAt = performance.now();
  const response = await getMetrics(url);
  const compressed = await buffer(response);
  const tookMs = performance.now() - askedAt;
  const exposition = (await promisify(gunzip)(compressed)).toString();
  const agesMs: number[] = [];
  let newestSampleUnixMs = 0;
  for (let from = exposition.indexOf(SAMPLED); from !== -1; ) {
    const end = exposition.indexOf('\n', from);
    const line = exposition.slice(from, end);
    const sampledUnixMs = Number(line.slice(line.lastIndexOf(' ') + 1)) * 1_000;
    newestSampleUnixMs = Math.max(newestSampleUnixMs, sampledUnixMs);
    agesMs.push(Math.max(0, askedUnixMs - sampledUnixMs));
    from = exposition.startsWith(SAMPLED, end + 1) ? end + 1 : -1;
  }
  // A server without a sample is as late as can be.
  while (agesMs.length < servers) agesMs.push(Infinity);
  return {
    newestSampleUnixMs,
    tookMs,
    streaming: Number(STREAMING.exec(exposition)?.[1] ?? 0),
    statsFrames: Number(STATS_FRAMES.exec(exposition)?.[1] ?? 0),
    lateness: lateness(agesMs),
  };
}

/** Asks as Prometheus does, with gzip. */
function getMetrics(url: string): Promise<IncomingMessage> {
  const headers = { 'Accept-Encoding': 'gzip' };
  return new Promise((resolve, reject) => {
    get(`${url}/metrics`, { headers }, resolve).on('error', reject);
  });
}
