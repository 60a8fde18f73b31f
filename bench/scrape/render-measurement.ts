import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { RenderedBody } from '../../src/metrics/rendered-body.ts';
import { percentile } from '../report/statistics.ts';

/** The measurements of rendering in one process. */
export interface RenderMeasurement {
  readonly renders: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time without a turn of the event loop: in the median render, and in the worst. */
  readonly blockP50Ms: number;
  readonly blockMaxMs: number;
  readonly bytes: number;
  readonly series: number;
  /** A digest of the sorted series: equal in two processes that rendered the same. */
  readonly digest: string;
}

/** The code to measure: a function that updates the values, which isn't measured, and one that renders them. */
export interface Renderer {
  readonly update: () => void;
  readonly render: () => Promise<RenderedBody>;
}

/** With fewer renders, a p99 is meaningless. */
const MIN_RENDERS = 10;

/** The first bytes of every gzip stream (RFC 1952). */
const GZIP_MAGIC = 0x1f8b;

/** Renders for compilation, which aren't measured. */
const WARM_UPS = 5;

/** Renders repeatedly with new values, for this many seconds of rendering. */
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
  while (totalMs < seconds * 1_000 || tookMs.length < MIN_RENDERS) {
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

/** Records the longest time between two turns of the event loop, until the result is requested. */
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

// Sorted, because prom-client and the exporter may order and separate families differently.
function digest({ chunks }: RenderedBody): { readonly series: number; readonly digest: string } {
  const body = Buffer.concat(chunks);
  const lines = (body.readUInt16BE() === GZIP_MAGIC ? gunzipSync(body) : body)
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .sort();
  return { series: lines.length, digest: createHash('sha256').update(lines.join('\n')).digest('hex') };
}
