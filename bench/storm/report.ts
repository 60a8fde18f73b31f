// The tables and targets of the benchmark `storm`.

import type { BenchmarkResult, Target } from '../report/benchmark.ts';
import { formatNumber, type Table } from '../report/table.ts';
import type { Fleet, Played } from './play.ts';

/** A name for tables: `2000 servers, TLS, limit 240`. */
export function describeFleet({ servers, tls, limit }: Fleet): string {
  return `${servers} servers, ${tls ? 'TLS' : 'plain'}, ${limit === undefined ? 'no limit' : `limit ${limit}`}`;
}

export function reportStorm(all: readonly Played[]): BenchmarkResult {
  return {
    method: `The built exporter, then a bare client that reconnects with an exponential back-off of 1 to 30 s and waits as long as a 429 says: each in a new process, with a new
simulated panel of 50 nodes in another, which doesn't sign tokens and sends all servers the same stats, and all servers on discovery. The first node has a tenth of the servers. A scene begins once all servers
have streamed for 35 s; with a limit of 240, the panel gets it 100 s before, and tokens live a day instead of ten minutes, because it wouldn't carry their renewals. "Calm" is the 15 s before the scene.
\`/-/healthy\` is requested every 20 ms, \`/metrics\` with gzip every 2 s: "longest" is from the request to the last byte, "calm" their median before. A turn is the CPU time of the main thread from one check phase
of the event loop to the next, read in each turn by a preload (\`node --import\`) with an unreferenced immediate, so waiting for a core doesn't count. CPU is user + system time of all threads from the beginning until the client stays calm: all
periods of five seconds use at most 1.2 × and 0.02 cores more than before; "extra" is what exceeds the usage before. Times are after the end of the scene. "All stream": the panel sends stats to every
server's socket from then on. Calls are those that reached the panel, upgrades those that reached a node. RSS in 10^6 bytes, four times a second. The panel's CPU is in percent of a core, from the beginning to the last look.`,
    tables: [responsesTable(all), recoveryTable(all)],
    targets: all.flatMap(targetsOf),
  };
}

const headOf = ({ fleet, scene, client }: Played): readonly string[] => [
  String(fleet.servers),
  fleet.tls ? 'TLS' : 'plain',
  fleet.limit === undefined ? 'none' : String(fleet.limit),
  scene.title,
  client,
];

const HEAD = ['servers', 'link', 'limit', 'scene', 'client'];

function responsesTable(all: readonly Played[]): Table {
  return {
    header: [
      ...HEAD,
      'longest /-/healthy ms',
      'longest scrape ms',
      'calm ms',
      '×',
      'longest turn ms',
      'calm ms',
      'turns > 25 ms',
      '> 50 ms',
      'RSS before MB',
      'peak MB',
      '×',
    ],
    rows: all.map((played) => {
      const { responses, turns, calmTurnMs, rssBeforeMb, rssPeakMb } = played;
      const { healthyMs = Number.NaN, scrapeMs = Number.NaN, calmScrapeMs = Number.NaN } = responses ?? {};
      return [
        ...headOf(played),
        formatNumber(healthyMs, 0),
        formatNumber(scrapeMs, 0),
        formatNumber(calmScrapeMs, 0),
        formatNumber(scrapeMs / calmScrapeMs, 1),
        formatNumber(turns.longestMs, 1),
        formatNumber(calmTurnMs, 1),
        String(turns.over25),
        String(turns.over50),
        formatNumber(rssBeforeMb, 0),
        formatNumber(rssPeakMb, 0),
        formatNumber(rssPeakMb / rssBeforeMb, 2),
      ];
    }),
  };
}

function recoveryTable(all: readonly Played[]): Table {
  return {
    header: [
      ...HEAD,
      'calm CPU %',
      'first minute %',
      'CPU s until calm',
      'extra s',
      'calm after s',
      'all stream after s',
      'streaming after 60 s %',
      'calls',
      '429s',
      'upgrades',
      "panel's CPU %",
    ],
    rows: all.map((played) => [
      ...headOf(played),
      formatNumber(played.calmUsage * 100, 1),
      formatNumber(played.minuteUsage * 100, 1),
      formatNumber(played.cpuMs / 1_000, 1),
      formatNumber(played.extraCpuMs / 1_000, 1),
      seconds(played.calmAfterMs),
      seconds(played.allStreamAfterMs),
      formatNumber(played.streamingAfterMinute * 100, 1),
      String(played.calls),
      String(played.limited),
      String(played.upgrades),
      formatNumber(played.panelUsage * 100, 0),
    ]),
  };
}

function seconds(ms: number | undefined): string {
  return formatNumber((ms ?? Number.NaN) / 1_000, 1);
}

/**
 * The largest fleet with a target for response times. Larger fleets have one for the longest turn.
 */
const RESPONSE_SERVERS = 2_000;

/**
 * The time until calm in milliseconds, counted from when all servers streamed, or from the end of
 * the scene if they never did.
 */
function calmAfterAll({ calmAfterMs = Number.NaN, allStreamAfterMs = 0 }: Played): number {
  return Math.max(0, calmAfterMs - allStreamAfterMs);
}

function targetsOf(played: Played): readonly Target[] {
  const { fleet, scene, client, responses } = played;
  if (client !== 'exporter' || responses === undefined) return [];
  const atMost = (what: string, value: number, unit: string, measured: number): Target => ({
    what: `${describeFleet(fleet)}: ${scene.title}: ${what}`,
    bound: { kind: 'at most', value },
    unit,
    measured,
  });
  const { healthyMs, scrapeMs, calmScrapeMs } = responses;
  const ofResponses =
    fleet.servers <= RESPONSE_SERVERS
      ? [
          atMost('longest /-/healthy', 100, 'ms', healthyMs),
          atMost('slowest scrape, relative to calm', 3, '×', scrapeMs / calmScrapeMs),
        ]
      : [atMost('CPU time of the longest turn', 50, 'ms', played.turns.longestMs)];
  return [
    ...ofResponses,
    atMost('memory, relative to before', 1.2, '×', played.rssPeakMb / played.rssBeforeMb),
    atMost('calm after all stream', 30, 's', calmAfterAll(played) / 1_000),
    // With a rate limit, the calls for new tokens may take longer.
    ...(fleet.limit === undefined
      ? [atMost('all stream after', 60, 's', (played.allStreamAfterMs ?? Number.NaN) / 1_000)]
      : []),
  ];
}
