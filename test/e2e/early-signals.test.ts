import { readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PATIENT_STOP } from '../support/accelerated-node.ts';
import { LONGEST_WAIT_MS } from '../support/eventually.ts';
import { configFile, endPrograms, runProgram } from '../support/program.ts';

afterEach(endPrograms);

/** Enough servers that loading the configuration takes a while. */
const SERVERS = 1_000;

function yaml(): string {
  const ids = Array.from({ length: SERVERS }, (_, index) => (index + 0x10_00_00_00).toString(16));
  return [
    'panels:',
    '  - name: main',
    '    url: http://127.0.0.1:1',
    '    api_key: ptlc_a_key_of_this_test',
    '    servers:',
    ...ids.map((id) => `      - { id: "${id}" }`),
  ].join('\n');
}

/** Whether the process handles this signal already. */
async function handles(pid: number | undefined, signal: NodeJS.Signals): Promise<boolean> {
  const status = await readFile(`/proc/${pid ?? 'self'}/status`, 'utf8');
  const [, mask = '0'] = /^SigCgt:\s*(\w+)$/m.exec(status) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

function untilHandled(pid: number | undefined, signal: NodeJS.Signals): Promise<void> {
  const options = { timeout: LONGEST_WAIT_MS, interval: 1 };
  return vi.waitFor(async () => expect(await handles(pid, signal)).toBe(true), options);
}

/** Starts `serve`, and waits for the first moment in which it handles signals. */
async function serveAtFirstInstant() {
  const file = await configFile(yaml());
  const program = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0']);
  // Node.js itself doesn't handle this one.
  await untilHandled(program.pid, 'SIGHUP');
  return program;
}

const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

/** Holds the loading of the program after its first file until this file exists, and prints it. */
const heldUntil = (file: string) =>
  dataUrl(`
  import { existsSync, writeSync } from 'node:fs';
  export async function load(url, context, next) {
    if (url.endsWith('/program.js')) {
      writeSync(1, 'loading the program');
      while (!existsSync(${JSON.stringify(file)})) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return next(url, context);
  }`);

/** Starts `serve`, and waits until only its first file is loaded. */
async function serveBeforeItsProgram() {
  const file = await configFile(yaml());
  const go = `${file}.go`;
  const hook = dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(heldUntil(go))});`);
  const program = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0'], {
    nodeFlags: [...PATIENT_STOP, '--import', hook],
  });
  await program.printed(/loading the program/);
  return { program, loads: () => writeFile(go, '') };
}

describe('before the program is loaded', () => {
  it('SIGTERM ends it with 0', async () => {
    const { program } = await serveBeforeItsProgram();
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.stderr).toBe('');
  });

  it('SIGHUP is remembered until it can reload', async () => {
    const { program, loads } = await serveBeforeItsProgram();
    program.kill('SIGHUP');
    await loads();
    await program.printed(/serving metrics on [^]*nothing changed \(panels: 1 unchanged/);
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

/** The time of a signal after that moment: while modules load, and while the configuration is read. */
const DELAYS_MS = [0, 100];

const after = (delayMs: number) => new Promise((resolve) => void setTimeout(resolve, delayMs));

describe.each(DELAYS_MS)('%i ms after the first instant', (delayMs) => {
  it('SIGINT ends the program with 0', async () => {
    const program = await serveAtFirstInstant();
    await after(delayMs);
    program.kill('SIGINT');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('SIGHUP reloads the configuration once the program has started', async () => {
    const program = await serveAtFirstInstant();
    await after(delayMs);
    program.kill('SIGHUP');
    await program.printed(/serving metrics on [^]*nothing changed \(panels: 1 unchanged/);
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

it('SIGUSR1 opens no inspector', async () => {
  const program = await serveAtFirstInstant();
  program.kill('SIGUSR1');
  await program.printed(/serving metrics on/);
  program.kill('SIGUSR1');
  program.kill('SIGHUP');
  await program.printed(/nothing changed/);
  expect(program.stderr).not.toMatch(/debugger|inspector/i);
  program.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: 0, signal: null });
});

it('SIGTERM ends `check` with the code of the signal, because it has no result yet', async () => {
  const program = runProgram(['check', '--config', await configFile(yaml())]);
  // Node.js handles it from early on, and the program from its first moment.
  await untilHandled(program.pid, 'SIGUSR1');
  await after(50);
  program.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: null, signal: 'SIGTERM' });
});
