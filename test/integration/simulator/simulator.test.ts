import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  DEFAULT_API_KEY,
  defaultApiKey,
  startSimulator,
  UnknownServerError,
} from '../../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const SERVERS = [
  { name: 'survival', uuid: UUID },
  { name: 'creative', players: { max: 20, online: 3 } },
];

let clock: ManualClock;
let panel: Simulator;

async function restart(options: SimulatorOptions = {}): Promise<void> {
  await panel.stop();
  panel = await startSimulator({ clock, servers: SERVERS, ...options });
}

beforeEach(async () => {
  clock = new ManualClock();
  panel = await startSimulator({ clock, servers: SERVERS });
});

afterEach(() => panel.stop());

async function call(path = '/api/client', key = panel.apiKey): Promise<number> {
  const response = await fetch(panel.url + path, {
    headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
  });
  await response.arrayBuffer();
  return response.status;
}
const names = () => panel.servers.map(({ name }) => name);
const resources = (server = UUID) => call(`/api/client/servers/${server}/resources`);

it('the default key of a kind of panel has its prefix', () => {
  expect(
    [undefined, 'pelican', 'calagopus'].map((kind) => defaultApiKey(kind as 'pelican' | undefined)),
  ).toEqual([DEFAULT_API_KEY, DEFAULT_API_KEY, DEFAULT_API_KEY.replace('ptlc_', 'c7sp_')]);
});

describe('a simulated panel', () => {
  it('responds to its keys, and no longer to a revoked one', async () => {
    expect([await call(), await call('/api/client', 'ptlc_other')]).toEqual([200, 401]);
    panel.acceptKey('ptlc_other');
    panel.revokeKey(panel.apiKey);
    expect([await call(), await call('/api/client', 'ptlc_other')]).toEqual([401, 200]);
  });

  it('has the paths of its kind, also after a change', async () => {
    expect(await call('/api/client/servers')).toBe(404);
    const key = defaultApiKey('calagopus');
    panel.acceptKey(key);
    panel.set({ panel: 'calagopus' });
    expect(await call('/api/client/servers', key)).toBe(200);
  });

  it('has as many steady servers as it is told', async () => {
    await restart({ servers: 3 });
    expect(panel.servers).toHaveLength(3);
  });

  it('stops listening, and listens again on the same port', async () => {
    const { url } = panel;
    await panel.stopListening();
    await expect(call()).rejects.toThrow('fetch failed');
    await panel.startListening();
    expect([panel.url, await call()]).toEqual([url, 200]);
  });

  it('rejects a port that is taken', async () => {
    const port = Number(new URL(panel.url).port);
    await expect(startSimulator({ listen: [{ host: '127.0.0.1', port }] })).rejects.toThrow('EADDRINUSE');
  });
});

describe('a server', () => {
  it.each(['survival', UUID, UUID.slice(0, 8)])('is found by %s', (ref) => {
    expect(panel.server(ref)).toMatchObject({ name: 'survival', uuid: UUID, state: 'running' });
  });

  it('that is unknown is an error of every method', () => {
    for (const use of [
      () => panel.server('other'),
      () => panel.power('other', 'stop'),
      () => panel.failRest({ kind: 'drop', server: 'other' }),
      () => panel.sockets({ kind: 'drop', server: 'other' }),
    ])
      expect(use).toThrow(UnknownServerError);
  });

  it('is added and deleted', async () => {
    panel.addServer({ name: 'later' });
    expect(names()).toEqual(['survival', 'creative', 'later']);
    panel.deleteServer('survival');
    expect(names()).toEqual(['creative', 'later']);
    expect(await resources()).toBe(404);
  });

  it('has a port for queries if it has players', () => {
    expect(panel.server('survival').gamePort).toBeUndefined();
    expect(panel.server('creative').gamePort).toBeGreaterThan(0);
  });

  it('that is suspended stops, and is used again later', async () => {
    panel.suspend('survival');
    expect([panel.server('survival').state, await resources()]).toEqual(['offline', 409]);
    panel.unsuspend('survival');
    expect(await resources()).toBe(200);
    panel.setConflict('survival', 'installing');
    expect(await resources()).toBe(409);
  });

  it('of Calagopus that is suspended stops as requested', async () => {
    await restart({ panel: 'calagopus' });
    panel.suspend('survival');
    expect(panel.server('survival').state).toBe('stopping');
  });

  it('that crashes without an exit state does so as its profile says', () => {
    panel.crash('survival');
    panel.crash('creative', { code: 137 });
    expect(panel.servers.map(({ state }) => state)).toEqual(['offline', 'offline']);
  });

  it('reports pinned values until they are released', () => {
    panel.pin('survival', { cpuAbsolute: 77 });
    expect(panel.server('survival').usage.cpuAbsolute).toBe(77);
    panel.pin('survival', undefined);
    expect(panel.server('survival').usage.cpuAbsolute).not.toBe(77);
  });
});

describe('a fault', () => {
  it('is that of one server, by its name, until faults are cleared', async () => {
    panel.failRest({ kind: 'refuse', status: 500, server: 'survival' });
    expect([await resources(), await resources(panel.server('creative').uuid)]).toEqual([500, 200]);
    panel.clearFaults();
    expect(await resources()).toBe(200);
  });

  it('of a node requires the node’s name', () => {
    expect(() => panel.failRest({ kind: 'drop', node: 'node-9' })).toThrow('no node "node-9"');
    expect(() => panel.failRest({ kind: 'drop', node: 'node-1' })).not.toThrow();
  });
});
