import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { basic } from '../integration/http/secure-client.ts';
import { hasProgram } from '../support/has-program.ts';
import { launch } from '../support/process.ts';
import { endPrograms, runProgram, serveProgram } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const PASSWORD = 'TopSecret of $Alice';
const YAML =
  'panels: [{ name: main, url: http://127.0.0.1:1, api_key: ptlc_nobody, servers: [{ id: 1a7ce997 }] }]';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hash-password-'));
});
afterEach(async () => {
  await endPrograms();
  await rm(folder, { recursive: true });
});

it('hashes the password on standard input, for a file that protects the exporter', async () => {
  const program = runProgram(['hash-password', 'alice'], { input: { text: `${PASSWORD}\n` } });
  expect(await program.ended).toEqual({ code: 0, signal: null });
  expect(program.stderr).toBe('');
  const file = join(folder, 'web.yml');
  await writeFile(file, program.stdout);
  const { url } = await serveProgram({ yaml: YAML, flags: ['--web.config.file', file] });
  const statusWith = async (headers: Record<string, string>) =>
    (await fetch(`${url}/metrics`, { headers })).status;
  expect(await statusWith({})).toBe(401);
  expect(await statusWith(basic('alice', 'wrong'))).toBe(401);
  expect(await statusWith(basic('alice', PASSWORD))).toBe(200);
});

it('ends with one line if there is no password', async () => {
  const program = runProgram(['hash-password']);
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.stdout).toBe('');
  expect(program.stderr).toMatch(/^error: standard input: expected a password, but it is empty: pipe one/);
});

describe.runIf(hasProgram('script'))('in a terminal', () => {
  it('asks twice, without an echo', async () => {
    const terminal = launch(
      'script',
      ['-q', '-e', '-c', `exec ${process.execPath} ${CLI} hash-password >hashed`, '/dev/null'],
      { cwd: folder, env: { TERM: 'xterm', SHELL: '/bin/sh' }, input: 'open' },
    );
    await terminal.printed(/Password of prometheus, not echoed/);
    terminal.write(`${PASSWORD}\r`);
    await terminal.printed(/The same password again/);
    terminal.write(`${PASSWORD}\r`);
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.stdout + terminal.stderr).not.toContain('TopSecret');
    expect(await readFile(join(folder, 'hashed'), 'utf8')).toMatch(
      /^basic_auth_users:\n {2}prometheus: \$2b\$10\$\S{53}\n$/,
    );
  });
});
