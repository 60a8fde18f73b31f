import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { readManifest } from '../support/deploy-files.ts';
import { type InstalledPackage, installPackage, npmEnvironment } from '../support/npm-package.ts';
import { endProcesses, launch } from '../support/process.ts';
import { metricsAt, runProgram } from '../support/program.ts';

const eggSchema = z.object({
  startup: z.string(),
  config: z.object({ startup: z.string(), stop: z.string() }),
  scripts: z.object({ installation: z.object({ script: z.string() }) }),
});

const egg = eggSchema.parse(
  JSON.parse(
    await readFile(new URL('../../deploy/pterodactyl/egg-gameserver-exporter.json', import.meta.url), 'utf8'),
  ),
);

/** The start-up command in the form in which the container's shell receives it. */
const startup = egg.startup.replaceAll('{{', '${').replaceAll('}}', '}');
const { done } = z.object({ done: z.string() }).parse(JSON.parse(egg.config.startup));

describe('the egg', () => {
  let installed: InstalledPackage;
  let folder: string;

  beforeAll(async () => {
    installed = await installPackage();
    folder = await mkdtemp(join(tmpdir(), 'egg-'));
  });

  afterEach(endProcesses);
  afterAll(() => Promise.all([installed.remove(), rm(folder, { recursive: true })]));

  /** Runs the installation like a panel, with a temporary folder for the server's files. */
  const tryInstall = async ({ hash = '', ...env }: Readonly<Record<string, string>>) => {
    const script = join(folder, 'install.sh');
    const text = egg.scripts.installation.script.replace("integrity=''", `integrity='${hash}'`);
    await writeFile(script, text.replaceAll('/mnt/server', folder));
    const installation = launch('bash', [script], { env: { ...npmEnvironment(), ...env } });
    return { ...(await installation.ended), stdout: installation.stdout, stderr: installation.stderr };
  };

  const install = async () => {
    const { code, stdout, stderr } = await tryInstall({ EXPORTER_PACKAGE: installed.tarball });
    expect(code, stderr).toBe(0);
    return stdout;
  };

  /** Starts a registry with the package, and sets an empty npm cache. */
  const withRegistry = async () => {
    const bytes = await readFile(installed.tarball);
    const registry = createServer((request, response) => {
      const { port } = registry.address() as AddressInfo;
      const tarball = `http://127.0.0.1:${port}/package.tgz`;
      const name = 'gameserver-exporter';
      const { version } = readManifest();
      const manifest = { name, version, dist: { tarball } };
      const index = { name, 'dist-tags': { latest: version }, versions: { [version]: manifest } };
      response.end(request.url === '/package.tgz' ? bytes : JSON.stringify(index));
    });
    registry.listen(0, '127.0.0.1');
    await once(registry, 'listening');
    onTestFinished(() => void registry.close());
    const { port } = registry.address() as AddressInfo;
    const hash = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const env = {
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: join(folder, 'cache'),
      no_proxy: '127.0.0.1',
    };
    return { hash, env };
  };

  it('installs, starts as the panel recognizes, serves, and stops on the configured signal', async () => {
    expect(await install()).toContain('gameserver-exporter, version ');

    const panel = runProgram([
      'simulate',
      '--web.listen-address',
      '127.0.0.1:0',
      '--control-port',
      '0',
      '--api-key',
      'ptlc_egg',
    ]);
    const [, url = ''] = await panel.printed(/simulated panel: (\S+)/);
    const server = launch('bash', ['-c', `exec ${startup}`], {
      cwd: folder,
      env: { SERVER_PORT: '0', PANEL_URL: url, PANEL_API_KEY: 'ptlc_egg' },
    });
    await server.printed(new RegExp(done));
    const [, port = ''] = await server.printed(/serving metrics on http:\/\/[^:]+:(\d+)\//);
    await metricsAt(`http://127.0.0.1:${port}`).until(
      'gameserver_state',
      { panel: 'main', server: 'survival', state: 'running' },
      [1],
    );

    expect(egg.config.stop).toBe('^SIGINT');
    server.kill('SIGINT');
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  it('installs the package of its release from the npm registry, verified by the hash', async () => {
    const { hash, env } = await withRegistry();
    const { code, stdout, stderr } = await tryInstall({ ...env, hash });
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('gameserver-exporter, version ');
  });

  it.each([
    ['a package with another hash', { hash: 'sha512-AAAA' }, 'is not the package of the release'],
    ['a package of the registry before a release', {}, 'this egg is not part of a release'],
    [
      'another version',
      { EXPORTER_PACKAGE: 'gameserver-exporter@0.0.1' },
      'installs gameserver-exporter@\\S+ only',
    ],
    ['another package', { EXPORTER_PACKAGE: 'somebody-elses' }, 'installs gameserver-exporter@\\S+ only'],
  ])('installs nothing for %s, and reports why', async (_what, variables, reason) => {
    const { env } = await withRegistry();
    await rm(join(folder, 'node_modules'), { recursive: true, force: true });
    const { code, stdout } = await tryInstall({ ...env, ...variables });
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`^Nothing was installed: .*${reason}`, 'm'));
    expect((await readdir(folder)).filter((name) => /node_modules|\.tgz$/.test(name))).toEqual([]);
  });

  it('keeps the configuration when it is installed again', async () => {
    await writeFile(join(folder, 'config.yaml'), '# mine\n');
    await install();
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toBe('# mine\n');
  });
});
