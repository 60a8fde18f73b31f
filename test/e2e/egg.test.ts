import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
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

/** The start-up command as the container's own shell receives it. */
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

  /** Runs the installation as a panel does, with a temporary folder mounted for the server's files. */
  const install = async () => {
    const script = join(folder, 'install.sh');
    await writeFile(script, egg.scripts.installation.script.replaceAll('/mnt/server', folder));
    const env = { ...npmEnvironment(), EXPORTER_PACKAGE: installed.tarball };
    const installation = launch('bash', [script], { env });
    expect(await installation.ended, installation.stderr).toEqual({ code: 0, signal: null });
    return installation.stdout;
  };

  it('installs, starts as the panel recognizes, serves, and stops on the signal that it names', async () => {
    expect(await install()).toContain('gameserver-exporter, version ');

    const panel = runProgram(['simulate', '--port', '0', '--control-port', '0', '--api-key', 'ptlc_egg']);
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

  it('keeps the configuration when it is installed again', async () => {
    await writeFile(join(folder, 'config.yaml'), '# mine\n');
    await install();
    expect(await readFile(join(folder, 'config.yaml'), 'utf8')).toBe('# mine\n');
  });
});
