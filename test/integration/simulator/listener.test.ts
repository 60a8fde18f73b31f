import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { ConsoleClient, credentials } from './console-client.ts';

let panel: Simulator;
const clients: ConsoleClient[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await panel.stop();
});

const start = async (options: SimulatorOptions) => {
  panel = await startSimulator({ servers: [{ name: 'survival' }], ...options });
  return new URL(panel.url).port;
};

/** The socket's address in the credentials from this URL, after asserting that the socket opens. */
async function socketFrom(url: string): Promise<string> {
  const { token, socket } = await credentials(panel, 'survival', url);
  const client = new ConsoleClient(socket, url);
  clients.push(client);
  client.socket.on('open', () => client.send('auth', token));
  await eventually(() => expect(client.events).toContain('auth success'));
  return new URL(socket).host;
}

describe('a panel that listens on every address', () => {
  it.each(['127.0.0.1', 'localhost'])('is reached at %s, and so are its nodes', async (host) => {
    const port = await start({ listen: [{ port: 0 }] });
    const url = `http://${host}:${port}`;
    expect(await socketFrom(url)).toBe(`${host}:${port}`);
    panel.move('survival');
    expect(await socketFrom(url)).toBe(`${host}:${new URL(panel.secondNodeUrl).port}`);
  });

  it('is called localhost in its configuration', async () => {
    const port = await start({ listen: [{ port: 0 }], controlHosts: [undefined] });
    expect(panel.url).toBe(`http://localhost:${port}`);
    expect(new URL(panel.controlUrl).hostname).toBe('localhost');
    expect((await fetch(panel.controlUrl.replace('localhost', '127.0.0.1'))).status).toBe(404);
  });
});

it('a panel that listens on two addresses is reached at both, and closed at both', async () => {
  const [first, second] = [await freePort(), await freePort()];
  await start({
    listen: [
      { host: '127.0.0.1', port: first },
      { host: '127.0.0.2', port: second },
    ],
  });
  expect(await socketFrom(`http://127.0.0.1:${first}`)).toBe(`127.0.0.1:${first}`);
  expect(await socketFrom(`http://127.0.0.2:${second}`)).toBe(`127.0.0.2:${second}`);
  await panel.stopListening();
  await expect(fetch(`http://127.0.0.2:${second}`)).rejects.toThrow('fetch failed');
  await panel.startListening();
  expect(await socketFrom(`http://127.0.0.2:${second}`)).toBe(`127.0.0.2:${second}`);
});

it('by default, a panel and its control endpoint are open to this machine only', async () => {
  await start({});
  expect([panel.url, panel.secondNodeUrl, panel.controlUrl].map((url) => new URL(url).hostname)).toEqual([
    '127.0.0.1',
    '127.0.0.1',
    '127.0.0.1',
  ]);
});
