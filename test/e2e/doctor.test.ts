import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import { badConfigFolder, messagesOfBad } from '../support/bad-configs.ts';
import { eventually } from '../support/eventually.ts';
import { configFor } from '../support/exporter.ts';
import { configFile, endPrograms, runProgram } from '../support/program.ts';

const { folder: BAD, remove: removeBad } = badConfigFolder();
const closers: (() => Promise<void>)[] = [];

afterAll(removeBad);
afterEach(async () => {
  await endPrograms();
  for (const close of closers.splice(0)) await close();
});

async function simulated(options: SimulatorOptions = {}): Promise<Simulator> {
  const servers = [{ name: 'survival' }, { name: 'creative' }];
  const panel = await startSimulator({ servers, rateLimitPerMinute: 6_000, ...options });
  closers.push(() => panel.stop());
  return panel;
}

/** Runs doctor until it exits. */
async function outcome(args: readonly string[], options: Parameters<typeof runProgram>[1] = {}) {
  const program = runProgram(['doctor', ...args], options);
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr };
}

describe('doctor', () => {
  it('ends with 0 if no problems were found, and shows no progress outside a terminal', async () => {
    const panel = await simulated();
    const file = await configFile(configFor(panel));
    const { code, stdout, stderr } = await outcome(['--config', file]);
    expect(code).toBe(0);
    expect(stdout).toContain('\n  creative  ok       streaming, running\n');
    expect(stdout).toMatch(/\nNo problems: 1 panel, 2 servers \(4 calls in \d+ s, version \S+\)\.\n$/);
    expect(stderr).toBe('');
    for (const line of (stdout + stderr).split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stdout + stderr).not.toMatch(/ptlc_|eyJ/);
  });

  it('ends with 1 if something failed, and shows what to change', async () => {
    const panel = await simulated({ expectedOrigin: 'https://games.example.com' });
    const file = await configFile(configFor(panel));
    const { code, stdout } = await outcome(['--config', file]);
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`1. ${CAUSES.origin.remedy.split('.', 1)[0]}`);
    expect(stdout.replaceAll(/\n +/g, ' ')).toContain(
      `Where:         panel main, node node-1, servers survival, creative: ${CAUSES.origin.title}`,
    );
    expect(stdout.replaceAll(/\n +/g, ' ')).toContain(`(403): "Forbidden"; Origin sent: ${panel.url}`);
  });

  it('prints only one document with --json', async () => {
    const panel = await simulated();
    panel.setConflict('creative', 'suspended');
    const file = await configFile(configFor(panel));
    const { code, stdout, stderr } = await outcome(['--config', file, '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const document: unknown = JSON.parse(stdout);
    expect(document).toMatchObject({
      ok: false,
      panels: [
        {
          name: 'main',
          servers: [
            { name: 'survival', ok: true },
            { name: 'creative', ok: false },
          ],
        },
      ],
    });
  });

  it('finds no problems on a healthy Calagopus, and names a permission that its key lacks', async () => {
    const panel = await simulated({ panel: 'calagopus' });
    const healthy = await outcome(['--config', await configFile(configFor(panel))]);
    expect(healthy).toMatchObject({ code: 0, stderr: '' });
    expect(healthy.stdout).toContain('\n  creative  ok       streaming, running\n');
    expect(healthy.stdout).not.toContain(panel.apiKey);
    panel.set({ accountPermissions: ['control.read-console'] });
    const file = await configFile(
      `panels: [{ name: main, url: ${panel.url}, api_key: ${panel.apiKey}, discover: true }]`,
    );
    const { code, stdout } = await outcome(['--config', file]);
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'you do not have permission to perform this action: servers.read',
    );
  });

  it('tries a single server', async () => {
    const panel = await simulated();
    panel.setConflict('creative', 'suspended');
    const file = await configFile(configFor(panel));
    for (const server of ['survival', panel.server('survival').uuid]) {
      expect(await outcome(['--config', file, '--panel', 'main', '--server', server])).toMatchObject({
        code: 0,
      });
    }
    expect(await outcome(['--config', file, '--server', 'nothing'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: no server "nothing" in the configuration (servers: survival, creative)\n',
    });
  });

  it.each(['many-at-once'])('reports problems of the configuration %s like check', async (name) => {
    const expected = messagesOfBad(name);
    const args = ['--config', `${name}.yaml`];
    expect(await outcome(args, { cwd: BAD })).toEqual({ code: 1, stdout: '', stderr: expected });
    const { code, stdout, stderr } = await outcome([...args, '--json'], { cwd: BAD });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expected });
    const issues = expected.trimEnd().split('\n').length;
    const { configuration_issues: reported } = JSON.parse(stdout) as { configuration_issues: unknown[] };
    expect(reported.length).toBe(issues);
  });

  it('ends soon after Ctrl-C, with the results so far', async () => {
    const panel = await simulated();
    panel.failSockets({ kind: 'hang-upgrade', server: 'creative' });
    const file = await configFile(configFor(panel, ['connect_timeout: 10m']));
    const program = runProgram(['doctor', '--config', file]);
    await eventually(() => {
      expect(panel.record.sockets(panel.server('survival').uuid)).toMatchObject({ open: 1 });
    });
    program.kill('SIGINT');
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stdout).toMatch(/\n {2}[12] servers? not tested/);
    expect(program.stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /Incomplete: [12] servers? not tested, interrupted \(/,
    );
  });
});
