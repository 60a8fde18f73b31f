// The benchmark `slow-start`: a cold start with many servers.

import { busiestMinute } from '../../test/support/busiest-minute.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { startCompressedFleet } from './compressed-fleet.ts';

const LIMIT_PER_MINUTE = 720;
/** At 20 times real time, a machine with slow cores couldn't start half of the servers in time. */
const SPEED = 6;
const STATS_INTERVAL_MS = 5_000;
const LOOKS_AT_MINUTES = [1, 2, 3, 4, 5];
/**
 * With 720 calls per minute, of which the exporter uses four fifths, 2,000 servers start in 3.5
 * minutes.
 */
const STARTED_AT_MINUTE = 4;

/** By then, every token has been renewed once, and none twice. */
const END_MINUTES = 13;
const BUCKET_SECONDS = 30;

/**
 * Measures how soon all servers have data, whether the rate limit is kept, and how token renewals
 * are spread over time.
 */
export const slowStart: Benchmark = {
  name: 'slow-start',
  title: 'cold start of 2,000 servers on a panel that allows 720 calls per minute',
  run: async ({ servers = 2_000, progress }) => {
    const fleet = await startCompressedFleet({
      servers,
      limitPerMinute: LIMIT_PER_MINUTE,
      speed: SPEED,
      statsIntervalMs: STATS_INTERVAL_MS,
    });
    try {
      const origin = fleet.panel.record.calls[0]?.at;
      const started = new Map<number, number>();
      for (const minute of LOOKS_AT_MINUTES) {
        await fleet.until(minute);
        started.set(minute, (await fleet.sampleAges()).length);
      }
      progress(`until minute ${END_MINUTES}, at ${SPEED} times real time`);
      await fleet.until(END_MINUTES);
      const { calls, counters } = fleet.panel.record;
      const times = calls.map(({ at }) => at);
      const first = origin ?? times[0] ?? 0;
      const perServer = new Map<string, number[]>();
      for (const { endpoint, server, at } of calls) {
        if (endpoint !== 'websocket' || server === undefined) continue;
        perServer.set(server, [...(perServer.get(server) ?? []), (at - first) / 1_000]);
      }
      const renewals = [...perServer.values()].flatMap((all) => all.slice(1, 2));
      return {
        method: `Compressed time (${SPEED} times real time). Times are counted from the exporter's first call; a renewal is a server's second call for credentials.`,
        tables: [
          { header: ['minute', 'servers with data'], rows: [...started].map((row) => row.map(String)) },
          { header: ['renewals from second', 'to', 'count'], rows: distribution(renewals) },
        ],
        targets: [
          {
            what: `servers with data after minute ${STARTED_AT_MINUTE}`,
            bound: { kind: 'at least', value: servers },
            unit: '',
            measured: started.get(STARTED_AT_MINUTE) ?? 0,
          },
          {
            what: 'calls in the busiest minute',
            bound: { kind: 'at most', value: LIMIT_PER_MINUTE },
            unit: '',
            measured: busiestMinute(times),
          },
          {
            what: '429s that the exporter caused',
            bound: { kind: 'at most', value: 0 },
            unit: '',
            measured: counters.panelLimited + counters.websocketLimited,
          },
        ],
      };
    } finally {
      await fleet.stop();
    }
  },
};

function distribution(seconds: readonly number[]): string[][] {
  const buckets = new Map<number, number>();
  for (const second of seconds) {
    const bucket = Math.floor(second / BUCKET_SECONDS);
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
  }
  return [...buckets]
    .toSorted(([a], [b]) => a - b)
    .map(([bucket, count]) => [
      String(bucket * BUCKET_SECONDS),
      String((bucket + 1) * BUCKET_SECONDS),
      String(count),
    ]);
}
