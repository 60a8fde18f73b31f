// A process without file descriptors.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { FastClock } from '../../src/simulator/fast-clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { acceleratedNode } from '../support/accelerated-node.ts';
import { configFor } from '../support/exporter.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms, metricsAt } from '../support/program.ts';
import { DESCRIPTORS_ROW } from './rows/descriptors.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

const SERVERS = 60;

/**
 * The speed of the panel and the exporter, which are separate processes. At a higher speed, a busy
 * machine would miss the exporter's deadlines.
 */
const SPEED = 20;

/** Deadlines that even a busy machine meets. */
const SETTINGS = [
  'requests_per_minute: 600',
  'request_timeout: 20m',
  'connect_timeout: 10m',
  'auth_timeout: 10m',
];

const run = promisify(execFile);

let panel: Simulator | undefined;

afterEach(async () => {
  await endPrograms();
  await panel?.stop();
});

/**
 * Limits the file descriptors of a process. Node.js raises its soft limit to the hard limit at its
 * start.
 */
const limitDescriptors = (pid: string, count: number) => run('prlimit', ['--pid', pid, `--nofile=${count}:`]);

const { name, cause, during, after } = DESCRIPTORS_ROW;

it.each([name])('%s', async () => {
  const clock = new FastClock(SPEED);
  panel = await startSimulator({ servers: SERVERS, clock, rateLimitPerMinute: 1_000_000 });
  const file = await configFile(configFor(panel, SETTINGS));
  const program = launch('sh', [
    '-c',
    'echo pid $$ && exec "$0" "$@"',
    process.execPath,
    ...acceleratedNode(SPEED, Math.round(clock.toUnixMs(0))),
    CLI,
    'serve',
    '--storage.path=',
    '--config',
    file,
    '--web.listen-address',
    '127.0.0.1:0',
  ]);
  const [, pid = ''] = await program.printed(/pid (\d+)/);
  const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
  const metrics = metricsAt(url);
  const streaming = [
    'gameserver_exporter_sockets',
    { panel: 'main', state: 'streaming' },
    [SERVERS],
  ] as const;
  await metrics.until(...streaming);

  await limitDescriptors(pid, during);
  panel.sockets({ kind: 'drop' });
  const line = await program.printed(/^.*"cause":"(\w+)".*Raise the limit on open files.*$/m);
  expect(line[1]).toBe(cause);
  // This scrape may fail, because no descriptor may be left for its connection.
  await fetch(`${url}/metrics`).catch(() => undefined);

  await limitDescriptors(pid, after);
  await metrics.until(...streaming);
  await metrics.until('gameserver_panel_up', { panel: 'main' }, [1]);
  program.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: 0, signal: null });
});
