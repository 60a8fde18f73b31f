import { expect, it } from 'vitest';
import { SERVER_EVENTS, serverFields } from '../../../src/fleet/server-events.ts';
import { target } from '../../support/targets.ts';

it('every kind of event has titles of its own, for one server and for several', () => {
  const titles = Object.values(SERVER_EVENTS).map(({ one, many }) => [one, many]);
  for (const [one, many] of titles) expect(one).not.toBe(many);
  expect(new Set(titles.flat()).size).toBe(2 * titles.length);
});

it('a log line identifies a server as its labels do', () => {
  const server = target({ id: '1A7CE997-259b-452e-8b4e-cecc464142ca' });
  expect(serverFields(server, 'node-1')).toEqual({
    panel: 'main',
    server: 'survival',
    server_id: '1a7ce997',
    node: 'node-1',
  });
});
