import { describe, expect, it, vi } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
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
const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });

/** The sockets of the other servers were opened once and are still open. */
async function expectOthersUntouched(): Promise<void> {
  for (const name of ['creative', 'valheim', 'lobby']) {
    await streaming({ server: name });
    expect(panel.record.sockets(panel.server(name).uuid).opened).toBe(1);
  }
}

describe('an invalid or unknown frame', () => {
  async function streamingOnce(): Promise<void> {
    await startPanel();
    await observe();
    await streaming(SURVIVAL);
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
  }
  const bad = (kind: string) => exporter.value('gameserver_exporter_bad_messages_total', { kind });
  const stats = (payload: string) => JSON.stringify({ event: 'stats', args: [payload] });

  it.each([
    ["text that isn't JSON", 'hello', 'not_json'],
    ["JSON that isn't a message", '[1,2]', 'bad_shape'],
    ["stats that aren't JSON", stats('{"memory_bytes":'), 'not_json'],
    ['a field that is text', stats('{"state":"running","cpu_absolute":"12"}'), 'bad_field'],
  ])('is counted and survived: %s', async (_what, text, kind) => {
    await streamingOnce();
    panel.sockets({ kind: 'raw', server: 'survival', text });
    await until(() => expect(panel.record.sockets(panel.server('survival').uuid).opened).toBe(1));
    await vi.waitFor(async () => expect(await bad(kind)).toBe(1), { timeout: 5_000 });
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(1);
    expect(await exporter.scrape()).not.toMatch(/^gameserver_.*NaN/im);
  });

  it("in a flood of console lines is counted, never parsed, and doesn't disturb the samples", async () => {
    await streamingOnce();
    const line = JSON.stringify({ event: 'console output', args: ['\u001b[31m[12:00:00] flood'.repeat(5)] });
    for (let sent = 0; sent < 5_000; sent += 1)
      panel.sockets({ kind: 'raw', server: 'survival', text: line });
    await vi.waitFor(
      async () =>
        expect(await exporter.value('gameserver_console_lines_total', SURVIVAL)).toBeGreaterThanOrEqual(
          5_000,
        ),
      { timeout: 10_000 },
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
    await until(() => {
      const events = new Set(panel.record.frames.map(({ event }) => event));
      expect(events).toEqual(new Set(['auth', 'send stats']));
    });
    const methods = new Set(panel.record.calls.map(({ method }) => method));
    expect(methods).toEqual(new Set(['GET']));
    expect(panel.record.counters).toMatchObject({ wouldHaveCrashed: 0, oversizeFrames: 0 });
  });
});
