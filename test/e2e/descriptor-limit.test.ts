import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { configFor } from '../support/exporter.ts';
import { pageData } from '../support/page-data.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms, metricsAt, valuesIn } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const SERVERS = 150;

/** The minimum number of descriptors for scrapes and API calls. */
const RESERVE = 64;

let panel: Simulator;

afterEach(async () => {
  await endPrograms();
  await panel.stop();
});

/** Starts `serve` as a process with this limit of descriptors. */
async function serveWith(descriptors: number, yaml: string) {
  const file = await configFile(yaml);
  const program = launch('sh', [
    '-c',
    `ulimit -n ${descriptors} && exec "$0" "$@"`,
    process.execPath,
    CLI,
    'serve',
    '--storage.path=',
    '--config',
    file,
    '--web.listen-address',
    '127.0.0.1:0',
  ]);
  const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
  return { program, ...metricsAt(url) };
}

/** Scrapes over a new connection, and reads the complete response. */
async function statusOfScrape(url: string): Promise<number | undefined> {
  const [response] = (await once(get(`${url}/metrics`, { agent: false }), 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

it('a process with few file descriptors responds to every scrape, monitors every server, and reports which limit to raise', async () => {
  const servers = Array.from({ length: SERVERS }, (_, index) => ({
    name: `server-${index}`,
    profile: 'steady' as const,
  }));
  panel = await startSimulator({ servers, rateLimitPerMinute: 1_000_000 });
  const { program, url, scrape, until } = await serveWith(
    100,
    configFor(panel, ['requests_per_minute: 6000', 'poll_interval: 20s']),
  );
  const line = await program.printed(/^.*"cause":"descriptors".*$/m);
  const said =
    /limit of 100 open files leaves room for (\d+) console sockets; (\d+) servers have none.*required limit: (\d+)\..*`ulimit -n`/.exec(
      line[0],
    );
  const [sockets = 0, others = 0, wanted = 0] = (said ?? []).slice(1).map(Number);
  expect(sockets).toBeGreaterThan(0);
  expect(sockets).toBeLessThanOrEqual(100 - RESERVE);
  await until('gameserver_exporter_sockets', { state: 'streaming' }, [sockets]);
  // Scrapes still work over new connections, while other connections are idle, servers are polled
  // and sockets are open.
  const idle = Array.from({ length: 80 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  for (const socket of idle) socket.on('error', () => undefined);
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  const answers = await Promise.all(Array.from({ length: 30 }, () => statusOfScrape(url)));
  expect(answers).toEqual(answers.map(() => 200));
  for (const socket of idle) socket.destroy();
  await eventually(async () =>
    expect(sum(valuesIn(await scrape(), 'gameserver_collection_up'))).toBeGreaterThan(SERVERS * 0.9),
  );
  const families = await scrape();
  expect(valuesIn(families, 'gameserver_panel_up')).toEqual([1]);
  expect(valuesIn(families, 'gameserver_exporter_required_file_descriptors')).toEqual([wanted]);
  expect(valuesIn(families, 'gameserver_exporter_allowed_file_descriptors')).toEqual([100]);
  expect(valuesIn(families, 'gameserver_exporter_required_sockets')).toEqual([sockets + others]);
  expect(valuesIn(families, 'gameserver_exporter_allowed_sockets')).toEqual([sockets]);
  expect(valuesIn(families, 'gameserver_panel_problem', { cause: 'descriptors' })).toEqual([1]);
  expect(await pageData(url)).toContain(`required limit: ${wanted}`);
  const json = await (await fetch(`${url}/api/v1/servers`)).text();
  expect(json).toContain(`required limit: ${wanted}`);
  expect(program.stderr).not.toMatch(/EMFILE|could not be accepted|unreachable/);
  expect(panel.record.openSockets).toBe(sockets);
  program.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: 0, signal: null });
});
