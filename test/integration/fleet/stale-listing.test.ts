import { expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/api.ts';
import { watchPanel } from '../../support/panel-watch.ts';

const MINUTE_MS = 60_000;

it('a server that is unsuspended while the server list fails is monitored again, although the list shows it as suspended', async () => {
  const settings = ['discover: { interval: 2m }'];
  const before = (panel: Simulator) => panel.suspend(panel.servers[0]?.name ?? '');
  await watchPanel({ panel: { servers: 4 }, settings, before }, async (watch) => {
    await watch.until(() => expect(watch.streaming).toBe(3), 2 * MINUTE_MS);
    const [name = ''] = watch.panel.servers.map((server) => server.name);
    const server = () => watch.servers.find(({ target }) => target.name === name);
    await watch.until(() => expect(server()?.status.blocked).toBe('suspended'), MINUTE_MS);
    watch.panel.failRest({ kind: 'refuse', status: 500, endpoint: 'listing' });
    watch.panel.unsuspend(name);
    await watch.until(() => expect(watch.streaming).toBe(4), 12 * MINUTE_MS);
    expect(watch.reading.up).toBe(true);
  });
});

it('a server that was suspended between two readings of the server list is monitored again after the second', async () => {
  const settings = ['discover: { interval: 2m }'];
  await watchPanel({ panel: { servers: 4 }, settings }, async (watch) => {
    await watch.until(() => expect(watch.streaming).toBe(4), 2 * MINUTE_MS);
    const [name = ''] = watch.panel.servers.map((server) => server.name);
    const server = () => watch.servers.find(({ target }) => target.name === name);
    watch.panel.suspend(name);
    await watch.until(() => expect(server()?.status.blocked).toBe('suspended'), MINUTE_MS);
    watch.panel.unsuspend(name);
    // Its own next attempt would be five minutes after the refusal.
    await watch.until(() => expect(watch.streaming).toBe(4), 3 * MINUTE_MS);
  });
});
