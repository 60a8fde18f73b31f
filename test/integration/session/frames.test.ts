import { describe, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
import { eventually } from '../../support/eventually.ts';
import { configFor, type ExporterUnderTest } from '../../support/exporter.ts';
import { observed, simulated } from '../../support/stage.ts';

const SERVERS: readonly ServerSpec[] = [
  { name: 'survival', profile: 'steady' },
  { name: 'creative', profile: 'steady' },
  { name: 'valheim', profile: 'idle' },
  { name: 'lobby', profile: 'idle' },
];
const SURVIVAL = { server: 'survival' };

let panel: Simulator;
let exporter: ExporterUnderTest;

async function startPanel(options: SimulatorOptions = {}): Promise<void> {
  panel = await simulated({ servers: SERVERS, ...options });
}

async function observe(): Promise<void> {
  exporter = await observed({ yaml: configFor(panel) });
}

const streaming = (labels: typeof SURVIVAL) => exporter.until('gameserver_collection_streaming', labels, 1);

/** The sockets of the other servers were opened once and are still open. */
async function expectOthersUntouched(): Promise<void> {
  for (const name of ['creative', 'valheim', 'lobby']) {
    await streaming({ server: name });
    expect(panel.record.sockets(panel.server(name).uuid).opened).toBe(1);
  }
}

describe('a frame', () => {
  async function streamingOnce(): Promise<void> {
    await startPanel();
    await observe();
    await streaming(SURVIVAL);
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
  }

  it("in a flood of console lines is counted, never parsed, and doesn't disturb the samples", async () => {
    await streamingOnce();
    const line = JSON.stringify({ event: 'console output', args: ['\u001b[31m[12:00:00] flood'.repeat(5)] });
    for (let sent = 0; sent < 5_000; sent += 1)
      panel.sockets({ kind: 'raw', server: 'survival', text: line });
    await eventually(async () =>
      expect(await exporter.value('gameserver_console_lines_total', SURVIVAL)).toBeGreaterThanOrEqual(5_000),
    );
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(1);
    await expectOthersUntouched();
  });
});

describe('the exporter sends', () => {
  it('only auth and "send stats", and nothing that could change a server', async () => {
    await startPanel({ tokenLifetimeSeconds: 60 });
    await observe();
    panel.power('survival', 'kill');
    await eventually(() => {
      const events = new Set(panel.record.frames.map(({ event }) => event));
      expect(events).toEqual(new Set(['auth', 'send stats']));
    });
    const methods = new Set(panel.record.calls.map(({ method }) => method));
    expect(methods).toEqual(new Set(['GET']));
    expect(panel.record.counters).toMatchObject({ wouldHaveCrashed: 0, oversizeFrames: 0 });
  });
});
