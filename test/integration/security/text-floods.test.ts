import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import {
  CREDENTIALS,
  envelope,
  json,
  type ScriptedServer,
  scriptedServer,
} from '../panel/scripted-server.ts';
import { behave, frame, type HostilePanel, startHostilePanel } from './hostile-panel.ts';

const WAIT_OPTIONS = { timeout: 60_000, interval: 20 };

let exporter: ExporterUnderTest | undefined;
let panels: readonly (HostilePanel | ScriptedServer)[] = [];

afterEach(async () => {
  await exporter?.stop();
  exporter = undefined;
  await Promise.all(panels.map((panel) => ('stop' in panel ? panel.stop() : panel.close())));
  panels = [];
});

const PER_PAGE = 100;
const uuidOf = (index: number) => `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** The pages of a list of servers with this name, as they are sent. */
function pagesOf(servers: number, name: string): readonly string[] {
  const pages = Math.ceil(servers / PER_PAGE);
  const listed = Array.from({ length: servers }, (_, index) => ({
    attributes: { uuid: uuidOf(index), identifier: uuidOf(index).slice(0, 8), name, node: `${index}${name}` },
  }));
  return Array.from({ length: pages }, (_, page) =>
    JSON.stringify({
      data: listed.slice(page * PER_PAGE, (page + 1) * PER_PAGE),
      meta: { pagination: { total_pages: pages } },
    }),
  );
}

/** A panel whose servers all have this name, and a token of their own. */
async function panelOf(servers: number, name: string, tokenOf: (index: number) => string) {
  const pages = pagesOf(servers, name);
  const counts = { tokens: 0, walks: 0 };
  const panel = await scriptedServer((response: ServerResponse, request: IncomingMessage) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://panel');
    const [, id] = /servers\/([0-9a-f]{8})/.exec(pathname) ?? [];
    if (id === undefined) {
      const page = Number(searchParams.get('page'));
      if (page === pages.length) counts.walks += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(pages[page - 1]);
      return;
    }
    // No socket and no polls: a refusal that isn't retried for minutes.
    if (!pathname.endsWith('/websocket')) {
      json(404, envelope('not found'))(response, request);
      return;
    }
    counts.tokens += 1;
    const token = tokenOf(Number.parseInt(id, 16));
    json(200, { data: { ...CREDENTIALS.data, token, socket: 'ftp://127.0.0.1/' } })(response, request);
  });
  panels = [...panels, panel];
  return { panel, counts };
}

describe('a panel whose tokens begin alike, and whose servers are named like them', () => {
  it("doesn't block the event loop or change what another panel shows", async () => {
    const common = 'a'.repeat(3_900);
    const servers = 150;
    const hostile = await panelOf(servers, `ä${'a'.repeat(1_599)}`, (index) => `${common}${index}`);
    const name = 'a'.repeat(100);
    const other = await panelOf(1, name, () => CREDENTIALS.data.token);
    const yaml = (['hostile', 'other'] as const).flatMap((panel) => [
      `  - name: ${panel}`,
      `    url: ${(panel === 'hostile' ? hostile : other).panel.url}`,
      '    api_key: ptlc_KeyOfTheTests0123456789',
      '    requests_per_minute: 60000',
      '    discover: { interval: 1m }',
    ]);
    exporter = await startExporter({ yaml: ['panels:', ...yaml].join('\n') });
    await vi.waitFor(() => expect(hostile.counts.tokens).toBeGreaterThanOrEqual(servers), WAIT_OPTIONS);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const { walks } = hostile.counts;
    await vi.waitFor(() => expect(hostile.counts.walks).toBeGreaterThan(walks + 1), WAIT_OPTIONS);
    delay.disable();
    // Looking for these tokens as a whole, a page took seconds.
    expect(delay.max / 1e6).toBeLessThan(1_000);
    const scrape = await exporter.scrape();
    expect(scrape).toContain(`gameserver_info{panel="other",server="${name}"`);
    expect(scrape).toContain('gameserver_info{panel="hostile",server="ä<secret>"');
  }, 90_000);
});

describe('a flood of errors on a socket that streams', () => {
  const FRAMES = 4_000;
  const evil = '%2541\\u0041&amp;#65;'.repeat(80);

  it('costs about as much as a flood of stats', async () => {
    const sockets: WebSocket[] = [];
    const node = (socket: WebSocket) => {
      behave(socket);
      sockets.push(socket);
    };
    const hostile = await startHostilePanel([{ name: 'flood', node }]);
    panels = [hostile];
    exporter = await startExporter({ yaml: hostile.yaml(`http://127.0.0.1:${hostile.port}`) });
    await exporter.until('gameserver_collection_streaming', { server: 'flood' }, 1);
    const [socket] = sockets;
    if (socket === undefined) throw new Error('there is no socket');

    /** Milliseconds until the exporter has read all of these frames. */
    const timeOf = async (text: string) => {
      const startedAt = performance.now();
      for (let sent = 0; sent < FRAMES; sent += 1) socket.send(text);
      const read = once(socket, 'pong');
      socket.ping();
      await read;
      return performance.now() - startedAt;
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
  }, 60_000);
});
