import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { cpuMs } from '../../support/cpu-time.ts';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { behave, frame, type HostilePanel, startHostilePanel } from './hostile-panel.ts';

let exporter: ExporterUnderTest | undefined;
let panel: HostilePanel | undefined;

afterEach(async () => {
  await exporter?.stop();
  exporter = undefined;
  await panel?.stop();
  panel = undefined;
});

describe('a flood of errors on a socket that streams', () => {
  const FRAMES = 1_500;
  const evil = '%2541eyJa.eyJ\u200b\u001b['.repeat(80);

  it('costs about as much as a flood of stats', async () => {
    const sockets: WebSocket[] = [];
    const node = (socket: WebSocket) => {
      behave(socket);
      sockets.push(socket);
    };
    panel = await startHostilePanel([{ name: 'flood', node }]);
    exporter = await startExporter({ yaml: panel.yaml(`http://127.0.0.1:${panel.port}`) });
    await exporter.until('gameserver_collection_streaming', { server: 'flood' }, 1);
    const [socket] = sockets;
    if (socket === undefined) throw new Error('there is no socket');

    /** The processor time in milliseconds until the exporter has read all of these frames. */
    const timeOf = async (text: string) => {
      const before = cpuMs();
      for (let sent = 0; sent < FRAMES; sent += 1) socket.send(text);
      const read = once(socket, 'pong');
      socket.ping();
      await read;
      return cpuMs() - before;
    };
    const stats = frame('stats', JSON.stringify({ memory_bytes: 1, state: 'running', text: evil }));
    const errors = frame('daemon error', evil);
    await timeOf(stats);
    const times = { stats: Number.POSITIVE_INFINITY, errors: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 3; round += 1) {
      times.stats = Math.min(times.stats, await timeOf(stats));
      times.errors = Math.min(times.errors, await timeOf(errors));
    }
    expect(times.errors).toBeLessThan(3 * times.stats);
    expect(sockets).toHaveLength(1);
  });
});
