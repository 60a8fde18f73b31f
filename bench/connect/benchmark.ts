// The benchmark `connect`: the CPU time of opening a socket, and of reopening a lost one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../ingest/certificate.ts';
import { ProgramProcess } from '../program-process.ts';
import type { Benchmark, BenchmarkOptions } from '../report/benchmark.ts';
import { ratios } from '../report/statistics.ts';
import { medianAndSpread } from '../report/table.ts';
import type { NodeOptions, NodeProgram } from './node.ts';
import type { ConnectingOptions, ConnectingProgram } from './sessions.ts';

const DEFAULT_SERVERS = 1_000;
const DEFAULT_RUNS = 5;

/** How often all sockets are lost and reopened. The code was compiled during the connects. */
const RECONNECTS = 3;

const CLIENTS = ['connecting-sessions', 'connecting-ws'] as const;
type Client = (typeof CLIENTS)[number];

/** CPU milliseconds per server, in each run. */
interface Costs {
  readonly connect: number[];
  readonly reconnect: number[];
}

export const connect: Benchmark = {
  name: 'connect',
  title: 'CPU time of opening a socket, and of opening it again',
  run: async (options) => {
    const rows = [];
    for (const isSecure of options.tls === undefined ? [false, true] : [options.tls])
      rows.push({ isSecure, costs: await measure(isSecure, options) });
    const { servers = DEFAULT_SERVERS, runs = DEFAULT_RUNS } = options;
    return {
      method: `CPU milliseconds a server of a process with ${servers} sessions, all threads, from the token to the first stats (connect), and from the loss of a socket
until the next one streams (reconnect: ${RECONNECTS} times, after the connects); all servers at once, all on one node in another process. The panel
grants tokens at once, and isn't measured. Beside it, ws alone with the same messages, in turn. Medians of ${runs} runs, each with new processes.`,
      tables: [
        {
          header: ['transport', 'what', 'exporter ms', 'ws ms', '×'],
          rows: rows.flatMap(({ isSecure, costs: [own, bare] }) =>
            (['connect', 'reconnect'] as const).map((what) => [
              isSecure ? 'TLS' : 'plain',
              what,
              medianAndSpread(own[what], 2),
              medianAndSpread(bare[what], 2),
              medianAndSpread(ratios(own[what], bare[what]), 2),
            ]),
          ),
        },
      ],
      targets: [],
    };
  },
};

async function measure(isSecure: boolean, options: BenchmarkOptions): Promise<readonly [Costs, Costs]> {
  const { servers = DEFAULT_SERVERS, runs = DEFAULT_RUNS, profiles, progress } = options;
  const own: Costs = { connect: [], reconnect: [] };
  const bare: Costs = { connect: [], reconnect: [] };
  const folder = await mkdtemp(join(tmpdir(), 'connect-'));
  try {
    const node: NodeOptions = isSecure ? { tls: await selfSigned(folder) } : {};
    for (let run = 0; run < runs; run += 1) {
      for (const client of CLIENTS) {
        progress(`${isSecure ? 'TLS' : 'plain'}, run ${run + 1}, ${client}`);
        const name = `${client}-${isSecure ? 'tls' : 'plain'}-${run}.cpuprofile`;
        const costs = await measureClient(client, node, {
          servers,
          caFile: isSecure ? join(folder, 'cert.pem') : undefined,
          profile: profiles && join(profiles, name),
        });
        const all = client === 'connecting-sessions' ? own : bare;
        all.connect.push(costs.connect / servers);
        all.reconnect.push(costs.reconnect / servers);
      }
    }
    return [own, bare];
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureClient(
  client: Client,
  nodeOptions: NodeOptions,
  { profile, ...connecting }: Omit<ConnectingOptions, 'url'> & { readonly profile: string | undefined },
) {
  const node = await new ProgramProcess<NodeProgram>('connect-node', nodeOptions).start();
  const url = await node.ask('url', undefined);
  const program = new ProgramProcess<ConnectingProgram>(client, { url, ...connecting });
  try {
    await program.start();
    const { cpuMs } = await program.ask('connect', undefined);
    let reconnectMs = 0;
    for (let round = 0; round < RECONNECTS; round += 1) {
      const again = program.ask('reconnect', round === RECONNECTS - 1 ? profile : undefined);
      await node.ask('drop', undefined);
      reconnectMs += (await again).cpuMs;
    }
    return { connect: cpuMs, reconnect: reconnectMs / RECONNECTS };
  } finally {
    await program.stop();
    await node.stop();
  }
}
