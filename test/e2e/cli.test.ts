import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { configFile, endPrograms, metricsAt, runProgram, serveProgram } from '../support/program.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const BAD = join(REPOSITORY, 'test/fixtures/config/bad');
const KEY = 'ptlc_TopSecretKeyOfThisTest';
const PROXY_PASSWORD = 'TopSecretProxyPassword';

/** A port of this machine where nothing listens: the lowest, which nobody gives away. */
const NOTHING_THERE = 'http://127.0.0.1:1';

const YAML = [
  'panels:',
  '  - name: main',
  `    url: ${NOTHING_THERE}`,
  `    api_key: ${KEY}`,
  '    servers: [{ id: 1a7ce997, name: survival }]',
].join('\n');

let occupant: Server | undefined;

afterEach(async () => {
  await endPrograms();
  if (occupant === undefined) return;
  occupant.close();
  await once(occupant, 'close');
  occupant = undefined;
});

/** Runs the program until it ends by itself. */
async function outcome(args: readonly string[], options: Parameters<typeof runProgram>[1] = {}) {
  const program = runProgram(args, options);
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}

async function takenPort(): Promise<number> {
  occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
  return (occupant.address() as AddressInfo).port;
}

describe('the command line', () => {
  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await outcome(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [[], ['serve', 'check', 'demo', 'simulate', '--version']],
    [['serve'], ['--config', '--web.listen-address', '--log.level', '--log.format']],
    [['check'], ['--config']],
    [['demo'], ['--port', '--panel-port', '--control-port', '--log.level', '--log.format']],
    [
      ['simulate'],
      ['--port', '--control-port', '--servers', '--rate-limit', '--token-lifetime', '--api-key'],
    ],
  ])('%j --help names what there is', async (command, named) => {
    const { code, stdout, stderr } = await outcome([...command, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const name of named) expect(stdout).toContain(` ${name} `);
  });

  it.each([
    [['--nope'], "unknown option '--nope'"],
    [['serve', '--nope'], "unknown option '--nope'"],
    [['check', '--nope'], "unknown option '--nope'"],
    [['demo', '--nope'], "unknown option '--nope'"],
    [['simulate', '--nope'], "unknown option '--nope'"],
    [['nope'], 'too many arguments'],
    [['check', 'a.yaml', 'b.yaml'], 'too many arguments'],
    [['serve', '--log.level', 'loud'], "'loud' is invalid. Allowed choices are debug, info, warn, error"],
    [['serve', '--config'], "option '--config <file>' argument missing"],
    [['demo', '--port', '65536'], 'Expected a whole number from 0 to 65535'],
    [['simulate', '--servers', 'many'], 'Expected a whole number'],
    [['serve', '--web.listen-address', 'nowhere'], '--web.listen-address "nowhere": expected [host]:port'],
  ])('%j is wrong usage', async (args, message) => {
    const { code, stdout, stderr } = await outcome(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
  });
});

describe('a configuration that is no good', () => {
  const run = async (command: 'serve' | 'check', name: string) => {
    const flags = command === 'serve' ? ['--web.listen-address', '127.0.0.1:0'] : [];
    return outcome([command, '--config', `${name}.yaml`, ...flags], { cwd: BAD });
  };

  it.each([
    'empty',
    'not-yaml',
    'unknown-key',
    'server-twice-short-and-long',
    'server-name-twice',
    'url-without-scheme',
    'label-name-invalid',
    'label-name-taken',
    'variable-unset',
    'api-key-file-missing',
    'api-key-file-a-directory',
    'many-at-once',
  ])('%s: a line each with its place, and nothing is started', async (name) => {
    const expected = readFileSync(join(BAD, `${name}.expected`), 'utf8');
    for (const line of expected.trimEnd().split('\n')) expect(line).toMatch(/^[\w-]+\.yaml:\d+:\d+: \S/);
    expect(await run('serve', name)).toEqual({
      code: 1,
      stdout: '',
      stderr: expected.replaceAll(/^(?=.)/gm, 'error: '),
    });
    expect(await run('check', name)).toEqual({ code: 1, stdout: '', stderr: expected });
  });

  it('that is not there', async () => {
    const cwd = dirname(await configFile(''));
    const missing =
      "missing.yaml: can't be read: there is no such file; copy config.example.yaml there, or name another file with --config\n";
    expect(await outcome(['serve', '--config', 'missing.yaml'], { cwd })).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${missing}`,
    });
    expect(await outcome(['check', 'missing.yaml'], { cwd })).toEqual({
      code: 1,
      stdout: '',
      stderr: missing,
    });
  });

  it('is config.yaml by default, and serve is the default command', async () => {
    const cwd = dirname(await configFile('panels: []'));
    const { code, stderr } = await outcome([], { cwd });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: config\.yaml:1:9: panels: .+\n$/) as string,
    });
  });
});

describe('check', () => {
  it('prints what a good configuration means, without its secrets', async () => {
    const file = await configFile(
      [YAML, `    proxy_url: http://me:${PROXY_PASSWORD}@127.0.0.1:2`].join('\n'),
    );
    const { code, stdout, stderr } = await outcome(['check', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const part of [`${file} is valid`, NOTHING_THERE, 'survival', '1a7ce997', 'http://127.0.0.1:2']) {
      expect(stdout).toContain(part);
    }
    expect(stdout).not.toContain('TopSecret');
  });

  it('accepts the example', async () => {
    const example = readFileSync(join(REPOSITORY, 'config.example.yaml'), 'utf8');
    const file = await configFile(example.replace('/run/secrets/panel-key', 'panel-key'));
    const key = join(dirname(file), 'panel-key');
    expect((await outcome(['check', file])).stderr).toContain('the file "panel-key" can\'t be read');
    await (await import('node:fs/promises')).writeFile(key, `${KEY}\n`);
    expect(await outcome(['check', file])).toMatchObject({ code: 0, stderr: '' });
  });

  it('takes secrets from variables', async () => {
    const file = await configFile(YAML.replace(KEY, '${PANEL_KEY}'));
    const { code, stdout } = await outcome(['check', file], { env: { PANEL_KEY: KEY } });
    expect(code).toBe(0);
    expect(stdout).not.toContain(KEY);
  });
});

describe('serve', () => {
  it('names a port that is taken, in one line', async () => {
    const port = await takenPort();
    const file = await configFile(YAML);
    const listen = ['--web.listen-address', `127.0.0.1:${port}`];
    const { code, stdout, stderr } = await outcome(['serve', '--config', file, ...listen]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `error: cannot listen on 127.0.0.1:${port}: port ${port} is already in use; stop what listens there, or choose another with --web.listen-address\n`,
    );
  });

  it('answers soon after its start though the panel is down', async () => {
    const startedAt = performance.now();
    const { scrape, until } = await serveProgram({ yaml: YAML });
    await scrape();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await until('gameserver_panel_up', { panel: 'main' }, [0]);
    await until('gameserver_collection_up', { server: 'survival' }, [0]);
  });

  it('is ready once it listens', async () => {
    const { url } = await serveProgram({ yaml: YAML });
    for (const path of ['/-/healthy', '/-/ready', '/']) {
      expect((await fetch(`${url}${path}`)).status, path).toBe(200);
    }
  });
});

describe('logs', () => {
  const UNREACHABLE = /panel main .* can't be reached/;

  it('are JSON where they don’t go to a terminal', async () => {
    const { process } = await serveProgram({ yaml: YAML });
    await process.printed(UNREACHABLE);
    const lines = process.stderr.trimEnd().split('\n');
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toContainEqual(expect.stringMatching(UNREACHABLE));
    expect(process.stdout).toBe('');
  });

  it('are pretty where that is asked for, and the flag wins over the configuration', async () => {
    const yaml = `${YAML}\nlog: { format: json }`;
    const { process } = await serveProgram({ yaml, flags: ['--log.format', 'pretty'] });
    await process.printed(UNREACHABLE);
    expect(process.stderr).not.toMatch(/^\{/m);
    expect(process.stderr).toMatch(/INFO.*serving metrics on/);
  });

  it('are at the level of the configuration', async () => {
    const { process } = await serveProgram({ yaml: `${YAML}\nlog: { level: debug }` });
    await process.printed(/"level":20,/);
  });

  it('are at the level of the flag, which wins', async () => {
    const port = await freePort();
    const file = await configFile(`${YAML}\nlog: { level: debug }`);
    const listen = ['--web.listen-address', `127.0.0.1:${port}`];
    const program = runProgram(['serve', '--config', file, ...listen, '--log.level', 'error']);
    await program.printed(UNREACHABLE);
    const { until } = metricsAt(`http://127.0.0.1:${port}`);
    await until('gameserver_panel_up', { panel: 'main' }, [0]);
    const levels = program.stderr
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { level: number }).level);
    expect(new Set(levels)).toEqual(new Set([50]));
  });
});

async function freePort(): Promise<number> {
  const port = await takenPort();
  occupant?.close();
  occupant = undefined;
  return port;
}
