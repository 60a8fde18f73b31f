import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import {
  configFor,
  type ExporterUnderTest,
  fastClock,
  SPEED,
  startExporter,
} from '../../support/exporter.ts';

const SERVERS: readonly ServerSpec[] = [
  { name: 'survival', profile: 'steady', limits: { memory: 4_096 } },
  { name: 'lobby', profile: 'idle' },
];

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

async function startPanel(options: SimulatorOptions = {}): Promise<void> {
  const clock = fastClock();
  panel = await startSimulator({ servers: SERVERS, clock, statsIntervalMs: 1_000, ...options });
  stops.push(() => panel.stop());
}

async function startBoth(options: SimulatorOptions = {}, settings: readonly string[] = []): Promise<void> {
  await startPanel(options);
  exporter = await startExporter({ yaml: configFor(panel, settings) });
  stops.push(() => exporter.stop());
}

const streaming = async (labels = SURVIVAL) => {
  await exporter.until('gameserver_collection_streaming', labels, 1);
  await exporter.until('gameserver_collection_up', labels, 1);
};
const sockets = (name = 'survival') => panel.record.sockets(panel.server(name).uuid);
const calls = (endpoint: string, name = 'survival') =>
  panel.record.calls.filter((call) => call.endpoint === endpoint && call.server === panel.server(name).uuid);
const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });
const reconnects = (reason: string) => exporter.value('gameserver_exporter_reconnects_total', { reason });

/** The other server must not be affected. */
async function expectLobbyUntouched(): Promise<void> {
  expect(await exporter.value('gameserver_collection_streaming', LOBBY)).toBe(1);
  expect(sockets('lobby').opened).toBe(1);
}

describe('a streaming server', () => {
  it('reports the values of its frames', async () => {
    await startBoth();
    panel.pin('survival', {
      memoryBytes: 1_073_741_824,
      memoryLimitBytes: 4_509_715_660,
      cpuAbsolute: 153.25,
      diskBytes: 123_456_789,
      rxBytes: 4_321,
      txBytes: 8_765,
      readBytes: 11,
      writtenBytes: 22,
    });
    await streaming();
    await exporter.until('gameserver_memory_usage_bytes', SURVIVAL, 1_073_741_824);
    await exporter.until('gameserver_memory_limit_bytes', SURVIVAL, 4_509_715_660);
    await exporter.until('gameserver_cpu_usage_cores', SURVIVAL, 1.5325);
    await exporter.until('gameserver_disk_usage_bytes', SURVIVAL, 123_456_789);
    await exporter.until('gameserver_network_transmit_bytes_total', SURVIVAL, 8_765);
    await exporter.until('gameserver_disk_written_bytes_total', SURVIVAL, 22);
    await exporter.until('gameserver_state', { ...SURVIVAL, state: 'running' }, 1);
    await exporter.until('gameserver_panel_up', { panel: 'main' }, 1);
  });

  it('is followed through stop and start', async () => {
    await startBoth();
    await streaming();
    panel.power('survival', 'stop');
    await exporter.until('gameserver_state', { ...SURVIVAL, state: 'offline' }, 1);
    panel.power('survival', 'start');
    await exporter.until('gameserver_state', { ...SURVIVAL, state: 'running' }, 1);
    expect(await exporter.value('gameserver_starts_total', SURVIVAL)).toBe(1);
    for (const reason of ['crashed', 'unknown']) {
      expect(await exporter.value('gameserver_stops_total', { ...SURVIVAL, reason })).toBe(0);
    }
  });

  it('stays fresh while offline by requests, no more often than needed', async () => {
    await startBoth();
    await streaming();
    panel.power('survival', 'kill');
    await exporter.until('gameserver_state', { ...SURVIVAL, state: 'offline' }, 1);
    await until(() => {
      const asked = panel.record.frames.filter((frame) => frame.event === 'send stats');
      expect(asked.length).toBeGreaterThanOrEqual(3);
    });
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(1);
    expect(sockets().opened).toBe(1);
  });
});

describe('tokens', () => {
  it('are refreshed on the same socket before they expire, without a gap', async () => {
    await startBoth({ tokenLifetimeSeconds: 60 });
    await streaming();
    await until(() => expect(calls('websocket').length).toBeGreaterThanOrEqual(3));
    expect(sockets().opened).toBe(1);
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(1);
    const messages = await exporter.scrape();
    expect(messages).not.toMatch(/messages_total\{[^}]*event="jwt error"[^}]*\} [1-9]/);
  });

  it('are refreshed at once when the daemon reports them expired', async () => {
    await startBoth();
    await streaming();
    await until(() => expect(calls('websocket').length).toBe(1));
    // Later than the half minute in which a refusal indicates a bad token.
    await vi.waitFor(async () => expect(await uptimeOfSocket()).toBeGreaterThan(40), { timeout: 15_000 });
    panel.sockets({ kind: 'expire', server: 'survival' });
    await until(() => expect(calls('websocket').length).toBe(2));
    await streaming();
    expect(sockets().opened).toBe(1);
    await expectLobbyUntouched();
  });

  it.each(['token expiring', 'token expired'])('are refreshed on "%s"', async (event) => {
    await startBoth();
    await streaming();
    panel.sockets({ kind: 'send', server: 'survival', event });
    await until(() => expect(calls('websocket').length).toBe(2));
    expect(sockets().opened).toBe(1);
  });

  it('lead to the new address after a move', async () => {
    await startBoth();
    await streaming();
    panel.move('survival', 'keep');
    panel.sockets({ kind: 'send', server: 'survival', event: 'token expiring' });
    await until(() => expect(sockets().opened).toBe(2));
    await streaming();
    expect(await reconnects('moved')).toBe(1);
    expect(sockets().maxOpen).toBe(1);
    expect(exporter.lines.some(({ message }) => message.includes('socket moved from'))).toBe(true);
  });

  it('are requested at most twice a minute per server, however often the socket closes', async () => {
    await startBoth();
    await streaming();
    panel.failSockets({ kind: 'jwt-error-on-auth', server: 'survival', text: 'token expired' });
    panel.sockets({ kind: 'drop', server: 'survival' });
    await until(() => expect(calls('websocket').length).toBeGreaterThanOrEqual(5));
    const times = calls('websocket').map(({ at }) => at);
    for (let index = 2; index < times.length; index += 1) {
      // Half a second of tolerance for the time that calls take, on the tests' clock.
      expect((times[index] ?? 0) - (times[index - 2] ?? 0)).toBeGreaterThan(60_000 - 30 * SPEED);
    }
    expect(panel.record.counters.websocketLimited).toBe(0);
    await expectLobbyUntouched();
  });
});

describe('a lost socket', () => {
  it.each([
    ['without a frame', { kind: 'drop' }],
    ['with 1001', { kind: 'close', code: 1001, reason: 'server deleted' }],
  ] as const)('%s is reopened with the token that is still valid', async (_how, action) => {
    await startBoth();
    await streaming();
    panel.sockets({ ...action, server: 'survival' });
    await until(() => expect(sockets().opened).toBe(2));
    await streaming();
    expect(calls('websocket').length).toBe(1);
    expect(await reconnects('closed')).toBe(1);
    await expectLobbyUntouched();
  });

  it("with 4409 means a suspended server, and isn't retried soon", async () => {
    await startBoth();
    await streaming();
    panel.sockets({ kind: 'close', server: 'survival', code: 4409, reason: 'server is suspended' });
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'suspended' }, 1);
    expect(sockets().opened).toBe(1);
    await expectLobbyUntouched();
  });

  it('with 4400 is replaced by polling', async () => {
    await startBoth();
    await streaming();
    panel.sockets({ kind: 'close', server: 'survival', code: 4400 });
    await until(() => expect(calls('resources').length).toBeGreaterThanOrEqual(1));
    await exporter.until('gameserver_collection_streaming', SURVIVAL, 0);
    expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
  });

  it('is detected by its silence, even if TCP reports nothing', async () => {
    await startBoth();
    await streaming();
    panel.sockets({ kind: 'half-open', server: 'survival' });
    await until(() => expect(sockets().opened).toBe(2));
    await streaming();
    await expectLobbyUntouched();
  });

  it('reconnects with a new token after a restart of the whole panel', async () => {
    await startBoth();
    await streaming();
    await panel.stopListening();
    await exporter.until('gameserver_collection_streaming', SURVIVAL, 0);
    await panel.startListening();
    await streaming();
    await streaming(LOBBY);
    expect(calls('websocket').length).toBeGreaterThanOrEqual(2);
  });
});

describe('a failed handshake', () => {
  it('because of a wrong Origin shows the cause, and the server is polled', async () => {
    await startBoth({ expectedOrigin: 'https://panel.example.com' });
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(0);
    expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
    expect(exporter.lines).toContainEqual({
      level: 'warn',
      fields: expect.objectContaining({
        cause: 'origin',
        node: 'node-1',
        detail: `the node rejected the socket upgrade (403); Origin sent: ${panel.url}`,
      }) as object,
      message: expect.stringContaining(CAUSES.origin.remedy) as string,
    });
  });

  it('leads to polling after half a minute, and to streaming once it succeeds', async () => {
    await startPanel();
    panel.failSockets({ kind: 'refuse-upgrade', status: 500, server: 'survival' });
    exporter = await startExporter({ yaml: configFor(panel) });
    stops.push(() => exporter.stop());
    await until(() => expect(calls('resources').length).toBeGreaterThanOrEqual(2));
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(0);
    panel.clearFaults();
    await streaming();
    expect(await reconnects('upgrade_refused')).toBeGreaterThanOrEqual(1);
  });

  it('because of a full socket table backs off and keeps its token', async () => {
    await startPanel();
    panel.failSockets({ kind: 'refuse-upgrade', status: 400, server: 'survival', times: 1 });
    exporter = await startExporter({ yaml: configFor(panel) });
    stops.push(() => exporter.stop());
    await streaming();
    expect(calls('websocket').length).toBe(1);
  });

  it.each([
    ['an upgrade that hangs', { kind: 'hang-upgrade' }, 'connect_failed'],
    ['a dropped upgrade', { kind: 'drop-upgrade' }, 'connect_failed'],
    ['an auth without a response', { kind: 'ignore-auth' }, 'auth_timeout'],
    [
      'a token that is rejected as expired',
      { kind: 'jwt-error-on-auth', text: 'jwt: exp claim is invalid, expired' },
      'auth_refused',
    ],
  ] as const)('because of %s is retried', async (_what, fault, reason) => {
    await startPanel();
    panel.failSockets({ ...fault, server: 'survival', times: 1 });
    exporter = await startExporter({ yaml: configFor(panel) });
    stops.push(() => exporter.stop());
    await streaming();
    expect(await reconnects(reason)).toBe(1);
    await streaming(LOBBY);
    await expectLobbyUntouched();
  });
});

/** Seconds on the tests' clock since the first frame of the socket was received. */
async function uptimeOfSocket(): Promise<number> {
  const frames = await exporter.value('gameserver_exporter_messages_total', { event: 'stats' });
  return (frames ?? 0) / SERVERS.length;
}
