// Measures repeated renders of `/metrics` in this process.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { RenderedBody } from '../../src/metrics/rendered-body.ts';
import { percentile } from '../report/statistics.ts';

/** The measurements of rendering in one process. */
export interface RenderMeasurement {
  readonly renders: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time without a turn of the event loop, in the median render and in the worst. */
  readonly blockP50Ms: number;
  readonly blockMaxMs: number;
  readonly bytes: number;
  readonly series: number;
  /**
   * A digest of the sorted series, which is the same in all processes that render the same series.
   */
  readonly digest: string;
}

/** The measured code: `update` sets new values and isn't measured, and `render` renders them. */
export interface Renderer {
  readonly update: () => void;
  readonly render: () => Promise<RenderedBody>;
}

/** With fewer renders, the 99th percentile would be meaningless. */
const MIN_RENDERS = 10;

/** The first bytes of every gzip stream (RFC 1952). */
const GZIP_MAGIC = 0x1f8b;

/** Renders before the measurement, in which code is compiled. */
const WARM_UPS = 5;

/** Renders new values again and again, for this many seconds of rendering. */
export async function measureRenders(
  { update, render }: Renderer,
  seconds: number,
): Promise<RenderMeasurement> {
  const tookMs: number[] = [];
  const blocksMs: number[] = [];
  let totalMs = 0;
  // Rendered before any update, so that it is the same in every process.
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

/** Records the longest time between two turns of the event loop until `longest` is called. */
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

// Lines are sorted, because prom-client and the exporter may order families differently.
function digest({ chunks }: RenderedBody): { readonly series: number; readonly digest: string } {
  const body = Buffer.concat(chunks);
  const lines = (body.readUInt16BE() === GZIP_MAGIC ? gunzipSync(body) : body)
    .toString()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .sort();
  return { series: lines.length, digest: createHash('sha256').update(lines.join('\n')).digest('hex') };
}
