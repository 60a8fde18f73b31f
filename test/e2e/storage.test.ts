import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { configFor } from '../support/exporter.ts';
import { endPrograms, metricsAt, runProgram } from '../support/program.ts';

const SERVING = /serving metrics on (http:\S+)\/metrics/;
const FREE_PORT = ['--web.listen-address', '127.0.0.1:0'];

let panel: Simulator;
let folder: string;

beforeAll(async () => {
  panel = await startSimulator({ servers: [{ name: 'survival', profile: 'steady' }] });
});
afterAll(() => panel.stop());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'storage-'));
  await writeFile(join(folder, 'config.yaml'), configFor(panel));
});
afterEach(async () => {
  await endPrograms();
  await rm(folder, { recursive: true });
});

const run = (...args: readonly string[]) => runProgram(args, { cwd: folder });
const filesIn = async (path: string) => (await readdir(join(folder, path))).toSorted();

describe('serve', () => {
  it('keeps its state in the folder of --storage.path, and each shard in its own file', async () => {
    const shards = ['0', '1'].map((shard) =>
      run('serve', ...FREE_PORT, '--storage.path=kept', '--shard', shard, '--total-shards', '2'),
    );
    for (const shard of shards) {
      await shard.printed(SERVING);
      shard.kill('SIGTERM');
      expect((await shard.ended).code).toBe(0);
      expect(shard.stderr).not.toContain('"level":"warn"');
    }
    expect(await filesIn('kept')).toEqual(['state-0', 'state-1']);
  });

  it('writes nothing with an empty path', async () => {
    const program = run('serve', ...FREE_PORT, '--storage.path=');
    await program.printed(SERVING);
    program.kill('SIGTERM');
    expect((await program.ended).code).toBe(0);
    expect(await filesIn('.')).toEqual(['config.yaml']);
  });

  it('runs beside another exporter with the same path, and says that it keeps nothing', async () => {
    const first = run('serve', ...FREE_PORT, '--storage.path=kept');
    await first.printed(SERVING);
    const second = run('serve', ...FREE_PORT, '--storage.path=kept');
    const [, url = ''] = await second.printed(SERVING);
    expect(second.stderr).toContain("state can't be kept in kept: another exporter uses it");
    await metricsAt(url).until('gameserver_collection_up', { server: 'survival' }, [1]);
    for (const program of [second, first]) {
      program.kill('SIGTERM');
      expect((await program.ended).code).toBe(0);
    }
    expect(await filesIn('kept')).toEqual(['state-0']);
    // A killed exporter leaves its lock without an owner.
    const killed = run('serve', ...FREE_PORT, '--storage.path=kept');
    await killed.printed(SERVING);
    killed.kill('SIGKILL');
    await killed.ended;
    expect(await filesIn('kept')).toEqual(['state-0', 'state-0.lock']);
    const next = run('serve', ...FREE_PORT, '--storage.path=kept');
    await next.printed(SERVING);
    expect(next.stderr).not.toContain("state can't be kept");
  });

  it('runs although its path is a file, and warns once', async () => {
    const program = run('serve', ...FREE_PORT, '--storage.path=config.yaml');
    const [, url = ''] = await program.printed(SERVING);
    await metricsAt(url).until('gameserver_collection_up', { server: 'survival' }, [1]);
    program.kill('SIGTERM');
    expect((await program.ended).code).toBe(0);
    expect(program.stderr.match(/state can't be kept in config\.yaml: a file has this name/g)).toHaveLength(
      1,
    );
  });
});

it.each(['check', 'doctor'])('%s writes nothing', async (command) => {
  const program = run(command);
  await program.ended;
  expect(await filesIn('.')).toEqual(['config.yaml']);
});

it.each([
  ['demo', ['--web.listen-address', '127.0.0.1:0', '--panel-port', '0', '--control-port', '0']],
  ['simulate', ['--web.listen-address', '127.0.0.1:0', '--control-port', '0', '--api-key', 'ptlc_nobody']],
])('%s writes nothing', async (command, flags) => {
  const program = run(command, ...flags);
  await program.printed(/http:\/\/127\.0\.0\.1:\d+/);
  program.kill('SIGTERM');
  await program.ended;
  expect(await filesIn('.')).toEqual(['config.yaml']);
});
