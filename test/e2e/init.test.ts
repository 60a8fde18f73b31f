import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { hasProgram } from '../support/has-program.ts';
import { launch } from '../support/process.ts';
import { endPrograms, metricsAt, runProgram } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const hasTerminal = hasProgram('script');

let panel: Simulator;
let folder: string;

beforeAll(async () => {
  const names = ['survival', 'creative', 'lobby', 'skyblock', 'hub', 'test', 'arena'];
  panel = await startSimulator({
    servers: names.map((name) => ({ name, egg: 'Paper' })),
    rateLimitPerMinute: 6_000,
  });
});
afterAll(() => panel.stop());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'init-'));
  await writeFile(join(folder, 'given'), `${panel.apiKey}\n`);
});
afterEach(async () => {
  await endPrograms();
  await rm(folder, { recursive: true });
});

async function outcome(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const program = runProgram(args, { cwd: folder, env });
  const { code } = await program.ended;
  expect(program.stdout + program.stderr).not.toContain(panel.apiKey);
  return { code, stdout: program.stdout, stderr: program.stderr };
}

const written = async () => (await readdir(folder)).filter((name) => name !== 'given').toSorted();
const init = (...more: readonly string[]) => outcome(['init', '--url', panel.url, ...more]);

/** Runs `init` with a shell's redirections. */
function initInShell(args: string, before = '') {
  const command = `${before}exec ${process.execPath} ${CLI} init --url ${panel.url} ${args}`;
  return launch('bash', ['-c', command], { cwd: folder });
}

/**
 * Whether the process waits for its standard input, that is, whether its event loop watches
 * descriptor 0.
 */
async function readsInput(pid: number | undefined): Promise<boolean> {
  const descriptors = `/proc/${pid}/fdinfo`;
  const infos = (await readdir(descriptors)).map((name) =>
    readFile(join(descriptors, name), 'utf8').catch(() => ''),
  );
  return (await Promise.all(infos)).some((info) => /^tfd:\s+0 /m.test(info));
}

describe('init without a terminal', () => {
  it('writes a configuration that check and serve accept, and shows what the key can access', async () => {
    const { code, stdout } = await init('--key-file', 'given');
    expect(code).toBe(0);
    expect(stdout).toContain(`The panel at ${panel.url} accepts the key.

  account  operator
  servers  7: survival, creative, lobby, skyblock, hub and 2 more
  limit    6000 calls per minute, of which the exporter uses at most 4800

Wrote config.yaml and panel-key (readable only by you)
`);
    expect(stdout).toMatch(
      /\nNext:\n {2}node \S+ check --config config\.yaml\n.* doctor --config config\.yaml\n.* serve --config config\.yaml\n$/,
    );
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain(
      `  - name: ${new URL(panel.url).host}\n`,
    );
    for (const name of ['config.yaml', 'panel-key']) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    }
    expect(await readFile(join(folder, 'panel-key'), 'utf8')).toBe(`${panel.apiKey}\n`);
    expect(await outcome(['check', 'config.yaml'])).toMatchObject({ code: 0, stderr: '' });
    const program = runProgram(['serve', '--web.listen-address', '127.0.0.1:0'], { cwd: folder });
    const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
    await metricsAt(url).until('gameserver_collection_up', { server: 'survival' }, [1]);
  });

  it('discovers all servers of the panel with the key of an administrator who has none', async () => {
    const administrators = await startSimulator({
      admin: true,
      apiKeys: [panel.apiKey],
      rateLimitPerMinute: 6_000,
      servers: [
        { name: 'alpha', owned: false },
        { name: 'beta', owned: false },
      ],
    });
    const { code, stdout } = await outcome(['init', '--url', administrators.url, '--key-file', 'given']);
    expect(code).toBe(0);
    expect(stdout).toContain('  servers  2: alpha, beta\n');
    expect(stdout).toMatch(/account {2}operator, an administrator: /);
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain('discover: { type: admin-all }');
    expect(await outcome(['doctor'])).toMatchObject({ code: 0 });
    await administrators.stop();
  });

  it('writes a configuration for a Calagopus with which doctor finds no problems', async () => {
    const calagopus = await startSimulator({
      panel: 'calagopus',
      admin: true,
      servers: [{ name: 'alpha' }, { name: 'beta' }],
    });
    await writeFile(join(folder, 'given'), `${calagopus.apiKey}\n`);
    const { code, stdout } = await outcome(['init', '--url', calagopus.url, '--key-file', 'given']);
    expect(code).toBe(0);
    // These keys have their own permissions.
    expect(stdout).toContain('  account  operator, an administrator\n  servers  2: alpha, beta\n');
    // The panel's limit is 360 calls in 30 s, and only a 429 reports it.
    expect(stdout).toMatch(/limit {4}720 calls per minute/);
    expect(await outcome(['doctor'])).toMatchObject({ code: 0 });
    await calagopus.stop();
  });

  it('stops on a signal while it waits for a key on standard input', async () => {
    // A pipe that its reader has also opened for writing never ends.
    const program = initInShell('--key-file - <> pipe', 'mkfifo pipe; ');
    await eventually(async () => expect(await readsInput(program.pid)).toBe(true));
    program.kill('SIGTERM');
    expect((await program.ended).code).toBe(1);
    expect(program.stderr).toContain('canceled: nothing was written');
  });

  it.each([
    ['a variable', ['--key-variable', 'PANEL_KEY']],
    ['a file that already is the key file', ['--key-file', 'given', '--save-key-to', 'given']],
  ])('reads the key from %s', async (_source, args) => {
    expect(await outcome(['init', '--url', panel.url, ...args], { PANEL_KEY: panel.apiKey })).toMatchObject({
      code: 0,
    });
    const [, keyFile = ''] =
      /api_key_file: (.*)/.exec(await readFile(join(folder, 'config.yaml'), 'utf8')) ?? [];
    expect(await readFile(join(folder, keyFile), 'utf8')).toBe(`${panel.apiKey}\n`);
    expect((await stat(join(folder, keyFile))).mode & 0o777).toBe(0o600);
  });

  it('refuses one file for the configuration and the key, however it is spelled', async () => {
    expect(await init('--key-file', 'given', '--force', '--config', './panel-key')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'error: expected different files for the configuration and the key, got ./panel-key for --config and panel-key for --save-key-to\n',
      ) as string,
    });
    expect(await written()).toEqual([]);
  });

  it('writes answers that look like variables so that they are read as they were given', async () => {
    expect(await init('--key-file', 'given', '--name', 'a${b}', '--save-key-to', 'key${HOME}')).toMatchObject(
      {
        code: 0,
      },
    );
    const text = await readFile(join(folder, 'config.yaml'), 'utf8');
    expect(text).toContain('  - name: a$${b}\n');
    expect(text).toContain('    api_key_file: key$${HOME}\n');
    const { code, stdout } = await outcome(['check']);
    expect(code).toBe(0);
    expect(stdout).toContain('panel a${b}\n');
  });

  it('shows in its help no way that puts the key on a command line', async () => {
    const { stdout } = await outcome(['init', '--help']);
    expect(stdout).toContain('--key-file -');
    expect(stdout).not.toMatch(/KEY=/);
  });

  it('overwrites nothing without --force', async () => {
    await writeFile(join(folder, 'config.yaml'), 'mine');
    expect(await init('--key-file', 'given')).toMatchObject({
      code: 1,
      stderr:
        'error: config.yaml already exists: add --force to overwrite it, or name other files with --config and --save-key-to\n',
    });
    expect(await written()).toEqual(['config.yaml']);
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toBe('mine');
    expect(await init('--key-file', 'given', '--force')).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain(panel.url);
  });

  it('writes nothing if the panel rejects the key, and shows what to do', async () => {
    await writeFile(join(folder, 'given'), 'ptlc_TopSecretKeyOfNobody');
    const { code, stdout, stderr } = await init('--key-file', 'given');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`1. ${CAUSES.key_refused.remedy}`);
    expect(stderr).toMatch(/error: nothing was written\n$/);
    expect(stderr).not.toContain('TopSecret');
    expect(await written()).toEqual([]);
  });

  it("notices a directory that doesn't exist before anything is tested", async () => {
    expect(await init('--key-file', 'given', '--config', 'nowhere/config.yaml')).toEqual({
      code: 1,
      stdout: '',
      stderr: "error: nowhere/config.yaml can't be written: no such directory\n",
    });
    expect(await init('--key-file', 'given', '--save-key-to', 'given/key')).toEqual({
      code: 1,
      stdout: '',
      stderr: "error: given/key can't be written: no such directory\n",
    });
  });

  it('rejects two sources of the key as incorrect usage', async () => {
    const { code, stderr } = await outcome(['init', '--key-file', 'given', '--key-variable', 'KEY']);
    expect(code).toBe(2);
    expect(stderr).toContain('error: expected either --key-file or --key-variable');
  });

  it("doesn't repeat a key that was given as a flag", async () => {
    const { code, stderr } = await outcome(['init', '--key=ptlc_TopSecretKeyOfThisTest']);
    expect(code).toBe(2);
    expect(stderr).toContain("unknown option '--key=<secret>'");
  });
});

const ESCAPE = '\u001b';
/** A line break, or a movement of the cursor after a key. */
const MOVED = new RegExp(String.raw`\r?\n|${ESCAPE}\[\d*[A-GJK]`);

const ALWAYS = 'Which servers should always run?';
/** Selects the last option, because Up wraps around from the first one. */
const LAST = `${ESCAPE}[A\r`;
const DOWN = `${ESCAPE}[B`;

/** Runs `init` in a terminal of its own. */
function inTerminal(args: string, columns = 80) {
  const command = `stty cols ${columns}; exec ${process.execPath} ${CLI} init ${args}`;
  const program = launch('script', ['-q', '-e', '-c', command, '/dev/null'], {
    cwd: folder,
    env: { TERM: 'xterm', SHELL: '/bin/sh' },
    input: 'open',
  });
  const output = () => program.stdout + program.stderr;
  let seen = 0;
  return {
    get output() {
      return stripVTControlCharacters(output());
    },
    get raw() {
      return output();
    },
    ended: program.ended.then(({ code }) => code),
    /** Types keys when the terminal shows this text, after the text of the previous call. */
    async type(after: string, keys: string) {
      await eventually(() => expect(output().slice(seen)).toContain(after));
      seen = output().indexOf(after, seen) + after.length;
      program.write(keys);
    },
  };
}

describe.runIf(hasTerminal)('init in a terminal', () => {
  it("asks for the address and the key, and doesn't show the key", async () => {
    const terminal = inTerminal('');
    await terminal.type('URL of the panel', `${panel.url}\r`);
    await terminal.type('Client API key', 'ptla_TopSecretKeyOfAnAdministrator\r');
    await terminal.type('API key (ptlc_…, pacc_…, plcn_…)', `\u0015${panel.apiKey}\r`);
    await terminal.type(ALWAYS, LAST);
    await terminal.type('Count players?', 'y');
    expect(await terminal.ended).toBe(0);
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain('discover: { query: auto }\n');
    expect(terminal.output).toContain('servers  7: survival');
    expect(terminal.raw).not.toContain('TopSecret');
    expect(terminal.raw).not.toContain(panel.apiKey.slice(0, 12));
    expect(await written()).toEqual(['config.yaml', 'panel-key']);
    expect(await readFile(join(folder, 'panel-key'), 'utf8')).toBe(`${panel.apiKey}\n`);
    expect(await outcome(['check'])).toMatchObject({ code: 0, stderr: '' });
  });

  it.each([
    [
      'those that run now',
      '\r',
      undefined,
      ['survival', 'creative', 'lobby', 'skyblock', 'hub', 'test', 'arena'],
    ],
    ['those that are chosen', `${DOWN}\r`, ` ${DOWN}${DOWN} \r`, ['survival', 'lobby']],
  ])('writes which servers should always run: %s', async (_, answer, choice, expected) => {
    const terminal = inTerminal(`--url ${panel.url} --key-file given`);
    await terminal.type(ALWAYS, answer);
    if (choice !== undefined) await terminal.type('Select with the space bar', choice);
    await terminal.type('Count players?', 'y');
    expect(await terminal.ended).toBe(0);
    const ids = expected.map((name) => `              - "${panel.server(name).identifier}" # ${name}\n`);
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain(
      `    discover:
      query: auto
      expect:
        # These should always run; any other once it has been seen running, until somebody stops it.
        - match:
            id:
${ids.join('')}`,
    );
    expect(await outcome(['check'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('asks again after a failed test, with the previous answers, until it succeeds', async () => {
    const terminal = inTerminal('');
    await terminal.type('URL of the panel', `${panel.url}/panel\r`);
    await terminal.type('Client API key', `${panel.apiKey}\r`);
    await terminal.type('press Ctrl-C to cancel.', '');
    await terminal.type('URL of the panel (leave empty to keep the previous one)', `${panel.url}\r`);
    await terminal.type('not echoed (leave empty to keep the previous one)', '\r');
    await terminal.type(ALWAYS, LAST);
    await terminal.type('Count players?', '\r');
    expect(await terminal.ended).toBe(0);
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain('discover: true\n');
    expect(terminal.output).toContain("1. Set `url` to the panel's base address");
    expect(await written()).toEqual(['config.yaml', 'panel-key']);
    expect(await readFile(join(folder, 'panel-key'), 'utf8')).toBe(`${panel.apiKey}\n`);
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain(`url: ${panel.url}\n`);
  });

  it('asks only for another key after one that the panel rejects', async () => {
    const terminal = inTerminal('');
    await terminal.type('URL of the panel', `${panel.url}\r`);
    await terminal.type('Client API key', 'ptlc_TopSecretKeyThatIsWrong\r');
    await terminal.type('press Ctrl-C to cancel.', '');
    await terminal.type('not echoed (leave empty to keep the previous one)', `${panel.apiKey}\r`);
    await terminal.type(ALWAYS, LAST);
    await terminal.type('Count players?', '\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.output).not.toContain('URL of the panel (leave empty');
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toContain(`url: ${panel.url}\n`);
  });

  it('wraps everything in a narrow terminal, without a break within a word', async () => {
    const terminal = inTerminal('', 60);
    await terminal.type('URL of the panel', `127.0.0.1:${new URL(panel.url).port}\r`);
    await terminal.type('Client API key', `${panel.apiKey}\r`);
    await terminal.type('instead?', 'n');
    await terminal.type('URL of the panel', `${panel.url}\r`);
    await terminal.type('Client API key', 'ptla_Secret\r');
    await terminal.type('not the admin area', `\u0015${panel.apiKey}\r`);
    await terminal.type(ALWAYS, LAST);
    await terminal.type('Count players?', 'n');
    expect(await terminal.ended).toBe(0);
    const [before = '', commands = ''] = terminal.raw.split('Next:');
    const lines = before.split(MOVED).map(stripVTControlCharacters);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(60);
    const words = lines.map((line) => line.trim()).join(' ');
    for (const text of [
      'Client API key (in the panel: account → API credentials), not echoed',
      'Nothing was written. Correct your answers, or press Ctrl-C to cancel.',
      'servers 7: survival, creative, lobby, skyblock, hub and 2 more',
      'limit 6000 calls per minute, of which the exporter uses at most 4800',
    ])
      expect(words.replaceAll(/\s+/g, ' ')).toContain(text);
    expect(lines).toContain('   every 30 seconds.');
    expect(commands).toContain('doctor --config config.yaml');
  });

  it.each([
    ['y', 0, true],
    ['\r', 1, false],
  ])('overwrites only after a yes: %j', async (answer, code, isOverwritten) => {
    await writeFile(join(folder, 'config.yaml'), 'mine');
    const terminal = inTerminal(`--url ${panel.url} --key-file given`);
    await terminal.type('config.yaml exists. Overwrite?', answer);
    if (isOverwritten) {
      await terminal.type(ALWAYS, LAST);
      await terminal.type('Count players?', 'n');
    }
    expect(await terminal.ended).toBe(code);
    expect((await readFile(join(folder, 'config.yaml'), 'utf8')) !== 'mine').toBe(isOverwritten);
    expect((await written()).includes('panel-key')).toBe(isOverwritten);
  });

  it.each(['URL of the panel', 'Client API key'])('writes nothing after Ctrl-C at: %s', async (question) => {
    const terminal = inTerminal(question.includes('key') ? `--url ${panel.url}` : '');
    await terminal.type(question, '\u0003');
    expect(await terminal.ended).toBe(1);
    expect(terminal.output).toContain('error: canceled: nothing was written');
    expect(await written()).toEqual([]);
  });
});
