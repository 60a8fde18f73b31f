import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STOP_REASONS, type StopReason } from '../../../src/domain/reading.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { daemonLine } from '../../../src/simulator/daemon.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../../support/exporter.ts';

const SURVIVAL = { server: 'survival' };
const LOBBY = { server: 'lobby' };

let panel: Simulator;
let exporter: ExporterUnderTest;
let stops: (() => Promise<void>)[];

beforeEach(() => {
  stops = [];
});

afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
});

async function start(options: SimulatorOptions = {}): Promise<void> {
  const servers = ['survival', 'lobby'].map((name) => ({ name, profile: 'idle' as const }));
  panel = await startSimulator({ servers, clock: fastClock(), ...options });
  stops.push(() => panel.stop());
  exporter = await startExporter({ yaml: configFor(panel).replaceAll(' }', ', expect: auto }') });
  stops.push(() => exporter.stop());
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

describe.each([
  { daemon: 'pterodactyl' },
  { daemon: 'pelican' },
  { daemon: 'calagopus', appName: 'My Games' },
] as const)('a stop, explained by $daemon', (node) => {
  it('is recognized if a user requested it', async () => {
    await start(node);
    panel.power('survival', 'stop');
    await expectOnly('requested');
    expect(await expected()).toBe(0);
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBeUndefined();
  });

  it('is recognized if it came from inside the game and the node restarts the server', async () => {
    await start(node);
    panel.crash('survival', { code: 0 });
    await expectOnly('exited');
    await running();
    expect(await expected()).toBe(1);
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBe(0);
  });

  it("is recognized as a crash, and the second one as the node's last attempt", async () => {
    await start({ ...node, crashTimeoutSeconds: 3_600 });
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
    await start(node);
    panel.crash('survival', { code: 137, outOfMemory: true });
    await expectOnly('out_of_memory');
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBe(137);
  });

  it("is recognized if the disk was full, almost a minute after the daemon's announcement", async () => {
    await start(node);
    panel.fillDisk('survival', 50_000);
    await expectOnly('disk_full');
    expect(await expected()).toBe(1);
  });
});

describe('a stop', () => {
  it("has an unknown reason if only the offline state arrives, and doesn't change the expectation", async () => {
    await start();
    panel.failSockets({ kind: 'lost-words' });
    panel.failSockets({ kind: 'lost-status', states: ['stopping'] });
    panel.crash('survival', { code: 1 });
    await expectOnly('unknown');
  });

  it('that waits for its reason during a reload has an unknown reason', async () => {
    await start();
    panel.failSockets({ kind: 'lost-words' });
    panel.crash('survival', { code: 1 });
    await exporter.until('gameserver_state', { ...SURVIVAL, state: 'running' }, 0);
    await exporter.reload();
    expect(await exporter.value('gameserver_stops_total', { ...SURVIVAL, reason: 'unknown' })).toBe(1);
    await expectOnly('unknown');
  });

  it('whose first and last lines are lost still has its exit code', async () => {
    await start();
    panel.failSockets({ kind: 'lost-words', words: ['crash detected', 'out of memory'] });
    panel.crash('survival', { code: 3 });
    await expectOnly('crashed');
    expect(await exporter.value('gameserver_last_exit_code', SURVIVAL)).toBe(3);
  });

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

  it("whose explanation comes before it has an unknown reason, because it isn't read then", async () => {
    await start();
    panel.failSockets({ kind: 'early-words' });
    panel.crash('survival', { code: 1 });
    await expectOnly('unknown');
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

  it('that a game disguises as another one is still counted once', async () => {
    await start();
    panel.failSockets({ kind: 'lost-words' });
    panel.crash('survival', { code: 1 });
    panel.print('survival', daemonLine('Exit code: 0', { daemon: 'pterodactyl', appName: '' }));
    await expectOnly('exited');
  });

  it('is one line in the log, regardless of what else is reported about servers in that minute', async () => {
    const others = Array.from({ length: 12 }, (_, index) => ({ name: `other-${index}` }));
    await start({ servers: [...others, { name: 'survival', profile: 'idle' }, { name: 'lobby' }] });
    await exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, 14);
    panel.crash('survival', { code: 137, outOfMemory: true });
    await count('out_of_memory');
    const lines = exporter.lines.filter(({ message }) => message.includes('crashed'));
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: 'server survival crashed (exit code 137, out of memory); the node is restarting it',
      },
    ]);
  });
});
