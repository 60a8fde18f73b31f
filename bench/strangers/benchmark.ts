// The benchmark `strangers`: the CPU time of received bytes, whatever they contain.
import { SystemClock } from '../../src/domain/clock.ts';
import { HttpServer } from '../../src/http/http-server.ts';
import { PTERODACTYL_SOCKET } from '../../src/panel/dialects/pterodactyl/socket-messages.ts';
import { ConsoleSocket } from '../../src/session/socket.ts';
import { socketTls } from '../../src/session/socket-tls.ts';
import { largeFleet } from '../../test/support/readings.ts';
import { exporterRoutes } from '../../test/support/routes.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { median } from '../report/statistics.ts';
import { formatNumber } from '../report/table.ts';
import { threadTime } from '../visitors/thread-time.ts';
import { amountOf, EVENTS, FRAMES, REQUESTS } from './amounts.ts';
import type { StrangerProgram } from './node.ts';
import { receivingServer } from './receiving-server.ts';

const KIB = 1_024;
const SMALL = 64 * KIB;
const HALF = 256 * KIB;
const SINGLE_SHARD = 512 * KIB;
const DEFAULT_RUNS = 5;

const MAX_SMALL_MS = 250;
const MAX_WHOLE_MS = 300;
const MAX_RATIO = 2.3;

/** The ratio of shorter times would be noise. */
const MIN_MEASURED_MS = 10;

/** Receives this many bytes of a kind. Resolves with the CPU time in milliseconds. */
type Receive = (kind: string, bytes: number) => Promise<number>;

interface Row {
  readonly kind: string;
  readonly small: number;
  readonly half: number;
  readonly whole: number;
}

export const strangers: Benchmark = {
  name: 'strangers',
  title: 'CPU time of what nodes and visitors send, whatever it is',
  run: async ({ runs = DEFAULT_RUNS, progress }) => {
    const stranger = await new ProgramProcess<StrangerProgram>('stranger', {}).start();
    const web = await startWeb();
    const groups: readonly (readonly [what: string, kinds: readonly string[], receive: Receive])[] = [
      ['event', Object.keys(EVENTS), receiveEvents],
      ['frames', Object.keys(FRAMES), framesFrom(stranger, await stranger.ask('port', undefined))],
      ['request', Object.keys(REQUESTS), requestsFrom(stranger, web.port)],
    ];
    const rows: Row[] = [];
    try {
      for (const [what, kinds, receive] of groups) {
        progress(`${kinds.length} kinds of ${what}`);
        for (const kind of kinds)
          rows.push(await measure(`${what}: ${kind}`, runs, (bytes) => receive(kind, bytes)));
      }
    } finally {
      await web.stop();
      await stranger.stop();
    }
    const slowest = (of: (row: Row) => number) => Math.max(...rows.map(of));
    const measurable = rows.filter(({ half }) => half >= MIN_MEASURED_MS);
    return {
      method: `CPU time of the main thread in milliseconds, medians of ${runs} runs. Events are handled by the session and record of one server, frames are read
from a socket on loopback, and requests by the web server with 100 servers; another process sends the last two. The ratio compares 512 KiB with 256 KiB
where the latter take ${MIN_MEASURED_MS} ms or more.`,
      tables: [
        {
          header: ['kind', '64 KiB ms', '256 KiB ms', '512 KiB ms', 'ratio'],
          rows: rows
            .toSorted((one, other) => other.whole - one.whole)
            .map((row) => [
              row.kind,
              formatNumber(row.small, 1),
              formatNumber(row.half, 1),
              formatNumber(row.whole, 1),
              row.half >= MIN_MEASURED_MS ? formatNumber(row.whole / row.half, 2) : '',
            ]),
        },
      ],
      targets: [
        {
          what: '64 KiB of anything',
          bound: { kind: 'at most', value: MAX_SMALL_MS },
          unit: 'ms',
          measured: slowest(({ small }) => small),
        },
        {
          what: '512 KiB of anything',
          bound: { kind: 'at most', value: MAX_WHOLE_MS },
          unit: 'ms',
          measured: slowest(({ whole }) => whole),
        },
        {
          what: 'the doubled amount',
          bound: { kind: 'at most', value: MAX_RATIO },
          unit: '×',
          measured: Math.max(0, ...measurable.map(({ half, whole }) => whole / half)),
        },
      ],
    };
  },
};

async function measure(
  kind: string,
  runs: number,
  receive: (bytes: number) => Promise<number>,
): Promise<Row> {
  // The first run compiles the code.
  await receive(HALF);
  const medianOf = async (bytes: number) => {
    const all: number[] = [];
    for (let run = 0; run < runs; run += 1) all.push(await receive(bytes));
    return median(all);
  };
  return {
    kind,
    small: await medianOf(SMALL),
    half: await medianOf(HALF),
    whole: await medianOf(SINGLE_SHARD),
  };
}

const time = threadTime();

async function receiveEvents(kind: string, bytes: number): Promise<number> {
  const server = await receivingServer();
  const texts = amountOf(
    bytes,
    (EVENTS[kind] ?? []).map((text) => Buffer.from(text)),
  );
  const before = time();
  server.receive(texts);
  const took = time() - before;
  await server.stop();
  return took;
}

const IGNORE = () => undefined;

function framesFrom(stranger: ProgramProcess<StrangerProgram>, port: number): Receive {
  return async (kind, bytes) => {
    let opened: () => void = IGNORE;
    const isOpen = new Promise<void>((resolve) => (opened = resolve));
    const socket = new ConsoleSocket(
      `ws://127.0.0.1:${port}/`,
      {
        codec: PTERODACTYL_SOCKET,
        origin: 'http://panel',
        userAgent: 'bench',
        clock: new SystemClock(),
        tls: socketTls(),
      },
      { opened, refused: IGNORE, message: () => false, oversize: IGNORE, closed: IGNORE },
    );
    await isOpen;
    const before = time();
    await stranger.ask('frames', { kind, bytes });
    const took = time() - before;
    await socket.close();
    return took;
  };
}

function requestsFrom(stranger: ProgramProcess<StrangerProgram>, port: number): Receive {
  return async (kind, bytes) => {
    const before = time();
    await stranger.ask('requests', { kind, bytes, port });
    return time() - before;
  };
}

async function startWeb() {
  const clock = new SystemClock();
  const { routes, board } = exporterRoutes({ fleet: largeFleet(100), clock });
  const logger = { debug: IGNORE, info: IGNORE, warn: IGNORE, error: IGNORE };
  const server = new HttpServer({ listen: { host: '127.0.0.1', port: 0 }, routes, clock, logger });
  const { port } = await server.start();
  return {
    port,
    stop: async () => {
      board.stop();
      await server.stop();
    },
  };
}
