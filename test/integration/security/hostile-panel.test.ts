import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, repeatedly } from '../../support/eventually.ts';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { pageData, pageFleet } from '../../support/page-data.ts';
import { envelope, json } from '../panel/scripted-server.ts';
import { behave, frame, type HostilePanel, type HostileServer, startHostilePanel } from './hostile-panel.ts';

/** A text that attacks terminals, log lines, pages, and readers of text from right to left. */
const EVIL =
  '\u001b[31mred\u001b]0;title\u0007\u009b2J\r\nforged="line"\u2028\u202e<script>alert(1)</script>&\u0000';

const PROTOTYPE =
  '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},' +
  '"attributes":{"__proto__":{"current_state":"running"},"current_state":"__proto__",' +
  '"resources":{"__proto__":{"memory_bytes":666},"constructor":1}},"data":{"__proto__":{"token":"t","socket":"u"}}}';

const text =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

/** A status message with a byte that is invalid in UTF-8. */
const NOT_UTF8 = Buffer.from('{"event":"status","args":["\u00ff"]}', 'latin1');

/** The number of invalid frames that one server sends at once. */
const JUNK = 20_000;

const junk = (index: number) =>
  [
    `{"event":"made up ${index}","args":["${index}"]}`,
    '{"event":"stats","args":[{}]}',
    'null',
    '{"event":"status","args":["made up"]}',
  ][index % 4] ?? '';

/** Frames that end their socket. */
const UNREADABLE = ['{"event":"stats","args":["{oops"]}', '\u001b[2J', ''];

const SERVERS: readonly HostileServer[] = [
  { name: 'good' },
  // Errors whose text tries to get into a log or onto a page.
  { name: 'evil envelope', credentials: json(500, envelope(EVIL)), resources: json(500, envelope(EVIL)) },
  { name: 'evil message', credentials: json(409, { error: EVIL, message: EVIL }), resources: json(409, {}) },
  {
    name: 'evil page',
    credentials: text(502, `<html><title>${EVIL}</title>`, { 'content-type': 'text/html' }),
    resources: text(200, EVIL),
  },
  { name: 'ten megabytes of words', credentials: json(500, envelope('a'.repeat(10_000_000))) },
  // Bodies with another content than they declare.
  { name: 'prototype', credentials: text(200, PROTOTYPE), resources: text(200, PROTOTYPE) },
  {
    name: 'ten megabytes',
    credentials: text(200, 'a'.repeat(10_000_000)),
    resources: text(200, '['.repeat(10_000_000)),
  },
  {
    name: 'bomb',
    credentials: text(200, gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' }),
    resources: text(200, gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' }),
  },
  { name: 'redirect', credentials: text(302, '', { location: 'http://127.0.0.1:9/login?token=x' }) },
  { name: 'one huge header', credentials: text(200, '{}', { 'x-a': 'a'.repeat(1_000_000) }) },
  {
    name: 'many headers',
    credentials: text(
      200,
      '{}',
      Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`x-${n}`, 'a'])),
    ),
  },
  { name: 'hints without end', credentials: (response) => hintWithoutEnd(response) },
  { name: 'a cookie', credentials: json(500, envelope('later'), { 'set-cookie': 'a=b; Path=/' }) },
  // Attacks of a node.
  { name: 'evil close', node: (socket) => socket.close(4000, EVIL.slice(0, 40)) },
  {
    name: 'evil refusal',
    node: (socket) => {
      socket.on('message', () =>
        socket.send(frame('jwt error', `${EVIL} permission eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln`)),
      );
    },
  },
  {
    name: 'evil state',
    node: (socket) => {
      socket.on('message', () => {
        socket.send(frame('auth success'));
        for (const state of [EVIL, 'a"} 1\n', '__proto__', 'a'.repeat(1_000_000)]) {
          socket.send(frame('status', state));
          socket.send(frame('stats', JSON.stringify({ state })));
        }
        socket.send(NOT_UTF8, { binary: false });
      });
    },
  },
  {
    name: 'junk',
    node: (socket) =>
      behave(socket, () => {
        for (let index = 0; index < JUNK; index += 1) socket.send(junk(index));
      }),
  },
  {
    name: 'unreadable',
    node: (socket) =>
      behave(socket, () => {
        for (let index = 0; index < JUNK; index += 1) socket.send(UNREADABLE[index % 3] ?? '');
      }),
  },
  {
    // The node puts the game server's output into a string, so it can't send frames.
    name: 'console',
    node: (socket) =>
      behave(socket, () => {
        for (const line of [
          frame('status', 'offline'),
          frame('token expired'),
          `${EVIL}"]}`,
          '"},"event":"deleted"',
        ]) {
          socket.send(frame('console output', line));
        }
      }),
  },
];

let panel: HostilePanel;
let exporter: ExporterUnderTest;

const HINT = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

/** Sends interim responses as long as the client reads. */
function hintWithoutEnd(response: ServerResponse): void {
  const { socket } = response;
  socket?.once(
    'close',
    repeatedly(() => socket.write(HINT.repeat(100)), 5),
  );
}

beforeAll(async () => {
  panel = await startHostilePanel(SERVERS);
  exporter = await exporterOf(panel);
  await exporter.until('gameserver_exporter_servers', { condition: 'waiting' }, 0);
  await exporter.until('gameserver_collection_streaming', { server: 'good' }, 1);
  await exporter.until('gameserver_console_lines_total', { server: 'console' }, 4);
});

afterAll(async () => {
  await exporter.stop();
  await panel.stop();
});

const exporterOf = (panel: HostilePanel, timeout = '20s') =>
  startExporter({
    yaml: panel.yaml(`http://127.0.0.1:${panel.port}`, `request_timeout: ${timeout}`, 'staleness: 10m'),
  });

const page = () => pageData(exporter.url);

/**
 * Waits until the page contains this text about a server. Returns the whole page. The server is
 * only accompanied by a good one, because with so many failing servers, the page would show the
 * panel's problem instead. A busy machine may need long for a response.
 */
async function expectRow(name: string, words: string, timeout = '1h'): Promise<string> {
  const alone = await startHostilePanel(
    SERVERS.filter((server) => server.name === name || server.name === 'good'),
  );
  const own = await exporterOf(alone, timeout);
  try {
    return await eventually(async () => {
      const fleet = await pageFleet(own.url);
      const server = fleet.servers.find(({ server }) => server === name);
      const row = JSON.stringify(server?.complaint);
      expect(row).toContain(words);
      return row;
    });
  } finally {
    await own.stop();
    await alone.stop();
  }
}

function callsFor(name: string): number {
  const id = SERVERS.findIndex((server) => server.name === name)
    .toString(16)
    .padStart(8, '0');
  return panel.calls.filter(({ url }) => url?.includes(id)).length;
}

/** All texts in a value, at any depth, including messages of errors. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  const words = value instanceof Error ? [value.message, value.stack ?? '', value.cause] : [];
  return [...words, ...Object.values(value)].flatMap(textsIn);
}

const UNCLEAN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('a hostile panel and its node', () => {
  it("don't affect a good server, which streams", async () => {
    await exporter.until('gameserver_collection_streaming', { server: 'good' }, 1);
    expect(await exporter.value('gameserver_memory_usage_bytes', { server: 'good' })).toBe(1);
  });

  it("can't create series that Prometheus rejects", async () => {
    const scrape = await exporter.scrape();
    expect(parseExposition(scrape).length).toBeGreaterThan(40);
    expect(scrape.replaceAll('\n', '')).not.toMatch(UNCLEAN);
    for (const [, server] of scrape.matchAll(/^gameserver_state\{.*server="([^"]*)".*\} 1$/gm)) {
      expect(SERVERS.map(({ name }) => name)).toContain(server);
    }
  });

  it("can't invent a state", async () => {
    for (const state of ['offline', 'starting', 'running', 'stopping']) {
      expect(await exporter.value('gameserver_state', { server: 'evil state', state })).toBe(0);
    }
    expect(await exporter.value('gameserver_state', { server: 'evil state', state: 'unknown' })).toBe(1);
  });

  it("can't invent a label value: unknown events and statuses share one", async () => {
    const other = () => exporter.value('gameserver_exporter_messages_total', { event: 'other' });
    await eventually(async () => expect(await other()).toBeGreaterThanOrEqual(JUNK / 4));
    expect(await exporter.scrape()).not.toContain('made up');
  });

  it("can't write an escape sequence, line break or hidden character to the log", () => {
    const texts = exporter.lines.flatMap(({ fields, message }) => [message, ...textsIn(fields)]);
    expect(texts.join(' ')).toContain('forged="line"');
    expect(texts.filter((line) => UNCLEAN.test(line))).toEqual([]);
  });

  it("can't put a script or an escape sequence on the page", async () => {
    const document = await (await fetch(exporter.url)).text();
    expect(document.match(/<script[^>]*>/g)).toEqual(['<script type="module" src="assets/page.js">']);
    expect(document).not.toContain('alert(1)');
    const shown = await eventually(async () => {
      const data = await page();
      expect(data).toContain('<script>alert(1)</script>');
      return data;
    });
    expect(shown.replaceAll('\n', '')).not.toMatch(UNCLEAN);
  });

  it("can't fill the log or the page: texts are truncated, and junk isn't logged", async () => {
    const lines = exporter.lines.filter(({ fields }) => textsIn(fields).includes('junk'));
    expect(lines.length).toBeLessThan(30);
    // The socket ends again and again, but is logged only a few times a minute.
    const ended = exporter.lines.filter(({ fields }) => textsIn(fields).includes('unreadable'));
    expect(new Set(ended.map(({ message }) => message)).size).toBeLessThan(15);
    expect(JSON.stringify(exporter.lines)).not.toContain('oops');
    const longest = Math.max(
      ...exporter.lines.flatMap(({ fields }) => textsIn(fields)).map((line) => line.length),
    );
    expect(longest).toBeLessThan(1_000);
    expect((await expectRow('ten megabytes of words', 'aaa')).length).toBeLessThan(1_000);
  });

  it("can't change an object of the program", async () => {
    expect(callsFor('prototype')).toBeGreaterThan(0);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(await exporter.value('gameserver_memory_usage_bytes', { server: 'prototype' })).toBeUndefined();
  });

  it.each([
    ['ten megabytes', 'longer than 1048576 bytes'],
    ['bomb', 'the body is compressed (gzip), although compression was not requested'],
  ])("can't make the exporter read more than its limit of %s", async (name, words) => {
    await expectRow(name, words);
  });

  it.each([
    ['one huge header', 'Headers Overflow Error', '1h'],
    ['many headers', 'Headers Overflow Error', '1h'],
    ['hints without end', 'within 20 s', '20s'],
  ])("can't waste more than one call and its time by %s", async (name, words, timeout) => {
    await expectRow(name, words, timeout);
    await exporter.until('gameserver_collection_up', { server: name }, 1);
    expect(await exporter.value('gameserver_collection_streaming', { server: name })).toBe(0);
  });

  it("can't redirect the key, or set a cookie", async () => {
    await expectRow('redirect', 'returned 302: redirect to http://127.0.0.1:9/login');
    expect(panel.calls.length).toBeGreaterThan(SERVERS.length);
    for (const { headers } of panel.calls) expect(headers.cookie).toBeUndefined();
    for (const { headers } of panel.upgrades) {
      expect(headers.cookie).toBeUndefined();
      expect(headers.authorization).toBeUndefined();
    }
  });
});

describe('a hostile game server', () => {
  it('that prints text resembling frames only changes the number of its lines', async () => {
    const labels = { server: 'console' };
    expect(await exporter.value('gameserver_console_lines_total', labels)).toBe(4);
    expect(await exporter.value('gameserver_state', { ...labels, state: 'running' })).toBe(1);
    expect(await exporter.value('gameserver_collection_streaming', labels)).toBe(1);
  });
});
