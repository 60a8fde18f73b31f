import { expect, test } from 'vitest';
import { countServers } from '../../../src/metrics/server-counts.ts';
import { panelReading, serverReading, streamingReading } from '../../support/readings.ts';

test('servers are counted by panel, and every word of a panel without servers is 0', async () => {
  const fleet = {
    panels: () => [panelReading(), panelReading({ name: 'second' })],
    servers: () => [streamingReading(), streamingReading(), serverReading()],
  };
  const { sockets, conditions } = await countServers(fleet, { pause: () => undefined });
  expect(sockets.get('main')?.get('streaming')).toBe(2);
  expect(conditions.get('main')?.get('streaming')).toBe(2);
  expect(conditions.get('main')?.get('waiting')).toBe(1);
  expect([...(conditions.get('second')?.values() ?? [])].every((n) => n === 0)).toBe(true);
  expect([...sockets.keys()]).toEqual(['main', 'second']);
});

test('10,000 servers leave the event loop turns', async () => {
  const server = serverReading();
  const servers = Array.from({ length: 10_000 }, () => server);
  let pauses = 0;
  const pause = () => {
    pauses += 1;
    return undefined;
  };
  await countServers({ panels: () => [panelReading()], servers: () => servers }, { pause });
  expect(pauses).toBe(100);
});
