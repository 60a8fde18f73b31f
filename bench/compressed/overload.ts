import type { Benchmark, BenchmarkOptions, BenchmarkResult, Target } from '../report/benchmark.ts';
import { percentile } from '../report/statistics.ts';
import { startCompressedFleet } from './compressed-fleet.ts';

const LIMIT_PER_MINUTE = 240;
const SPEED = 40;
const STATS_INTERVAL_MS = 10_000;

/** By then each server has had its first turn, and sample ages have stabilized. */
const SETTLED_MINUTES = 40;
const MEASURED_MINUTES = 30;
const LOOKS = 10;

/** A stream counts as live while its samples are at most two frames old. */
const LIVE_SECONDS = (2 * STATS_INTERVAL_MS) / 1_000;

/** More servers than the panel's limit can refresh tokens for: sockets that rotate, compared with polls that rotate. */
export const overload: Benchmark = {
  name: 'overload',
  title: '5,000 servers on a panel that allows 240 calls per minute',
  run: async (options) => {
    const turns = await measure('auto', options);
    const polls = await measure('poll', options);
    return report(turns, polls);
  },
};

interface Measured {
  readonly servers: number;
  readonly ages: readonly number[];
  readonly seen: number;
  readonly callsPerMinute: number;
  readonly limited: number;
}

async function measure(mode: 'auto' | 'poll', options: BenchmarkOptions): Promise<Measured> {
  const { servers = 5_000, progress } = options;
  const fleet = await startCompressedFleet({
    servers,
    limitPerMinute: LIMIT_PER_MINUTE,
    speed: SPEED,
    statsIntervalMs: STATS_INTERVAL_MS,
    mode,
  });
  try {
    progress(`${mode}: ${SETTLED_MINUTES} minutes to settle, at ${SPEED} times real time`);
    await fleet.until(SETTLED_MINUTES);
    const before = fleet.panel.record.calls.length;
    const began = fleet.minutes();
    const ages: number[] = [];
    let seen = 0;
    for (let look = 1; look <= LOOKS; look += 1) {
      await fleet.until(SETTLED_MINUTES + (look * MEASURED_MINUTES) / LOOKS);
      const now = await fleet.sampleAges();
      seen = Math.max(seen, now.length);
      ages.push(...now);
    }
    const calls = fleet.panel.record.calls.length - before;
    const { panelLimited, websocketLimited } = fleet.panel.record.counters;
    const callsPerMinute = calls / (fleet.minutes() - began);
    return { servers, ages, seen, callsPerMinute, limited: panelLimited + websocketLimited };
  } finally {
    await fleet.stop();
  }
}

function report(turns: Measured, polls: Measured): BenchmarkResult {
  const row = (name: string, { servers, ages, seen, callsPerMinute, limited }: Measured) => {
    const live = ages.filter((age) => age <= LIVE_SECONDS).length / ages.length;
    const mean = ages.reduce((sum, age) => sum + age, 0) / ages.length;
    const minutes = (seconds: number) => (seconds / 60).toFixed(1);
    return [
      name,
      `${seen} of ${servers}`,
      `${(live * 100).toFixed(0)} %`,
      minutes(mean),
      minutes(percentile(ages, 0.5)),
      minutes(percentile(ages, 0.99)),
      minutes(percentile(ages, 1)),
      callsPerMinute.toFixed(0),
      String(limited),
    ];
  };
  const limited: Target = {
    what: '429s that the exporter caused',
    bound: { kind: 'at most', value: 0 },
    unit: '',
    measured: turns.limited + polls.limited,
  };
  return {
    method: `Compressed time (${SPEED} times real time), one frame per server every ${STATS_INTERVAL_MS / 1_000} s. Sample ages in minutes of the fleet's time, over ${MEASURED_MINUTES} minutes after the first ${SETTLED_MINUTES}. "live": samples no older than two frames. The baseline is the same fleet with mode: poll.`,
    tables: [
      {
        header: ['mode', 'seen', 'live', 'mean age', 'p50', 'p99', 'max', 'calls per minute', '429s'],
        rows: [row('turns', turns), row('polls in turns', polls)],
      },
    ],
    targets: [limited],
  };
}
