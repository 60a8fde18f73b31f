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
});
