import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { PATIENT_STOP } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { configFor } from '../support/exporter.ts';
import { freePort } from '../support/free-port.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms, metricsAt, valuesIn } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const DROPPED = 'gameserver_exporter_log_lines_dropped_total';
const RELOADED = 'gameserver_exporter_config_last_reload_success_timestamp_seconds';

let panel: Simulator;

beforeEach(async () => {
  panel = await startSimulator({ servers: [{ name: 'survival', profile: 'steady' }] });
});

afterEach(async () => {
  await endPrograms();
  await panel.stop();
});

interface Outputs {
  readonly file: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly format?: 'json' | 'pretty';
}

/** Starts `serve` with its output in these files. */
async function serveInto({ file, stdout, stderr, format = 'json' }: Outputs) {
  const port = await freePort();
  const command = `exec "$0" "$@" >${stdout} 2>${stderr}`;
  const flags = ['--web.listen-address', `127.0.0.1:${port}`, '--log.format', format];
  const program = launch('sh', [
    '-c',
    command,
    process.execPath,
    ...PATIENT_STOP,
    CLI,
    'serve',
    '--storage.path=',
    '--config',
    file,
    ...flags,
  ]);
  return { program, ...metricsAt(`http://127.0.0.1:${port}`) };
}

describe('a log on a full disk', () => {
  it.each(['json', 'pretty'] as const)('stops nothing, with %s lines', async (format) => {
    const file = await configFile(configFor(panel, ['requests_per_minute: 6000']));
    const { program, until, scrape } = await serveInto({
      file,
      stdout: '/dev/full',
      stderr: '/dev/full',
      format,
    });
    await until('gameserver_collection_streaming', { server: 'survival' }, [1]);
    const [before = 0] = valuesIn(await scrape(), RELOADED);
    program.kill('SIGHUP');
    await eventually(async () => expect(valuesIn(await scrape(), RELOADED)[0]).toBeGreaterThan(before));
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

describe('a log into a pipe', () => {
  /** A configuration, and a named pipe next to it. */
  async function fileAndPipe() {
    const file = await configFile(configFor(panel, ['requests_per_minute: 6000']));
    const pipe = join(dirname(file), 'log');
    execFileSync('mkfifo', [pipe]);
    return { file, pipe };
  }

  it('without a reader loses its lines, which are counted, and stops nothing', async () => {
    const { file, pipe } = await fileAndPipe();
    const serving = serveInto({ file, stdout: '/dev/null', stderr: pipe });
    const reader = await open(pipe, 'r');
    const { program, until, scrape } = await serving;
    await reader.read();
    await reader.close();
    await until('gameserver_collection_streaming', { server: 'survival' }, [1]);
    const [before = 0] = valuesIn(await scrape(), DROPPED);
    program.kill('SIGHUP');
    // At least this line was lost. Others may be lost at any time.
    await eventually(async () => expect(valuesIn(await scrape(), DROPPED)[0]).toBeGreaterThan(before));
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});
