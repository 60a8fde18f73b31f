import { describe, expect, it } from 'vitest';
import type { ServerSpec } from '../../../src/simulator/simulator-schema.ts';
import { eventually } from '../../support/eventually.ts';
import { configFor } from '../../support/exporter.ts';
import { observed, simulated } from '../../support/stage.ts';

const SERVERS: readonly ServerSpec[] = [
  { name: 'survival', profile: 'steady' },
  { name: 'creative', profile: 'steady' },
  { name: 'valheim', profile: 'idle' },
  { name: 'lobby', profile: 'idle' },
];
const SURVIVAL = { server: 'survival' };

describe('a frame', () => {
  it("in a flood of console lines is counted, never parsed, and doesn't disturb the samples", async () => {
    const panel = await simulated({ servers: SERVERS });
    const exporter = await observed({ yaml: configFor(panel) });
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
    const text = JSON.stringify({ event: 'console output', args: ['\u001b[31m[12:00:00] flood'.repeat(5)] });
    for (let sent = 0; sent < 5_000; sent += 1) panel.sockets({ kind: 'raw', server: 'survival', text });
    await eventually(async () =>
      expect(await exporter.value('gameserver_console_lines_total', SURVIVAL)).toBeGreaterThanOrEqual(5_000),
    );
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(1);
    for (const server of ['creative', 'valheim', 'lobby']) {
      await exporter.until('gameserver_collection_streaming', { server }, 1);
      expect(panel.record.sockets(panel.server(server).uuid).opened).toBe(1);
    }
  });
});

describe('the exporter sends', () => {
  it('only auth and "send stats", and nothing that could change a server', async () => {
    const panel = await simulated({ servers: SERVERS, tokenLifetimeSeconds: 60 });
    await observed({ yaml: configFor(panel) });
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
