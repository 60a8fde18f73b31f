import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { configFor } from '../support/exporter.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms, runProgram } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Gives a program a terminal. Part of Debian's base system, and of util-linux on others. */
const SCRIPT = '/usr/bin/script';

const OWN_KEY = 'ptlc_TheUsersOwnKey';

let panel: Simulator;
let config: string;

beforeEach(async () => {
  panel = await startSimulator({
    apiKeys: ['ptlc_TheExportersKey', OWN_KEY],
    servers: [
      { name: 'survival', profile: 'idle', consoleLinesPerSecond: 0 },
      { name: 'lobby', profile: 'offline' },
    ],
  });
  config = await configFile(configFor(panel));
});

afterEach(async () => {
  await endPrograms();
  await panel.stop();
});

type Env = Readonly<Record<string, string>>;

const open = (args: readonly string[], env: Env = {}) =>
  runProgram(['console', '--config', config, ...args], { env, input: 'open' });

/** Runs the command until it exits. */
async function outcome(args: readonly string[], env: Env = {}, text = '') {
  const program = runProgram(['console', '--config', config, ...args], { env, input: { text } });
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}

const commands = () =>
  panel.record.frames.filter(({ event }) => event === 'send command').map(({ args }) => args?.[0]);

const NOTES = '-- connected to survival on panel main\n-- survival is running\n';
const OWN = { GAMESERVER_CONSOLE_API_KEY: OWN_KEY };

describe('console on a pipe', () => {
  it('sends each line, and prints only what the server prints', async () => {
    const { code, stdout, stderr } = await outcome(['survival'], OWN, 'list\nsave-all\n');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '> list\n> save-all\n', stderr: NOTES });
  });

  it.each(['SIGTERM'] as const)('ends with 0 on %s', async (signal) => {
    const opened = open(['survival'], OWN);
    await eventually(() => expect(opened.stderr).toBe(NOTES));
    opened.kill(signal);
    expect(await opened.ended).toEqual({ code: 0, signal: null });
    await eventually(() =>
      expect(panel.record.sockets(panel.server('survival').uuid)).toMatchObject({ open: 0 }),
    );
  });

  it('ends quietly when its reader is gone', async () => {
    const opened = open(['survival'], OWN);
    await eventually(() => expect(opened.stderr).toBe(NOTES));
    opened.leave();
    let isOver = false;
    const ended = opened.ended.finally(() => (isOver = true));
    await eventually(() => {
      panel.sockets({ kind: 'send', event: 'console output', args: ['x'.repeat(1_000)] });
      expect(isOver).toBe(true);
    });
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(opened.stderr).toBe(NOTES);
  });
});

describe('the key of a console', () => {
  it("is the exporter's if there is no other, and the console shows this", async () => {
    const { code, stderr } = await outcome(['survival', '--send', 'list']);
    expect(code).toBe(0);
    expect(stderr).toContain(
      "-- using the exporter's API key from the configuration (inline): prefer your own",
    );
  });

  it("is the user's own from a file or variable, and the exporter's key need not be readable", async () => {
    const yaml = configFor(panel).replace('api_key: ptlc_TheExportersKey', 'api_key_file: not-for-you');
    config = await configFile(yaml);
    const file = join(dirname(config), 'own-key');
    await writeFile(file, `${OWN_KEY}\n`);
    await chmod(file, 0o600);
    expect(await outcome(['survival', '--api-key-file', file])).toMatchObject({ code: 0, stderr: NOTES });
    expect(await outcome(['survival'], OWN)).toMatchObject({ code: 0, stderr: NOTES });
    expect(await outcome(['survival'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the file "not-for-you" can\'t be read') as string,
    });
  });
});

describe('a console that fails', () => {
  it.each([
    [[], "missing required argument 'server'"],
    [['survival', '--for', '0s'], 'Expected a duration such as 5s or 10m'],
    [
      ['survival', '--power', 'kill'],
      '--power kill asks for confirmation, but there is no terminal: add --yes',
    ],
  ])('%j is rejected as incorrect usage', async (args, words) => {
    const { code, stdout, stderr } = await outcome(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(words);
    expect(panel.record.calls).toEqual([]);
  });
});

describe.skipIf(!existsSync(SCRIPT))('console in a terminal', () => {
  const openInTerminal = (args: readonly string[]) => {
    const words = [process.execPath, CLI, 'console', '--config', config, ...args];
    return launch(SCRIPT, ['-qec', words.join(' '), '/dev/null'], {
      env: { TERM: 'xterm', ...OWN },
      input: 'open',
    });
  };

  it('sends typed lines, shows only colors, and ends on Ctrl-D', async () => {
    const opened = openInTerminal(['survival']);
    await eventually(() => expect(opened.stdout).toContain('survival is running'));
    expect(opened.stdout).toContain('survival> ');
    opened.write('list\r');
    await eventually(() => expect(commands()).toEqual(['list']));
    const hostile = '\u001b]0;owned\u0007\u001b[31mred\u001b[?1049h';
    panel.sockets({ kind: 'send', event: 'console output', args: [hostile] });
    await eventually(() => expect(opened.stdout).toContain('\u001b[31mred\u001b[0m\r\n'));
    opened.write('\u0004');
    expect(await opened.ended).toMatchObject({ code: 0 });
    expect(opened.stdout).not.toContain('owned');
    expect(opened.stdout).not.toContain('?1049h');
  });

  it.each([
    ['n', 1, 'running', 'stop was not confirmed: nothing was done'],
    ['y', 0, 'offline', 'stop completed: survival is offline'],
  ])('asks before it stops a server, and accepts %s', async (answer, code, state, words) => {
    const opened = openInTerminal(['survival', '--power', 'stop']);
    await eventually(() => expect(opened.stdout).toContain('stop survival on panel main? [y/N] '));
    expect(panel.record.calls).toEqual([]);
    opened.write(`${answer}\r`);
    expect(await opened.ended).toMatchObject({ code });
    expect(opened.stdout).toContain(words);
    expect(panel.server('survival').state).toBe(state);
  });
});
