// A fleet in compressed time, with the exporter and a simulated panel in this process.

import { createApp } from '../../src/app/app.ts';
import { parseConfig } from '../../src/config/parse.ts';
import { FastClock } from '../../src/simulator/fast-clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { configText } from '../fleet/config-text.ts';

/**
 * Options of a fleet whose minutes pass in seconds, because exporter and panel share a fast clock.
 */
export interface CompressedFleetOptions {
  readonly servers: number;
  readonly limitPerMinute: number;
  /** How many times faster than real time the clock runs. */
  readonly speed: number;
  /**
   * The time between two `stats` of a server. Fewer frames allow a higher speed, and don't change
   * the number of API calls.
   */
  readonly statsIntervalMs: number;
  readonly mode?: 'auto' | 'poll';
}

export interface CompressedFleet {
  readonly panel: Simulator;
  /** Minutes since the start, by the fleet's clock. */
  minutes(): number;
  /** Resolves this many minutes after the start, by the fleet's clock. */
  until(minutes: number): Promise<void>;
  /** Seconds since each server's newest sample; servers without a sample are omitted. */
  sampleAges(): Promise<readonly number[]>;
  stop(): Promise<void>;
}

// Timeouts follow the fast clock, but the machine doesn't: if it is busy, short ones would expire.
const WIDE_DEADLINES = ['connect_timeout: 5m', 'auth_timeout: 5m', 'request_timeout: 10m'];

export async function startCompressedFleet(options: CompressedFleetOptions): Promise<CompressedFleet> {
  const clock = new FastClock(options.speed);
  const panel = await startSimulator({
    servers: options.servers,
    clock,
    rateLimitPerMinute: options.limitPerMinute,
    statsIntervalMs: options.statsIntervalMs,
  });
  const yaml = configText(panel, {
    ofPanel: WIDE_DEADLINES,
    ofServers: [`mode: ${options.mode ?? 'auto'}`],
  });
  const { config } = await parseConfig(yaml, 'compressed fleet', {});
  if (config === undefined) throw new Error('the configuration of the compressed fleet is not valid');
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const app = createApp({
    config,
    listen: { host: '127.0.0.1', port: 0 },
    log,
    clock,
  });
  const { url } = await app.start();
  const startedAt = clock.now();
  const minutes = () => (clock.now() - startedAt) / 60_000;
  return {
    panel,
    minutes,
    until: (wanted) =>
      new Promise((resolve) => {
        clock.schedule((wanted - minutes()) * 60_000, resolve);
      }),
    sampleAges: async () => {
      // Read before the scrape, which takes minutes by this clock.
      const now = clock.toUnixMs(clock.now()) / 1_000;
      const text = await (await fetch(`${url}/metrics`)).text();
      const samples = text.matchAll(/^gameserver_last_sample_timestamp_seconds\{.*\} (\S+)$/gm);
      return [...samples].map(([, at]) => Math.max(0, now - Number(at)));
    },
    stop: async () => {
      await app.stop();
      await panel.stop();
    },
  };
}
