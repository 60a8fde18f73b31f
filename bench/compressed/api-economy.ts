import type { Benchmark } from '../report/benchmark.ts';
import { startCompressedFleet } from './compressed-fleet.ts';

const SPEED = 20;
const STATS_INTERVAL_MS = 5_000;

/** Enough that every server streams, then two lives of its tokens. */
const SETTLED_MINUTES = 3;
const MEASURED_MINUTES = 20;

/** What a streaming server costs of the panel's rate limit. */
export const apiEconomy: Benchmark = {
  name: 'api-economy',
  title: 'API calls per streaming server and minute, over two lives of a token',
  run: async ({ servers = 200, progress }) => {
    const fleet = await startCompressedFleet({
      servers,
      limitPerMinute: 720,
      speed: SPEED,
      statsIntervalMs: STATS_INTERVAL_MS,
    });
    try {
      await fleet.until(SETTLED_MINUTES);
      progress(`${MEASURED_MINUTES} minutes, at ${SPEED} times real time`);
      const before = fleet.panel.record.calls.length;
      const began = fleet.minutes();
      await fleet.until(SETTLED_MINUTES + MEASURED_MINUTES);
      const calls = fleet.panel.record.calls.length - before;
      const perServer = calls / servers / (fleet.minutes() - began);
      const streaming = fleet.panel.record.openSockets;
      return {
        method: `Compressed time (${SPEED} times), tokens of 600 s, ${MEASURED_MINUTES} minutes after the first ${SETTLED_MINUTES}: all calls of every kind.`,
        tables: [
          {
            header: ['servers', 'streaming at the end', 'calls', 'calls a server and minute'],
            rows: [[String(servers), String(streaming), String(calls), perServer.toFixed(4)]],
          },
        ],
        targets: [
          {
            what: 'calls a server and minute',
            bound: { kind: 'at most', value: 0.13 },
            unit: '',
            measured: perServer,
          },
        ],
      };
    } finally {
      await fleet.stop();
    }
  },
};
