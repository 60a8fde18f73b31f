import { afterEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/api.ts';
import { DEMO_SERVERS } from '../../../src/simulator/profiles.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { eventually } from '../../support/eventually.ts';
import { TestTime } from '../../support/test-time.ts';
import { ask, credentials } from './console-client.ts';

let panel: Simulator;
afterEach(() => panel.stop());

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const SERVERS = [
  { name: 'survival', uuid: UUID },
  { name: 'asleep', profile: 'offline' as const },
];
const resources = `/servers/${UUID}/resources`;

function details(text: string): string | undefined {
  return (JSON.parse(text) as { errors?: { detail: string }[] }).errors?.[0]?.detail;
}

describe('the key', () => {
  it.each([
    ['no key', { authorization: '' }, 401],
    ['a wrong key', { authorization: 'Bearer ptlc_wrong' }, 401],
    ['a key of the application API', { authorization: 'Bearer ptla_x' }, 403],
    ["a key of Pelican's application API", { authorization: 'Bearer papp_x' }, 403],
  ])('is rejected: %s', async (_name, headers, status) => {
    panel = await startSimulator({ servers: SERVERS });
    const answer = await ask(panel, resources, headers);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ errors: [{ status: String(status) }] });
  });

  it("is replaced by a redirect to the login page if the client doesn't accept JSON", async () => {
    panel = await startSimulator({ servers: SERVERS });
    const answer = await ask(panel, resources, { authorization: 'Bearer ptlc_wrong', accept: '*/*' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/auth/login']);
  });

  it('can be revoked and another one accepted while the panel runs', async () => {
    panel = await startSimulator({ servers: SERVERS });
    panel.revokeKey(panel.apiKey);
    expect((await ask(panel, resources)).status).toBe(401);
    panel.acceptKey('pacc_second');
    expect((await ask(panel, resources, { authorization: 'Bearer pacc_second' })).status).toBe(200);
  });
});

describe('resources', () => {
  it('accept the uuid and the short id, and are cached', async () => {
    const time = new TestTime(1);
    panel = await startSimulator({ servers: SERVERS, statsIntervalMs: 20, clock: time.clock() });
    const first = await ask(panel, resources);
    const { usage } = panel.server('survival');
    await eventually(() => expect(panel.server('survival').usage.rxBytes).toBeGreaterThan(usage.rxBytes));
    expect((await ask(panel, `/servers/${UUID.slice(0, 8)}/resources`)).text).toBe(first.text);
    const cachedUntil = time.now() + 20_000;
    time.speed = 1_000;
    await eventually(() => expect(time.now()).toBeGreaterThan(cachedUntil));
    expect((await ask(panel, resources)).text).not.toBe(first.text);
  });

  it('report fixed values', async () => {
    panel = await startSimulator({ servers: SERVERS });
    panel.pin('survival', {
      memoryBytes: 1,
      cpuAbsolute: 2.5,
      diskBytes: 3,
      rxBytes: 4,
      txBytes: 5,
      uptimeMs: 6,
    });
    expect(JSON.parse((await ask(panel, resources)).text)).toEqual({
      object: 'stats',
      attributes: {
        current_state: 'running',
        is_suspended: false,
        resources: {
          memory_bytes: 1,
          cpu_absolute: 2.5,
          disk_bytes: 3,
          network_rx_bytes: 4,
          network_tx_bytes: 5,
          uptime: 6,
        },
      },
    });
  });

  it('respond with 504, or `missing` with zeros, when the node is down', async () => {
    panel = await startSimulator({ servers: SERVERS });
    panel.setNodeDown('survival', true);
    expect((await ask(panel, resources)).status).toBe(504);
    panel.set({ unreachable: 'missing' });
    const { status, text } = await ask(panel, resources);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      attributes: { current_state: 'missing', resources: { memory_bytes: 0, disk_bytes: 0 } },
    });
  });
});

describe('an error', () => {
  it.each([
    ['suspended', /suspended/],
    ['installing', /install/],
    ['restoring_backup', /restoring/],
    ['transferring', /transferred/],
    ['maintenance', /maintenance/],
  ] as const)('is 409 while %s', async (conflict, detail) => {
    panel = await startSimulator({ servers: SERVERS });
    panel.setConflict('survival', conflict);
    for (const endpoint of ['resources', 'websocket', 'backups']) {
      const { status, text } = await ask(panel, `/servers/${UUID}/${endpoint}`);
      expect(status).toBe(409);
      expect(details(text)).toMatch(detail);
    }
    panel.setConflict('survival', undefined);
    expect((await ask(panel, resources)).status).toBe(200);
  });

  it.each([
    ['an unknown server', '/servers/deadbeef/resources', 404],
    ['an unknown endpoint', `/servers/${UUID}/nothing`, 404],
    ["a server's name instead of its id", '/servers/survival/resources', 404],
    ["a page that isn't a number", '?page=x', 400],
    ['bad percent-encoding', '/servers/%ZZ/resources', 400],
  ])('is the response for %s', async (_name, path, status) => {
    panel = await startSimulator({ servers: SERVERS });
    expect((await ask(panel, path)).status).toBe(status);
  });

  it('is 404 for a deleted server', async () => {
    panel = await startSimulator({ servers: SERVERS });
    panel.deleteServer('survival');
    expect((await ask(panel, resources)).status).toBe(404);
  });
});

describe('rate limits', () => {
  it('count down with every response, then respond with 429 and when to retry', async () => {
    panel = await startSimulator({ servers: SERVERS, rateLimitPerMinute: 2 });
    const first = await ask(panel, resources);
    expect(first.headers.get('x-ratelimit-limit')).toBe('2');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
    expect(first.headers.get('retry-after')).toBeNull();
    await ask(panel, resources);
    const refused = await ask(panel, resources);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(
      Math.abs(Number(refused.headers.get('x-ratelimit-reset')) - Date.now() / 1_000 - seconds),
    ).toBeLessThan(5);
    expect(refused.text).toContain('Too Many Attempts.');
    expect(panel.record.counters.panelLimited).toBe(1);
  });

  it('allow five credentials a minute per server, with headers for that limit', async () => {
    panel = await startSimulator({ servers: SERVERS });
    const path = `/servers/${UUID}/websocket`;
    for (let call = 1; call <= 5; call += 1) {
      const { status, headers } = await ask(panel, path);
      expect(status).toBe(200);
      expect(headers.get('x-ratelimit-limit')).toBe('5');
      expect(headers.get('x-ratelimit-remaining')).toBe(String(5 - call));
    }
    const refused = await ask(panel, path);
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '5']);
    expect((await ask(panel, resources)).headers.get('x-ratelimit-limit')).toBe('240');
    await expect(credentials(panel, 'asleep')).resolves.toBeDefined();
    expect(panel.record.counters).toMatchObject({ panelLimited: 0, websocketLimited: 1 });
  });
});

describe('the server list', () => {
  it('returns the demo in pages, with eggs on request', async () => {
    panel = await startSimulator();
    const { text } = await ask(panel, '?page=2&per_page=5&include=egg');
    const list = JSON.parse(text) as { data: { attributes: Record<string, unknown> }[]; meta: object };
    expect(list.data.map(({ attributes }) => attributes['name'])).toEqual(
      DEMO_SERVERS.slice(5, 10).map(({ name }) => name),
    );
    expect(list.data[0]?.attributes).toMatchObject({
      node: 'node-1',
      limits: { memory: 4_096, cpu: 200 },
      relationships: {
        egg: { attributes: { name: 'Valheim' } },
        allocations: { object: 'list', data: [{ object: 'allocation' }, { object: 'allocation' }] },
      },
    });
    expect(list.meta).toMatchObject({ pagination: { total: 12, total_pages: 3, current_page: 2 } });
    expect((await ask(panel, '')).text).not.toContain('"egg"');
  });

  it('includes the default allocation of each server that has one, among others', async () => {
    const allocation = { ip: '203.0.113.7', alias: 'play.example.com', port: 25_565 };
    panel = await startSimulator({
      servers: [
        { name: 'aliased', allocation },
        { name: 'plain', uuid: UUID },
        { name: 'none', allocation: null },
      ],
    });
    const list = JSON.parse((await ask(panel, '')).text) as {
      data: { attributes: { relationships: { allocations: { data: { attributes: object }[] } } } }[];
    };
    const allocations = list.data.map(({ attributes }) =>
      attributes.relationships.allocations.data.map((entry) => entry.attributes),
    );
    const given = { ip: '203.0.113.7', ip_alias: 'play.example.com', port: 25_565, is_default: true };
    expect(allocations[0]).toEqual([
      expect.objectContaining({ is_default: false }),
      expect.objectContaining(given),
    ]);
    expect(allocations[1]?.[1]).toMatchObject({ ip: '198.51.100.1', ip_alias: null, is_default: true });
    expect(allocations[2]).toEqual([]);
  });

  it("shows other users' servers to administrators only", async () => {
    panel = await startSimulator({ admin: true, servers: [...SERVERS, { name: 'others', owned: false }] });
    const names = async (query: string) =>
      [...(await ask(panel, query)).text.matchAll(/"name":"(\w+)"/g)].map(([, n]) => n);
    expect(await names('')).toEqual(['survival', 'asleep']);
    expect(await names('?type=admin')).toEqual(['others']);
    expect(await names('?type=admin-all')).toEqual(['survival', 'asleep', 'others']);
    panel.set({ admin: false });
    expect([await names('?type=admin'), await names('?type=admin-all')]).toEqual([[], []]);
  });

  it('returns backups', async () => {
    const backup = { is_successful: true, completed_at: '2026-11-01T04:00:00+00:00', bytes: 1_234 };
    panel = await startSimulator({ servers: [{ name: 'survival', uuid: UUID, backups: [backup] }] });
    const { text } = await ask(panel, `/servers/${UUID}/backups`);
    expect(JSON.parse(text)).toMatchObject({
      data: [{ attributes: backup }],
      meta: { pagination: { total: 1 } },
    });
  });
});

describe('a fault', () => {
  it.each([
    [{ kind: 'refuse', status: 500 } as const, 500, /"errors"/],
    [{ kind: 'refuse', status: 503, shape: 'html' } as const, 503, /<html>/],
    [
      { kind: 'refuse', status: 403, shape: 'message', detail: 'no' } as const,
      403,
      /^{"error":"Forbidden","message":"no"}$/,
    ],
    [
      { kind: 'refuse', status: 429, headers: { 'retry-after': '7' }, body: 'slow' } as const,
      429,
      /^slow$/,
      { 'retry-after': '7' },
    ],
    [{ kind: 'garbage' } as const, 200, /^{"data":{"token":"eyJ0$/],
    [{ kind: 'oversize', bytes: 100_000 } as const, 200, /x{100000}/],
    [
      { kind: 'redirect', location: 'https://else.example/' } as const,
      302,
      /^$/,
      { location: 'https://else.example/' },
    ],
    [{ kind: 'delay', ms: 30 } as const, 200, /current_state/],
  ])('is applied once: %o', async (fault, status, body, headers?: object) => {
    panel = await startSimulator({ servers: SERVERS });
    panel.failRest({ ...fault, endpoint: 'resources', server: 'survival', times: 1 });
    const answer = await ask(panel, resources);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(body);
    expect(Object.fromEntries(answer.headers)).toMatchObject(headers ?? {});
    expect((await ask(panel, resources)).status).toBe(200);
    expect(panel.record.calls.map((call) => call.status)).toEqual([status, 200]);
  });

  it('drops a call', async () => {
    panel = await startSimulator({ servers: SERVERS });
    panel.failRest({ kind: 'drop' });
    await expect(ask(panel, resources)).rejects.toThrow('fetch failed');
    panel.clearFaults();
    expect((await ask(panel, resources)).status).toBe(200);
  });

  it.each(['headers', 'body'] as const)('hangs before the %s until the client gives up', async (before) => {
    panel = await startSimulator({ servers: SERVERS });
    panel.failRest({ kind: 'hang', before });
    const headers = { accept: 'application/json', authorization: `Bearer ${panel.apiKey}` };
    const client = new AbortController();
    const call = fetch(`${panel.url}/api/client${resources}`, { headers, signal: client.signal });
    const body = call.then(async (response) => {
      expect(before).toBe('body');
      expect(response.status).toBe(200);
      client.abort();
      return response.text();
    });
    const giveUp = async () => {
      await eventually(() => expect(panel.record.calls).toHaveLength(1));
      client.abort();
    };
    await Promise.all([expect(body).rejects.toThrow(/aborted/), before === 'headers' ? giveUp() : undefined]);
    expect(panel.record.calls[0]).toMatchObject({ endpoint: 'resources', server: UUID, status: 0 });
  });
});

it('a simulated panel stops while a call hangs, and releases its ports', async () => {
  panel = await startSimulator({ servers: SERVERS });
  panel.failRest({ kind: 'hang' });
  const call = ask(panel, resources).catch((error: unknown) => error);
  await eventually(() => expect(panel.record.calls).toHaveLength(1));
  const port = Number(new URL(panel.url).port);
  await panel.stop();
  await expect(call).resolves.toBeInstanceOf(Error);
  panel = await startSimulator({ servers: 1, port });
  expect(new URL(panel.url).port).toBe(String(port));
});

it('a simulated panel has the same servers in every run with the same seed', async () => {
  const identities = async (seed: number) => {
    panel = await startSimulator({ seed });
    const { servers } = panel;
    await panel.stop();
    return servers.map(({ uuid, name }) => [uuid, name]);
  };
  expect(await identities(7)).toEqual(await identities(7));
  expect(await identities(8)).not.toEqual(await identities(7));
});

it('a simulated panel fails to start if the port is in use, and leaves nothing open', async () => {
  panel = await startSimulator({ servers: 1 });
  const taken = Number(new URL(panel.controlUrl).port);
  await expect(startSimulator({ servers: 1, controlPort: taken })).rejects.toMatchObject({
    code: 'EADDRINUSE',
    port: taken,
  });
});
