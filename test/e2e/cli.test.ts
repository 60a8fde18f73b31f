import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { badConfigFolder, messagesOfBad } from '../support/bad-configs.ts';
import { configFile, endPrograms, runProgram } from '../support/program.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(REPOSITORY, 'dist/cli.js');
const PACKAGE = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
  version: string;
  engines: { node: string };
};
const { folder: BAD, remove: removeBad } = badConfigFolder();
const KEY = 'ptlc_TopSecretKeyOfThisTest';

const YAML = [
  'panels:',
  '  - name: main',
  '    url: https://panel.example.com',
  `    api_key: ${KEY}`,
  '    servers: [{ id: 1a7ce997, name: survival }]',
].join('\n');

// Not after each test, because tests run at the same time and end their programs themselves.
afterAll(async () => {
  await endPrograms();
  removeBad();
});

/** Runs the program until it exits. */
async function outcome(args: readonly string[], options: Parameters<typeof runProgram>[1] = {}) {
  const program = runProgram(args, options);
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}

describe.concurrent('the command line', () => {
  it('prints its version', async () => {
    const { code, stdout, stderr } = await outcome(['--version']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')[0]).toMatch(
      /^gameserver-exporter, version \S+ \(revision: (?:[0-9a-f]{40}|unknown)\)$/,
    );
    expect(stdout).toContain(`version ${PACKAGE.version} `);
    expect(stdout).toContain(`node version:     ${process.version}\n`);
    expect(stdout).toContain(`platform:         ${process.platform}/${process.arch}\n`);
  });

  it.each(['18.19.0', '20.10.0', '20.18.3'])(
    'does not start with Node.js %s, and says which is needed',
    async (version) => {
      const needed = PACKAGE.engines.node.replace('>=', '');
      const versions = JSON.stringify({ ...process.versions, node: version });
      const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:${versions}})`;
      expect(
        await outcome(['--version'], { env: { NODE_OPTIONS: `--import=${encodeURI(pretend)}` } }),
      ).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: gameserver-exporter needs Node.js ${needed} or newer, this is ${version}\n`,
      });
    },
  );

  it.each([
    [['--nope'], "unknown option '--nope'"],
    [['check', '--nope'], "unknown option '--nope'"],
    [['nope'], "unknown command 'nope'"],
    [['docter'], "unknown command 'docter'\n(Did you mean doctor?)"],
    [['docter', '--config', 'a.yaml'], '(Did you mean doctor?)'],
    [['check', '--confg', 'a.yaml'], "unknown option '--confg'\n(Did you mean --config?)"],
    [['--confg', 'a.yaml'], '(Did you mean --config?)'],
    [['--log.level', 'info', 'a.yaml'], "unknown command 'a.yaml'"],
    [['check', 'a.yaml', 'b.yaml'], 'too many arguments'],
    [['serve', 'a.yaml', 'b.yaml'], 'too many arguments'],
    [['a.yaml'], "unknown command 'a.yaml'"],
    [['serve', '--log.level', 'loud'], "'loud' is invalid. Allowed choices are debug, info, warn, error"],
    [['serve', '--config'], "option '--config <file>' argument missing"],
    [['demo', '--panel-port', '65536'], 'Expected an integer from 0 to 65535'],
    [['simulate', '--servers', 'many'], 'Expected an integer'],
    [['demo', '--web.listen-address', '10317'], '--web.listen-address "10317": expected [host]:port'],
    [['simulate', '--web.listen-address', 'x'], '--web.listen-address "x": expected [host]:port'],
    [['hash-password', 'a:b'], 'expected a name without a colon'],
    [['hash-password', 'a', 'b'], 'too many arguments'],
    [['serve', '--web.listen-address', 'nowhere'], '--web.listen-address "nowhere": expected [host]:port'],
  ])('%j is rejected as incorrect usage', async (args, message) => {
    const { code, stdout, stderr } = await outcome(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
  });
});

it('ends quietly if nobody reads its output', async () => {
  const program = spawn(process.execPath, [CLI, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  program.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(program.stderr), once(program, 'exit')]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

describe.concurrent('an invalid configuration', () => {
  it('is reported by serve with a line and a place for each problem, and starts nothing', async () => {
    const serve = ['serve', '--config', 'many-at-once.yaml', '--web.listen-address', '127.0.0.1:0'];
    expect(await outcome(serve, { cwd: BAD })).toEqual({
      code: 1,
      stdout: '',
      stderr: messagesOfBad('many-at-once').replaceAll(/^(?=.)/gm, 'error: '),
    });
  });

  it('is reported by check in the same words', async () => {
    const expected = messagesOfBad('many-at-once');
    expect(await outcome(['check', 'many-at-once.yaml'], { cwd: BAD })).toEqual({
      code: 1,
      stdout: '',
      stderr: expected,
    });
  });

  it('is reported if the file is missing', async () => {
    const cwd = dirname(await configFile(''));
    const missing =
      "missing.yaml: can't be read: no such file; create it with init, copy config.example.yaml there, or name another file with --config\n";
    expect(await outcome(['serve', '--config', 'missing.yaml'], { cwd })).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${missing}`,
    });
    for (const command of ['check', 'doctor']) {
      expect(await outcome([command, 'missing.yaml'], { cwd })).toEqual({
        code: 1,
        stdout: '',
        stderr: missing,
      });
    }
    expect(await outcome(['serve', 'missing.yaml'], { cwd })).toMatchObject({ stderr: `error: ${missing}` });
  });

  it('is read from config.yaml by default, and serve is the default command', async () => {
    const cwd = dirname(await configFile('panels: []'));
    const { code, stderr } = await outcome([], { cwd });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: config\.yaml:1:9: panels: .+\n$/) as string,
    });
  });
});

describe('check', () => {
  it('shows the next command as the user would type it', async () => {
    const file = await configFile(YAML);
    const started = await outcome(['check', file], { env: { npm_lifecycle_event: 'start' } });
    expect(started.stdout).toMatch(/ npm start -- doctor --config \S+\n$/);
    expect((await outcome(['check', file])).stdout).toMatch(/ node \S+cli\.js doctor --config \S+\n$/);
  });
});
