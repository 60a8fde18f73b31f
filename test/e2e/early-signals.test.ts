import { execFile } from 'node:child_process';
import { open, readdir, readFile, readlink, rename, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { acceleratedNode, PATIENT_STOP } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { configFile, endPrograms, runProgram } from '../support/program.ts';

afterEach(endPrograms);

/** So many servers that loading the configuration takes a while. */
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

/** Whether the process already handles this signal. */
async function handles(pid: number | undefined, signal: NodeJS.Signals): Promise<boolean> {
  const status = await readFile(`/proc/${pid ?? 'self'}/status`, 'utf8');
  const [, mask = '0'] = /^SigCgt:\s*(\w+)$/m.exec(status) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

function untilHandled(pid: number | undefined, signal: NodeJS.Signals): Promise<void> {
  return eventually(async () => expect(await handles(pid, signal)).toBe(true));
}

/** Starts `serve`, and waits for the first moment in which it handles signals. */
async function serveAtFirstInstant() {
  const file = await configFile(yaml());
  const program = runProgram(['serve', '--config', file, '--web.listen-address', '127.0.0.1:0']);
  // A signal that Node.js itself doesn't handle.
  await untilHandled(program.pid, 'SIGHUP');
  return program;
}

const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

/**
 * A module hook that reports when the program is loaded, and delays that until this file exists.
 */
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

/** Starts `serve`, and waits until only its first module is loaded. */
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

/**
 * Flags for a slower clock. The program waits at most five seconds for a pipe, but a busy machine
 * needs longer.
 */
const PATIENT = acceleratedNode(1 / 20);

/** Starts a command whose configuration is a pipe, and waits until it reads the pipe. */
async function readingItsConfiguration(command: readonly string[], flags: readonly string[] = []) {
  const file = await configFile('');
  const [pipe, text] = [`${file}.pipe`, `${file}.text`];
  await promisify(execFile)('mkfifo', [pipe]);
  // The file doesn't end for its reader as long as another process may write.
  const writer = await open(pipe, 'r+');
  const program = runProgram([...command, '--config', pipe, ...flags], { nodeFlags: PATIENT });
  await eventually(async () => expect(await openFiles(program.pid)).toContain(pipe));
  return {
    program,
    /** Completes the configuration. A reload reads the same text from a file. */
    configure: async () => {
      await writeFile(text, yaml(), { mode: 0o600 });
      await rename(text, pipe);
      await writer.writeFile(yaml());
      await writer.close();
    },
    close: () => writer.close(),
  };
}

async function openFiles(pid: number | undefined): Promise<readonly string[]> {
  const folder = `/proc/${pid ?? 'self'}/fd`;
  return Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')));
}

describe('at the first instant', () => {
  it('SIGINT ends the program with 0', async () => {
    const program = await serveAtFirstInstant();
    program.kill('SIGINT');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('SIGHUP reloads the configuration once the program has started', async () => {
    const program = await serveAtFirstInstant();
    program.kill('SIGHUP');
    await program.printed(/serving metrics on [^]*nothing changed \(panels: 1 unchanged/);
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

describe('while the configuration is read', () => {
  const serve = () => readingItsConfiguration(['serve'], ['--web.listen-address', '127.0.0.1:0']);

  it('SIGINT ends the program with 0', async () => {
    const { program, close } = await serve();
    program.kill('SIGINT');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await close();
  });

  it('SIGHUP reloads the configuration once the program has started', async () => {
    const { program, configure } = await serve();
    program.kill('SIGHUP');
    await configure();
    await program.printed(/serving metrics on [^]*nothing changed \(panels: 1 unchanged/);
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('SIGTERM ends `check` with the code of the signal, because it has no result yet', async () => {
    const { program, close } = await readingItsConfiguration(['check']);
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: null, signal: 'SIGTERM' });
    await close();
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
