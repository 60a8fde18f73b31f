import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { configFor } from '../support/exporter.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms, metricsAt, valuesIn } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const DROPPED = 'gameserver_exporter_log_lines_dropped_total';

let panel: Simulator;

beforeEach(async () => {
  panel = await startSimulator({ servers: [{ name: 'survival', profile: 'steady' }] });
});

afterEach(async () => {
  await endPrograms();
  await panel.stop();
});

/** A port that nothing listens on, because the program can't print which one it chose. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

interface Outputs {
  readonly file: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly format?: 'json' | 'pretty';
}

/** Starts `serve` with its outputs in these files. */
async function serveInto({ file, stdout, stderr, format = 'json' }: Outputs) {
  const port = await freePort();
  const command = `exec "$0" "$@" >${stdout} 2>${stderr}`;
  const flags = ['--web.listen-address', `127.0.0.1:${port}`, '--log.format', format];
  const program = launch('sh', ['-c', command, process.execPath, CLI, 'serve', '--config', file, ...flags]);
  return { program, ...metricsAt(`http://127.0.0.1:${port}`) };
}

describe('a log on a full disk', () => {
  it.each(['json', 'pretty'] as const)(
    'loses its %s lines, which are counted, and stops nothing',
    async (format) => {
      const file = await configFile(configFor(panel, ['requests_per_minute: 6000']));
      const { program, until, scrape } = await serveInto({
        file,
        stdout: '/dev/full',
        stderr: '/dev/full',
        format,
      });
      await until('gameserver_collection_streaming', { server: 'survival' }, [1]);
      const [before = 0] = valuesIn(await scrape(), DROPPED);
      expect(before).toBeGreaterThan(0);
      program.kill('SIGHUP');
      await until(DROPPED, {}, [before + 1]);
      program.kill('SIGTERM');
      expect(await program.ended).toEqual({ code: 0, signal: null });
    },
  );
});

describe('a log into a pipe', () => {
  /** Starts `serve` with its log in a pipe, whose other end the caller holds. */
  async function serveIntoPipe(yaml: string) {
    const file = await configFile(yaml);
    const pipe = join(dirname(file), 'log');
    execFileSync('mkfifo', [pipe]);
    const [reader, served] = await Promise.all([
      open(pipe, 'r'),
      serveInto({ file, stdout: '/dev/null', stderr: pipe }),
    ]);
    return { reader, file, ...served };
  }

  it('without a reader loses its lines, which are counted, and stops nothing', async () => {
    const { reader, program, until, scrape } = await serveIntoPipe(
      configFor(panel, ['requests_per_minute: 6000']),
    );
    await reader.read();
    await reader.close();
    await until('gameserver_collection_streaming', { server: 'survival' }, [1]);
    const [before = 0] = valuesIn(await scrape(), DROPPED);
    program.kill('SIGHUP');
    await until(DROPPED, {}, [before + 1]);
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});
