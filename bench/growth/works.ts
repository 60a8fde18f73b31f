// The kinds of work that the benchmark `growth` measures.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/app/app.ts';
import { loadConfig, loadInThread } from '../../src/config/load-config.ts';
import { parseConfig } from '../../src/config/parse.ts';
import type { Problem } from '../../src/domain/problems.ts';
import type { ServerTarget } from '../../src/domain/server.ts';
import { ListReads, type ListReadsOptions } from '../../src/fleet/list-reads.ts';
import type { PanelFleet } from '../../src/fleet/panel-fleet.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { type Blocks, renderBody } from '../../src/metrics/rendered-body.ts';
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import type { ListingQuery } from '../../src/panel/requests.ts';
import type { BackupsPage, ListedServer, ListingPage } from '../../src/panel/responses.ts';
import type { BoardSource } from '../../src/status-page/data/board-source.ts';
import { jsonView } from '../../src/status-page/data/json-view.ts';
import { updateText } from '../../src/status-page/data/live-update.ts';
import { panelsStatus } from '../../src/status-page/data/panel-status.ts';
import { type Picture, takePicture } from '../../src/status-page/data/picture.ts';
import { serversWithId } from '../../src/status-page/data/server-health.ts';
import { targetGroups } from '../../src/status-page/data/service-discovery.ts';
import { formatIssues } from '../../src/yaml/issues.ts';
import { FleetBench, SETTINGS } from '../../test/support/fleet-bench.ts';
import { configText } from '../fleet/config-text.ts';
import { BenchmarkFleet } from '../scrape/fleet.ts';
import { type Cost, costOf, costPerRun, medianCost } from './cost.ts';

/** A kind of work, which is one row of the results. */
export interface Work {
  readonly what: string;
  /** Whether the work is about all servers, so that its cost may grow with the fleet. */
  readonly isOfAll?: boolean;
  readonly measure: (servers: number) => Promise<Cost>;
}

/** The parser's thread from the build of the benchmarks, instead of the one in `dist`. */
const PARSER = new URL('../../src/config/parse-worker.js', import.meta.url);

const NODES = 50;

/** The number of measured reads, each of another server. */
const READS = 50;
const REFUSED: Problem = { cause: 'node_unreachable', detail: 'connect ECONNREFUSED 127.0.0.1:1' };
const DOWN: Problem = { cause: 'panel_down', detail: 'status 502' };

function uuidOf(index: number): string {
  return `${index.toString(16).padStart(8, '0')}-259b-452e-8b4e-cecc464142ca`;
}

function targetOf(index: number): ServerTarget {
  return {
    panel: 'main',
    id: uuidOf(index),
    uuid: uuidOf(index),
    name: `server-${index}`,
    labels: {},
    expect: 'running',
    mode: 'auto',
    limits: { memoryBytes: 4_294_967_296, diskBytes: 21_474_836_480, cpuCores: 2 },
    node: `node-${index % NODES}`,
    egg: 'Paper',
  };
}

const targetsOf = (servers: number) => Array.from({ length: servers }, (_, index) => targetOf(index));

/** A streaming fleet with fake sockets and a panel that responds at once. */
async function streamingFleet(servers: number): Promise<{ bench: FleetBench; fleet: PanelFleet }> {
  const bench = new FleetBench();
  bench.gateway.limitPerMinute = 1_000_000;
  bench.gateway.isPinned = true;
  const fleet = bench.create(targetsOf(servers));
  fleet.start();
  const allStream = () => fleet.records.every(({ status }) => status.condition === 'streaming');
  while (!allStream()) await bench.clock.advance(10);
  // After a long walk through all members, the next one waits up to a second (`member-walks.ts`).
  await bench.clock.advance(1_000);
  return { bench, fleet };
}

/** Measures work of a streaming fleet. */
async function ofStreaming(
  servers: number,
  measure: (world: { bench: FleetBench; fleet: PanelFleet }) => Promise<Cost>,
): Promise<Cost> {
  const world = await streamingFleet(servers);
  try {
    return await measure(world);
  } finally {
    await world.fleet.stop();
  }
}

const EVENTS: readonly Work[] = [
  {
    what: 'a server tries its node’s sockets',
    measure: (servers) =>
      ofStreaming(servers, ({ bench }) =>
        medianCost(
          costPerRun(
            () => bench.gateway.events.emit('changed', { of: 'trial', server: uuidOf(servers - 1) }),
            20,
          ),
        ),
      ),
  },
  {
    what: 'a server that failed works again',
    measure: (servers) =>
      ofStreaming(servers, ({ bench }) => {
        const recovery = { cause: 'node_unreachable', node: 'node-1' } as const;
        return medianCost(
          costPerRun(() => bench.gateway.events.emit('changed', { of: 'recovery', ...recovery }), 20),
        );
      }),
  },
  {
    what: 'the rate changes',
    measure: (servers) =>
      ofStreaming(servers, ({ bench }) =>
        medianCost(costPerRun(() => bench.gateway.events.emit('changed', { of: 'rate' }), 20)),
      ),
  },
  {
    what: 'a node is blamed, and no longer',
    isOfAll: true,
    measure: (servers) =>
      ofStreaming(servers, ({ bench }) =>
        medianCost(() =>
          costOf(() => {
            bench.gateway.socketsFail('node-1', REFUSED);
            bench.gateway.socketsFail('node-1');
          }),
        ),
      ),
  },
  {
    what: 'the panel is blamed, and no longer',
    isOfAll: true,
    measure: (servers) =>
      ofStreaming(servers, ({ bench }) =>
        medianCost(() =>
          costOf(() => {
            bench.gateway.becomes('down', DOWN);
            bench.gateway.becomes('up');
          }),
        ),
      ),
  },
  {
    what: 'all nodes are blamed in one turn, and no longer',
    isOfAll: true,
    measure: (servers) =>
      ofStreaming(servers, ({ bench }) =>
        medianCost(() =>
          costOf(() => {
            for (let node = 0; node < NODES; node += 1) bench.gateway.socketsFail(`node-${node}`, REFUSED);
            for (let node = 0; node < NODES; node += 1) bench.gateway.socketsFail(`node-${node}`);
          }),
        ),
      ),
  },
];

const READS_OF_FLEET: readonly Work[] = [
  {
    what: 'the panels are read',
    measure: (servers) =>
      ofStreaming(servers, ({ fleet }) => medianCost(costPerRun(() => fleet.reading(), 20))),
  },
  {
    what: 'a scrape: metrics of the exporter itself',
    isOfAll: true,
    measure: (servers) =>
      ofStreaming(servers, ({ fleet }) => {
        const self = new SelfMetrics({
          version: '0.0.0',
          revision: 'unknown',
          fleet: { panels: () => [fleet.reading()], servers: () => fleet.records },
        });
        return medianCost(() => costOf(() => self.metrics()));
      }),
  },
  {
    what: 'a scrape: nodes',
    isOfAll: true,
    measure: (servers) =>
      ofStreaming(servers, ({ bench, fleet }) =>
        medianCost(() => costOf(() => fleet.reading().nodes(bench.clock.now()))),
      ),
  },
  {
    what: 'a list of a server is read',
    measure: async (servers) => {
      const records = targetsOf(servers).map((target) => new ServerRecord(target, { socket: 1, poll: 1 }));
      const { clock, log } = new FleetBench();
      const done = { reads: 0 };
      let begin: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const never = new Promise<never>(() => undefined);
      const backups = async () => {
        done.reads += 1;
        // The first read begins before the measurement, because it includes a look at all servers,
        // which is repeated only when they change.
        await (done.reads > READS ? never : begun);
        return { backups: [], totalPages: 1, badEntries: 0 };
      };
      const options = { panel: 'main', clock, log, random: Math.random, intervalMs: 3_600_000 };
      const list = new ListReads({
        ...options,
        what: 'backups',
        gateway: listGateway(backups),
        records: () => records,
      });
      await clock.advance(1);
      const { cpuMs, blockMs } = await costOf(async () => {
        begin();
        for (; done.reads <= READS; ) await clock.advance(1);
      });
      list.stop();
      return { cpuMs: cpuMs / READS, blockMs };
    },
  },
];

function listGateway(backups: () => Promise<BackupsPage>): ListReadsOptions['gateway'] {
  return { backups, schedules: () => Promise.resolve([]) };
}

function listedOf(index: number, name = `server-${index}`): ListedServer {
  const { id, node, egg } = targetOf(index);
  return {
    uuid: id,
    identifier: id.slice(0, 8),
    name,
    node,
    egg,
    limits: { memoryBytes: 4_294_967_296, diskBytes: 21_474_836_480, cpuCores: 2 },
  };
}

const PER_PAGE = 100;

/** Measures a read of the server list in which `renamed` servers have another name each time. */
async function walk(servers: number, renamed: number): Promise<Cost> {
  const bench = new FleetBench();
  bench.gateway.limitPerMinute = 1_000_000;
  bench.gateway.isPinned = true;
  let walks = 0;
  const totalPages = Math.ceil(servers / PER_PAGE);
  const pageOf = (page: number): ListingPage => {
    if (page === totalPages) walks += 1;
    const first = (page - 1) * PER_PAGE;
    const length = Math.min(PER_PAGE, servers - first);
    const nameOf = (index: number) => (index < renamed ? `server-${index}-${walks}` : undefined);
    const entries = Array.from({ length }, (_, place) => listedOf(first + place, nameOf(first + place)));
    return { servers: entries, badEntries: 0, totalPages };
  };
  Object.assign(bench.gateway, { listing: ({ page }: ListingQuery) => Promise.resolve(pageOf(page)) });
  const discover = { ...(await discoverRules()), maxServers: servers };
  const fleet = bench.create([], { listing: { intervalMs: 60_000, discover } });
  fleet.start();
  const allStream = () =>
    fleet.records.length === servers && fleet.records.every(({ status }) => status.condition === 'streaming');
  while (!allStream()) await bench.clock.advance(10);
  try {
    return await medianCost(() => {
      const before = walks;
      return costOf(
        () => fleet.discovery.restart(),
        () => walks > before,
      );
    });
  } finally {
    await fleet.stop();
  }
}

async function discoverRules() {
  const { config } = await parseConfig(
    'panels: [{ name: main, url: https://panel.example.com, api_key: ptlc_0000000000000000000000000000000000000000000, discover: true }]',
    'config.yaml',
    {},
  );
  const rules = config?.panels[0]?.listing?.discover;
  if (rules === undefined) throw new Error('the configuration does not discover servers');
  return rules;
}

/**
 * Measures a reload of a configuration with this many servers and another poll interval each time.
 */
async function reload(servers: number): Promise<Cost> {
  const folder = await mkdtemp(join(tmpdir(), 'growth-'));
  const file = join(folder, 'config.yaml');
  let seconds = 30;
  const write = () => {
    seconds = seconds === 30 ? 45 : 30;
    const address = { url: 'http://127.0.0.1:1', apiKey: 'ptlc_simulated0panel0key0for0all0growth0only00' };
    const all = targetsOf(servers).map(({ id, name }) => ({ uuid: id, name }));
    return writeFile(
      file,
      configText({ ...address, servers: all }, { ofPanel: [`poll_interval: ${seconds}s`] }),
    );
  };
  await write();
  const loaded = await loadConfig(file, {});
  if (!loaded.ok) throw new Error(formatIssues(loaded.issues));
  const { log } = new FleetBench();
  const listen = { host: '127.0.0.1', port: 0 };
  let running = loaded.config;
  const app = createApp({
    config: loaded.config,
    listen,
    log,
    load: () => loadInThread(file, {}, running, PARSER),
    reloaded: (next) => {
      running = next;
    },
  });
  try {
    return await medianCost(async () => {
      await write();
      return costOf(async () => {
        const outcome = await app.reload();
        if (!outcome.ok) throw new Error(outcome.problems);
      });
    });
  } finally {
    await app.stop();
    await rm(folder, { recursive: true });
  }
}

const CHANGES: readonly Work[] = [
  {
    what: 'the server list is read, without a change',
    isOfAll: true,
    measure: (servers) => walk(servers, 0),
  },
  {
    what: 'the server list is read, with a tenth of the names changed',
    isOfAll: true,
    measure: (servers) => walk(servers, servers / 10),
  },
  { what: 'the configuration is reloaded, with another interval', isOfAll: true, measure: reload },
  {
    what: 'the settings of a fleet that streams change',
    isOfAll: true,
    measure: (servers) =>
      ofStreaming(servers, ({ fleet }) => {
        let pollIntervalMs = 30_000;
        const all = targetsOf(servers);
        return medianCost(() =>
          costOf(() => {
            pollIntervalMs = pollIntervalMs === 30_000 ? 45_000 : 30_000;
            fleet.configure({ ...SETTINGS, servers: all, pollIntervalMs });
          }),
        );
      }),
  },
];

/** Measures a view that people or programs request, of a fleet with samples. */
function view(measure: (source: BoardSource) => () => unknown): (servers: number) => Promise<Cost> {
  return (servers) => {
    const fleet = new BenchmarkFleet(servers);
    const work = measure({ fleet, clock: fleet.clock, version: '0.0.0', rateLimited: () => 0 });
    return medianCost(() => costOf(work));
  };
}

const rendered = (blocks: Blocks) => renderBody(blocks, 'identity', 'view');

const VIEWS: readonly Work[] = [
  {
    what: 'the page: one look at up to 500 servers',
    isOfAll: true,
    measure: view((source) => {
      let before: Picture | undefined;
      return () => {
        const last = before;
        const look = function* () {
          before = yield* takePicture(source, last);
          yield* updateText('0.0.0', last, before);
        };
        return rendered(look());
      };
    }),
  },
  {
    what: 'the page: the first look',
    isOfAll: true,
    measure: view((source) => () => {
      const look = function* () {
        yield* updateText('0.0.0', undefined, yield* takePicture(source));
      };
      return rendered(look());
    }),
  },
  { what: 'the page: the panels', isOfAll: true, measure: view((source) => () => panelsStatus(source)) },
  { what: '/api/v1/servers', isOfAll: true, measure: view((source) => () => rendered(jsonView(source))) },
  {
    what: '/api/v1/targets',
    isOfAll: true,
    measure: view(
      ({ fleet }) =>
        () =>
          rendered(targetGroups(fleet)),
    ),
  },
  {
    what: 'the health of one server',
    measure: (servers) => {
      const records = targetsOf(servers).map((target) => new ServerRecord(target, { socket: 1, poll: 1 }));
      const fleet = { panels: () => [], servers: () => records };
      const id = uuidOf(servers - 1);
      return medianCost(costPerRun(() => serversWithId(fleet, id), 20));
    },
  },
];

export const WORKS = [...EVENTS, ...READS_OF_FLEET, ...CHANGES, ...VIEWS];
