// Measures the cost of handling frames.

import { Sample } from '../../src/domain/sample.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import { PTERODACTYL } from '../../src/panel/dialects/pterodactyl.ts';
import type { FrameHandler } from '../../src/panel/socket-codec.ts';
import { median } from '../report/statistics.ts';

export type FrameCostsProgram = Awaited<ReturnType<typeof start>>;

/** Nanoseconds per frame, by kind. */
export interface FrameCosts {
  readonly shortLine: number;
  readonly longLine: number;
  readonly stats: number;
  readonly recordedStats: number;
}

const { daemonNotice, handleFrame } = PTERODACTYL.socket;

/** The number of different frames of a kind, so that no result of the last frame can be reused. */
const VARIANTS = 1_024;

/** Frames between two reads of the clock. */
const BATCH = 8_192;

const LONG_LINE_CHARACTERS = 2_000;

/**
 * Measures `handleFrame` with prepared frames, and alternates between the kinds after each batch.
 */
export async function start() {
  const line = (text: string, index: number) => frame('console output', `[INFO]: Player${index} ${text}`);
  const kinds: Readonly<Record<keyof FrameCosts, () => number>> = {
    shortLine: batchOf(
      prepare((index) => line('moved to 1234, 64', index)),
      keepingHandler(),
    ),
    longLine: batchOf(
      prepare((index) => line('x'.repeat(LONG_LINE_CHARACTERS), index)),
      keepingHandler(),
    ),
    stats: batchOf(prepare(statsFrame), keepingHandler()),
    recordedStats: batchOf(prepare(statsFrame), recordingHandler()),
  };
  return {
    measure: ({ seconds }: { readonly seconds: number }): FrameCosts => {
      const batches = { shortLine: [], longLine: [], stats: [], recordedStats: [] } as Record<
        keyof FrameCosts,
        number[]
      >;
      const names = Object.keys(kinds) as (keyof FrameCosts)[];
      // The first second isn't counted, because the code is compiled in it.
      const countedFrom = performance.now() + 1_000;
      while (performance.now() < countedFrom + seconds * 1_000) {
        for (const name of names) {
          const nanoseconds = kinds[name]();
          if (performance.now() >= countedFrom) batches[name].push(nanoseconds);
        }
      }
      return {
        shortLine: median(batches.shortLine),
        longLine: median(batches.longLine),
        stats: median(batches.stats),
        recordedStats: median(batches.recordedStats),
      };
    },
  };
}

function batchOf(frames: readonly Buffer[], handler: FrameHandler): () => number {
  return () => {
    const startedAt = process.hrtime.bigint();
    for (let done = 0; done < BATCH; done += frames.length) {
      for (const each of frames) handleFrame(each, false, handler);
    }
    return Number(process.hrtime.bigint() - startedAt) / BATCH;
  };
}

const NO_FLEET = { panels: () => [], servers: () => [] };

/** Counts messages like the exporter, and keeps only the last sample. */
function keepingHandler(): FrameHandler & { readonly last: Sample; lines: number } {
  return {
    telemetry: new SelfMetrics({ version: '', revision: '', fleet: NO_FLEET }).telemetry('main'),
    last: new Sample(),
    lines: 0,
    consoleLine(line) {
      this.lines += 1;
      daemonNotice(line, false);
    },
    stats(sample) {
      this.last.copy(sample);
    },
    unreadable: () => undefined,
    status: () => undefined,
    authenticated: () => undefined,
    tokenEnding: () => undefined,
    jwtError: () => undefined,
    daemonError: () => undefined,
    backupCompleted: () => undefined,
  };
}

/** Stores samples in the server's record like a session. Samples are a second apart. */
function recordingHandler(): FrameHandler {
  const target = {
    panel: 'p',
    id: 'i',
    name: 'n',
    labels: {},
    expect: 'any',
    mode: 'auto',
    limits: {},
  } as const;
  const record = new ServerRecord(target, { socket: 60_000, poll: 60_000 });
  let now = 0;
  return {
    ...keepingHandler(),
    stats: (sample) => {
      now += 1_000;
      record.socketSample(sample, now);
    },
  };
}

function prepare(make: (index: number) => Buffer): readonly Buffer[] {
  return Array.from({ length: VARIANTS }, (_, index) => make(index));
}

function frame(event: string, argument: string): Buffer {
  return Buffer.from(JSON.stringify({ event, args: [argument] }));
}

function statsFrame(index: number): Buffer {
  const payload = {
    memory_bytes: 1_073_741_824 + index * 4_096,
    memory_limit_bytes: 4_509_715_660,
    cpu_absolute: 153.217 + index / 8,
    network: { rx_bytes: 91_234_567 + index * 1_500, tx_bytes: 812_345_678 + index * 9_000 },
    disk_io: { read_bytes: 1_234_567 + index * 512, write_bytes: 7_654_321 + index * 512 },
    uptime: 86_400_123 + index * 1_000,
    state: 'running',
    disk_bytes: 123_456_789,
  };
  return frame('stats', JSON.stringify(payload));
}
