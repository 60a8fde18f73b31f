import { once } from 'node:events';
import { get, type IncomingMessage, type RequestOptions } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../../support/exporter.ts';
import { stuckReader } from './raw-client.ts';
import { statusOf } from './secure-client.ts';

let panel: Simulator;
let exporter: ExporterUnderTest;

beforeEach(async () => {
  const clock = fastClock();
  panel = await startSimulator({ clock });
  exporter = await startExporter({ yaml: configFor(panel), clock });
});

afterEach(async () => {
  await exporter.stop();
  await panel.stop();
});

const at = (path: string) => `${exporter.url}${path}`;

async function watch(options: RequestOptions = {}): Promise<IncomingMessage> {
  const request = get(at('/api/v1/stream'), options);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response.setEncoding('utf8');
}

/** Resolves when the received part of the stream matches. */
function reads(response: IncomingMessage, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    response.on('data', (piece: string) => {
      text += piece;
      if (pattern.test(text)) resolve(text);
    });
    response.once('close', () => reject(new Error(`the stream ended before ${String(pattern)}: ${text}`)));
  });
}

describe('the JSON API', () => {
  it('lists every server and panel, plain and compressed, without the key', async () => {
    await exporter.until('gameserver_exporter_servers', { condition: 'streaming' }, 11);
    for (const encoding of ['identity', 'gzip']) {
      const response = await fetch(at('/api/v1/servers'), { headers: { 'Accept-Encoding': encoding } });
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
      const text = await response.text();
      expect(text).not.toContain(panel.apiKey);
      expect(text).not.toContain(panel.url);
      const { servers, panels } = JSON.parse(text) as { servers: { state: string }[]; panels: object[] };
      expect(servers).toHaveLength(panel.servers.length);
      expect(servers[0]).toMatchObject({ server: 'survival', state: 'running', condition: 'streaming' });
      expect(panels).toEqual([expect.objectContaining({ panel: 'main', up: 1 })]);
    }
  });
});

describe("a server's health", () => {
  const health = (id: string) => fetch(at(`/api/v1/servers/${id}/health`));

  it('is 200 while the server runs, and 503 with the reason otherwise', async () => {
    const [server] = panel.servers;
    const id = server?.identifier ?? '';
    await eventually(async () => expect((await health(id)).status).toBe(200));
    panel.power('survival', 'kill');
    await eventually(async () => {
      const response = await health(id);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        server: 'survival',
        healthy: false,
        reason: 'stopped on request',
      });
    });
  });

  it('is 404 for another id', async () => {
    const response = await health('nobody00');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: expect.stringContaining('no such server') });
  });
});

describe('the history', () => {
  it('is returned for the requested servers', async () => {
    const [first, second] = panel.servers.map(({ identifier }) => `server=main/${identifier}`);
    const query = `${first}&${second}&server=main/nobody&series=cpu_usage_cores`;
    await eventually(async () => {
      const response = await fetch(at(`/api/v1/history?${query}`));
      const { servers } = (await response.json()) as {
        servers: { series: { cpu_usage_cores: (number | null)[] } }[];
      };
      expect(servers).toHaveLength(2);
      expect(servers[0]?.series.cpu_usage_cores.at(-1)).toBeGreaterThan(0);
    });
  });

  it.each(['', `?${'server=a&'.repeat(101)}`])('is refused with a clear error for "%s"', async (query) => {
    const response = await fetch(at(`/api/v1/history${query}`));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: expect.stringMatching(/^expected 1 to 100 parameters/),
    });
  });
});

describe('the stream', () => {
  it('starts with everything and continues with changes, for every viewer', async () => {
    const viewers = await Promise.all([watch(), watch()]);
    expect(viewers[0]?.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    for (const text of await Promise.all(
      viewers.map((viewer) => reads(viewer, /event: delta\n.*\n\n[^]*event: delta\n.*\n\n/)),
    )) {
      expect(text).toMatch(/^event: full\ndata: \{"version":/);
      expect(text).not.toContain(panel.apiKey);
    }
    for (const viewer of viewers) viewer.destroy();
  });

  it('ends at once when the exporter stops', async () => {
    const viewer = await watch();
    await reads(viewer, /event: delta/);
    const ended = once(viewer, 'end');
    await exporter.stop();
    await expect(ended).resolves.toEqual([]);
  });

  it("doesn't delay the stop if nobody reads it", async () => {
    const { socket } = await stuckReader(Number(new URL(exporter.url).port), [], '/api/v1/stream');
    await reads(await watch(), /event: delta/);
    await expect(exporter.stop()).resolves.toBeUndefined();
    socket.destroy();
  });

  it('limits its viewers: a new one replaces the oldest of the client that has the most', async () => {
    const alone = await watch({ localAddress: '127.0.0.2', agent: false });
    const viewers: IncomingMessage[] = [];
    for (let index = 0; index < 49; index += 1) viewers.push((await watch()).resume());
    const cuts = viewers.map((viewer) => new Promise((resolve) => viewer.once('error', resolve)));
    const newcomer = await watch();
    expect(await cuts[0]).toMatchObject({ message: 'aborted' });
    await reads(newcomer, /event: full\n/);
    await reads(alone, /event: delta\n/);
    expect(viewers.slice(1).filter(({ destroyed }) => destroyed)).toEqual([]);
    for (const viewer of [alone, newcomer, ...viewers]) viewer.destroy();
  });
});

describe("the page's files", () => {
  it.each([
    ['page.css', 'text/css; charset=utf-8'],
    ['page.js', 'text/javascript; charset=utf-8'],
    ['icon.svg', 'image/svg+xml'],
  ])("include %s as %s, which isn't sent twice", async (name, type) => {
    const response = await fetch(at(`/assets/${name}`));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect((await response.text()).length).toBeGreaterThan(100);
    const etag = response.headers.get('etag') ?? '';
    const again = await fetch(at(`/assets/${name}`), { headers: { 'If-None-Match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('are complete: the script loads no other', async () => {
    const script = await (await fetch(at('/assets/page.js'))).text();
    expect(script).not.toContain('import.meta.url');
    expect(script).not.toMatch(/^import /m);
  });

  it.each(['/assets/', '/assets/__proto__', '/assets/%2e%2e/package.json'])(
    'include nothing else: %s is not found',
    async (path) => {
      expect(await statusOf(exporter.url, { path })).toBe(404);
    },
  );
});
