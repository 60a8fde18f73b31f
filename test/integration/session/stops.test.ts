import { describe, expect, it } from 'vitest';
import { STOP_REASONS, type StopReason } from '../../../src/domain/reading.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { daemonLine } from '../../../src/simulator/daemon.ts';
import { configFor, type ExporterUnderTest } from '../../support/exporter.ts';
import { observed, simulated } from '../../support/stage.ts';

const SURVIVAL = { server: 'survival' };
const LOBBY = { server: 'lobby' };

let panel: Simulator;
let exporter: ExporterUnderTest;

async function start(options: SimulatorOptions = {}): Promise<void> {
  const servers = ['survival', 'lobby'].map((name) => ({ name, profile: 'idle' as const }));
  panel = await simulated({ servers, ...options });
  exporter = await observed({ yaml: configFor(panel).replaceAll(' }', ', expect: auto }') });
  await exporter.until('gameserver_state', { ...SURVIVAL, state: 'running' }, 1);
}

const count = (reason: StopReason, times = 1, labels = SURVIVAL) =>
  exporter.until('gameserver_stops_total', { ...labels, reason }, times);

/** The server stopped once in total, for this reason, and no other server stopped. */
async function expectOnly(wanted: StopReason, times = 1): Promise<void> {
  await count(wanted, times);
  for (const reason of STOP_REASONS) {
    const counted = await exporter.value('gameserver_stops_total', { ...SURVIVAL, reason });
    expect(counted, reason).toBe(reason === wanted ? times : 0);
    expect(await exporter.value('gameserver_stops_total', { ...LOBBY, reason }), reason).toBe(0);
  }
}

const expected = () => exporter.value('gameserver_expected_running', SURVIVAL);
const running = () => exporter.until('gameserver_state', { ...SURVIVAL, state: 'running' }, 1);

describe('a stop, explained by the daemon', () => {
  it('is recognized if a user requested it', async () => {
    await start();
    panel.power('survival', 'stop');
    await expectOnly('requested');
    expect(await expected()).toBe(0);
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBeUndefined();
  });

  it('is recognized if it came from inside the game and the node restarts the server', async () => {
    await start();
    panel.crash('survival', { code: 0 });
    await expectOnly('exited');
    await running();
    expect(await expected()).toBe(1);
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBe(0);
  });

  it("is recognized as a crash, and the second one as the node's last attempt", async () => {
    await start({ crashTimeoutSeconds: 3_600 });
    panel.crash('survival', { code: 1 });
    await count('crashed');
    await running();
    expect(await exporter.value('gameserver_automatic_restart_aborted', SURVIVAL)).toBe(0);
    panel.crash('survival', { code: 1 });
    await expectOnly('crashed', 2);
    expect(await exporter.value('gameserver_automatic_restart_aborted', SURVIVAL)).toBe(1);
    expect(await expected()).toBe(1);
    panel.power('survival', 'start');
    await exporter.until('gameserver_automatic_restart_aborted', SURVIVAL, 0);
  });

  it('is recognized if the memory ran out', async () => {
    await start();
    panel.crash('survival', { code: 137, outOfMemory: true });
    await expectOnly('out_of_memory');
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBe(137);
  });

  it("is recognized if the disk was full, almost a minute after the daemon's announcement", async () => {
    await start();
    panel.fillDisk('survival', 50_000);
    await expectOnly('disk_full');
    expect(await expected()).toBe(1);
  });
});

describe('a stop', () => {
  it("isn't confused by a game's output, with 10,000 lines around it", async () => {
    await start({ appName: 'Panel' });
    for (const text of ['Exit code: 0', 'Out of memory: true', 'Exit code: 137']) {
      panel.print('survival', daemonLine(text, { daemon: 'pterodactyl', appName: 'Panel' }));
      panel.print('survival', text);
    }
    const flood = () => {
      for (let line = 0; line < 5_000; line += 1) panel.print('survival', `Exit code: ${line}`);
    };
    flood();
    panel.crash('survival', { code: 1 });
    flood();
    await expectOnly('crashed');
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBe(1);
    expect(await exporter.value('gameserver_console_lines_total', SURVIVAL)).toBeGreaterThan(10_000);
  });

  it('of a server that fails to start is a crash, and a kill during the start is requested', async () => {
    await start({ startMs: 20_000 });
    panel.power('survival', 'stop');
    await count('requested');
    panel.failStarts('survival', 1);
    panel.power('survival', 'start');
    await count('crashed');
    await exporter.until('gameserver_state', { ...SURVIVAL, state: 'starting' }, 1);
    panel.power('survival', 'kill');
    await exporter.until('gameserver_stops_total', { ...SURVIVAL, reason: 'requested' }, 2);
    expect(await exporter.value('gameserver_stops_total', { ...SURVIVAL, reason: 'unknown' })).toBe(0);
  });
});
