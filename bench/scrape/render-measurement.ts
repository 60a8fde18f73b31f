import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { Scrape } from '../../src/metrics/scrape.ts';
import { percentile } from '../report/statistics.ts';

/** What one process measured of its way to render. */
export interface RenderMeasurement {
  readonly renders: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time in which the event loop got no turn: in the median render, and in the worst. */
  readonly blockP50Ms: number;
  readonly blockMaxMs: number;
  readonly bytes: number;
  readonly series: number;
  /** Of the series' lines in order: two processes that rendered the same have the same. */
  readonly digest: string;
}

/** What is measured: a way to bring the values up to date, which doesn't count, and a way to render them. */
export interface Renderer {
  readonly update: () => void;
  readonly render: () => Promise<Scrape>;
}

/** A p99 of fewer says nothing. */
const LEAST_RENDERS = 10;

/** What every gzip stream begins with (RFC 1952). */
const GZIP_MAGIC = 0x1f8b;

/** Renders that compile the code and don't count. */
const WARM_UPS = 5;

/** Renders with new values again and again, for so many seconds of rendering. */
export async function measureRenders(
  { update, render }: Renderer,
  seconds: number,
): Promise<RenderMeasurement> {
  const tookMs: number[] = [];
  const blocksMs: number[] = [];
  let totalMs = 0;
  // The first state is the same in every process.
  const first = await render();
  for (let warmUp = 0; warmUp < WARM_UPS; warmUp += 1) {
    update();
    await render();
  }
  while (totalMs < seconds * 1_000 || tookMs.length < LEAST_RENDERS) {
    update();
    const turns = watchTurns();
    const startedAt = performance.now();
    await render();
    const took = performance.now() - startedAt;
    blocksMs.push(await turns.longest());
    tookMs.push(took);
    totalMs += took;
  }
  return {
    renders: tookMs.length,
    p50Ms: percentile(tookMs, 0.5),
    p99Ms: percentile(tookMs, 0.99),
    blockP50Ms: percentile(blocksMs, 0.5),
    blockMaxMs: Math.max(...blocksMs),
    bytes: first.bytes,
    ...digest(first),
  };
}

/** Notes the longest time between two turns of the event loop, until it is asked for. */
function watchTurns(): { readonly longest: () => Promise<number> } {
  let longestMs = 0;
  let lastTurn = performance.now();
  let ended: ((longestMs: number) => void) | undefined;
  const turn = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - lastTurn);
    lastTurn = now;
    if (ended === undefined) setImmediate(turn);
    else ended(longestMs);
  };
  setImmediate(turn);
  return {
    longest: () =>
      new Promise((resolve) => {
        ended = resolve;
      }),
  };
}

// prom-client and the exporter may order the families otherwise and part them otherwise.
function digest({ chunks }: Scrape): { readonly series: number; readonly digest: string } {
  const body = Buffer.concat(chunks);
  const lines = (body.readUInt16BE() === GZIP_MAGIC ? gunzipSync(body) : body)
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .sort();
  return { series: lines.length, digest: createHash('sha256').update(lines.join('\n')).digest('hex') };
}
