// The exporter's HTTP server over a fleet without sockets, as a program of the benchmarks.

import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, SystemClock } from '../../src/domain/clock.ts';
import type { Logger } from '../../src/domain/logger.ts';
import { HttpServer } from '../../src/http/http-server.ts';
import { createRoutes } from '../../src/http/routes.ts';
import { Scraper } from '../../src/metrics/scrape.ts';
import { StatusBoard } from '../../src/status-page/data/board.ts';
import { BenchmarkFleet } from '../scrape/fleet.ts';
import { threadTime } from './thread-time.ts';

export type ServedFleetProgram = Awaited<ReturnType<typeof start>>;

/**
 * The samples of a second arrive in this many portions, because real servers send at different
 * times.
 */
const PORTIONS = 200;

/** The first tick after the warm-up of `BenchmarkFleet`. */
const FIRST_TICK = 61;

const WATCH_INTERVAL_MS = 1;

const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The work of the main thread during a measurement. */
export interface ThreadWork {
  /** The most CPU time between two turns of the event loop. */
  readonly blockMs: number;
  /** The CPU usage in percent of one core. */
  readonly cpuPercent: number;
}

interface FleetOptions {
  readonly servers: number;
  /** Whether every server gets a sample a second. */
  readonly isSampled: boolean;
}

/** Starts the exporter's HTTP server over records without sockets. */
export async function start({ servers, isSampled }: FleetOptions) {
  const fleet = new BenchmarkFleet(servers);
  const clock = continued(fleet.clock.now());
  const scraper = new Scraper({ fleet, self: { metrics: async () => '' }, clock });
  const time = threadTime();
  let scrapesMs: number[] = [];
  const server = new HttpServer({
    listen: { host: '127.0.0.1', port: 0 },
    routes: createRoutes({
      scrape: async (encoding) => {
        const before = time();
        const body = await scraper.scrape(encoding);
        scrapesMs.push(time() - before);
        return body;
      },
      ready: () => true,
      fleet,
      clock,
      version: '0.0.0',
      board: new StatusBoard({ fleet, clock, version: '0.0.0', rateLimited: () => 0 }),
    }),
    clock,
    logger: SILENT,
  });
  const { url } = await server.start();
  if (isSampled) sampleAll(fleet, clock);
  return {
    address: () => ({ url, keys: fleet.servers().map(({ target }) => `${target.panel}/${target.id}`) }),
    /** Gives every server a sample. */
    sampleOnce: (): void => {
      for (const index of fleet.servers().keys()) fleet.sample(index, FIRST_TICK, clock.now());
    },
    /**
     * The CPU time of the main thread during each scrape since the last call, including its other
     * work.
     */
    scrapesMs: () => {
      const taken = scrapesMs;
      scrapesMs = [];
      return taken;
    },
    watch: async ({ seconds }: { readonly seconds: number }): Promise<ThreadWork> => {
      const [startedAt, before] = [performance.now(), time()];
      let [blockMs, last] = [0, before];
      const timer = setInterval(() => {
        const now = time();
        blockMs = Math.max(blockMs, now - last);
        last = now;
      }, WATCH_INTERVAL_MS);
      await delay(seconds * 1_000);
      clearInterval(timer);
      return { blockMs, cpuPercent: ((time() - before) / (performance.now() - startedAt)) * 100 };
    },
  };
}

/** The system's clock, shifted so that it continues from this instant. */
function continued(now: number): Clock {
  const clock = new SystemClock();
  const ahead = now - clock.now();
  return {
    now: () => clock.now() + ahead,
    toUnixMs: (monotonicMs) => clock.toUnixMs(monotonicMs - ahead),
    schedule: (delayMs, run) => clock.schedule(delayMs, run),
  };
}

function sampleAll(fleet: BenchmarkFleet, clock: Clock): void {
  const servers = fleet.servers().length;
  const first = clock.now();
  let sampled = 0;
  setInterval(() => {
    const now = clock.now();
    const due = Math.floor(((now - first) / 1_000) * servers);
    const until = Math.min(due, sampled + Math.ceil((servers / PORTIONS) * 4));
    for (; sampled < until; sampled += 1) {
      fleet.sample(sampled % servers, FIRST_TICK + Math.floor(sampled / servers), now);
    }
  }, 1_000 / PORTIONS);
}
