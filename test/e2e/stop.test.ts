import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { acceleratedNode } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { configFor } from '../support/exporter.ts';
import { endPrograms, type ServedProgram, serveProgram } from '../support/program.ts';

/** So many servers that the metrics don't fit into the buffers between two programs. */
const MANY_SERVERS = 6_000;

/**
 * The speed of the exporter's clock. It aborts a stop after 4.5 s with exit code 1, or after 4.9 s
 * by the signal. A busy machine may need longer for a correct stop. A stop that waits for a call
 * exceeds the time on any machine.
 */
const SLOW = 1 / 4;

/** A speed at which the stop still waits for its scrape when the second signal comes. */
const SLOWER = 1 / 20;

let panel: Simulator;

beforeEach(async () => {
  panel = await startSimulator();
});

afterEach(async () => {
  await endPrograms();
  await panel.stop();
});

/** Starts `serve` with a rate limit that suffices for all sockets at once. */
const serve = (flags: readonly string[] = []) =>
  serveProgram({
    yaml: configFor(panel, ['requests_per_minute: 6000']),
    flags,
    nodeFlags: acceleratedNode(SLOW),
  });

async function expectStop({ process }: ServedProgram): Promise<void> {
  process.kill('SIGTERM');
  expect(await process.ended).toEqual({ code: 0, signal: null });
}

/** Servers that don't exist on the panel. They have series nevertheless. */
function manyServers(): string {
  const ids = Array.from({ length: MANY_SERVERS }, (_, index) => (index + 0x10_00_00_00).toString(16));
  return [
    'panels:',
    '  - name: main',
    '    url: http://127.0.0.1:1',
    '    api_key: ptlc_a_key_of_this_test',
    '    servers:',
    ...ids.map((id) => `      - { id: "${id}", name: "server-${id}" }`),
  ].join('\n');
}

/** Requests the metrics, but reads only the start of the response. */
async function slowScrape(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('GET /metrics HTTP/1.1\r\nHost: exporter\r\n\r\n');
  await once(socket, 'data');
  socket.pause();
  return socket;
}

/** Waits until the exporter rejects connections because it is stopping. */
async function untilStopping({ url }: ServedProgram): Promise<void> {
  await eventually(() => expect(fetch(`${url}/-/healthy`)).rejects.toThrow('fetch failed'));
}

describe('a signal', () => {
  it('closes every socket with 1000 and ends the exporter with 0', async () => {
    const exporter = await serve();
    await exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, [11]);
    const opened = panel.servers.filter(({ uuid }) => panel.record.sockets(uuid).open > 0);
    expect(opened).toHaveLength(11);
    await expectStop(exporter);
    await eventually(() => expect(panel.record.openSockets).toBe(0));
    const codes = opened.map(({ uuid }) => panel.record.sockets(uuid).lastCloseCode);
    expect(new Set(codes)).toEqual(new Set([1000]));
    expect(exporter.process.stderr.trimEnd()).toMatch(/"msg":"stopped"\}$/);
  });

  it('ends the exporter in time while calls hang', async () => {
    panel.failRest({ kind: 'hang', endpoint: 'websocket' });
    panel.failRest({ kind: 'hang', endpoint: 'resources', before: 'body' });
    const exporter = await serve();
    await eventually(() => expect(panel.record.calls.length).toBeGreaterThanOrEqual(8));
    await expectStop(exporter);
  });

  it('ends the exporter in time while upgrades hang, auth is ignored and sockets are half open', async () => {
    panel.failSockets({ kind: 'hang-upgrade', server: 'survival' });
    panel.failSockets({ kind: 'ignore-auth', server: 'creative' });
    const exporter = await serve();
    await exporter.until('gameserver_exporter_sockets', { state: 'streaming' }, [9]);
    panel.sockets({ kind: 'half-open' });
    await expectStop(exporter);
  });
});

describe('a scrape during a stop', () => {
  it('is not waited for after a second signal', async () => {
    const exporter = await serveProgram({
      yaml: manyServers(),
      nodeFlags: acceleratedNode(SLOWER),
    });
    const socket = await slowScrape(exporter.url);
    socket.on('error', () => undefined);
    exporter.process.kill('SIGTERM');
    await untilStopping(exporter);
    exporter.process.kill('SIGTERM');
    // The exit code would be 0 after a complete wait.
    expect(await exporter.process.ended).toEqual({ code: 1, signal: null });
    socket.destroy();
  });
});
