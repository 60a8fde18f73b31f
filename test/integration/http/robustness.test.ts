import type { ServerResponse } from 'node:http';
import { createConnection } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { HELD_BYTES } from '../../../src/http/bodies.ts';
import { HttpServer, type HttpServerLimits } from '../../../src/http/server.ts';
import { eventually } from '../../support/eventually.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { collectingLogger } from '../../support/logger.ts';
import { largeFleet } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';
import { connectRaw, RawClient, SCRAPE, stuckReader } from './raw-client.ts';

const FLEET_SIZE = 2_000;
const MIB = 1_048_576;

/** Clients that stop reading, one after the other. */
const READERS = 12;

/** Servers whose JSON view exceeds the 4 MiB that the kernel holds for a socket: a reader that has all of it holds nothing. */
const JSON_FLEET_SIZE = 6_000;

let server: HttpServer | undefined;
let clients: RawClient[];
let logger: ReturnType<typeof collectingLogger>;
/** The server's side of every response. */
let answers: ServerResponse[];
let url: string;
let port: number;
let printed: ReturnType<typeof vi.spyOn>[];

beforeEach(() => {
  clients = [];
  answers = [];
  logger = collectingLogger();
  printed = [vi.spyOn(console, 'error'), vi.spyOn(console, 'info')];
});

// Nothing that a scraper does may be logged, or printed past the log.
afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  await server?.stop();
  expect(logger.lines).toEqual([]);
  for (const spy of printed) expect(spy).not.toHaveBeenCalled();
});

interface Serving {
  readonly limits?: Partial<HttpServerLimits>;
  readonly heldBytes?: number;
  readonly fleetSize?: number;
}

/** Serves the metrics of a large fleet. */
async function serve({ limits = {}, heldBytes = HELD_BYTES, fleetSize = FLEET_SIZE }: Serving = {}) {
  const fleet = largeFleet(fleetSize);
  const clock = new SystemClock();
  const { routes } = exporterRoutes({ fleet, clock, logger, heldBytes });
  const noted = {
    fetch: (request: Request, served: { readonly outgoing: ServerResponse }) => {
      answers.push(served.outgoing);
      return routes.fetch(request, served);
    },
  };
  server = new HttpServer({ listen: { host: '127.0.0.1', port: 0 }, routes: noted, clock, logger, limits });
  ({ url, port } = await server.start());
}

const connect = () => connectRaw(port, clients);
const stuck = (path?: string) => stuckReader(port, clients, path);

/** A whole scrape; throws if it is cut short. */
async function scrapeWhole(encoding = 'identity'): Promise<{ status: number; text: string }> {
  const headers = { 'Accept-Encoding': encoding };
  const answer = await fetch(`${url}/metrics`, { headers });
  return { status: answer.status, text: await answer.text() };
}

async function scrapeBytes(): Promise<number> {
  return Buffer.byteLength((await scrapeWhole()).text);
}

async function expectScrape(fleetSize = FLEET_SIZE): Promise<void> {
  const { status, text } = await scrapeWhole();
  expect(status).toBe(200);
  expect(text.match(/^gameserver_collection_up\{/gm)).toHaveLength(fleetSize);
}

describe('many scrapers', () => {
  it('50 at once all receive full responses, plain and compressed', async () => {
    await serve();
    const scrapes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => scrapeWhole(index % 2 === 0 ? 'gzip' : 'identity')),
    );
    expect(scrapes.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    for (const { text } of scrapes)
      expect(text.match(/^gameserver_collection_up\{/gm)).toHaveLength(FLEET_SIZE);
    expect(parseExposition(scrapes[0]?.text ?? '').length).toBeGreaterThan(40);
  });

  it('50 that stop reading block no other scraper', async () => {
    await serve();
    const readers = await Promise.all(Array.from({ length: 50 }, () => stuck()));
    expect(readers.map(({ statuses }) => statuses)).toEqual(readers.map(() => [200]));
    await expectScrape();
    expect(readers.some(({ closed }) => closed)).toBe(false);
  });

  it('slow ones receive their whole response at their own pace', async () => {
    await serve();
    const readers = await Promise.all(Array.from({ length: 10 }, stuck));
    await expectScrape();
    for (const { socket } of readers) socket.resume();
    await eventually(() => {
      for (const reader of readers) {
        const [, length] = /content-length: (\d+)/i.exec(reader.received) ?? [];
        const [head = ''] = reader.received.split('\r\n\r\n');
        expect(reader.bytes).toBe(Number(length) + head.length + 4);
      }
    });
  });
});

describe('memory held for slow readers', () => {
  it('is limited: the oldest readers are disconnected, and a new one gets a response', async () => {
    await serve({ heldBytes: 16 * MIB });
    expect(await scrapeBytes()).toBeGreaterThan(4 * MIB);
    const readers: RawClient[] = [];
    for (let turn = 0; turn < 8; turn += 1) readers.push(await stuck());
    await expectScrape();
    // A paused socket sees its end only once it resumes reading.
    for (const { socket } of readers) socket.resume();
    await eventually(() => expect(readers.slice(0, 5).every(({ closed }) => closed)).toBe(true));
    expect(readers.at(-1)?.closed).toBe(false);
  });

  it('has the same limit for the JSON view as for scrapes, together', async () => {
    await serve({ heldBytes: 8 * MIB, fleetSize: JSON_FLEET_SIZE });
    const path = '/api/v1/servers';
    const whole = Buffer.byteLength(await (await fetch(`${url}${path}`)).text());
    const unlimited = READERS * whole;
    const limit = 8 * MIB + 2 * whole;
    expect(unlimited).toBeGreaterThan(3 * limit);
    const before = usedMemory();
    const readers: RawClient[] = [];
    for (let turn = 0; turn < READERS; turn += 1) readers.push(await stuck(path));
    // Other tests in this process use memory, too, and some of it is released later.
    await eventually(() => expect(usedMemory() - before).toBeLessThan(1.5 * limit));
    await expectScrape(JSON_FLEET_SIZE);
    for (const { socket } of readers) socket.resume();
    await eventually(() => expect(readers.slice(0, READERS / 2).every(({ closed }) => closed)).toBe(true));
  });

  it('is released when readers disconnect in the middle', async () => {
    await serve();
    await expectScrape();
    const before = usedMemory();
    for (let turn = 0; turn < 20; turn += 1) {
      const readers = await Promise.all([stuck(), stuck(), stuck()]);
      for (const { socket } of readers) socket.destroy();
    }
    clients.length = 0;
    await expectScrape();
    // Generous: one scrape is over 4 MB, and more than twenty were started.
    await eventually(() => expect(usedMemory() - before).toBeLessThan(64 * MIB));
  });
});

/** Bytes in use after a garbage collection. */
function usedMemory(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('connections', () => {
  it('that are idle are closed for a scraper when the limit is reached', async () => {
    await serve({ limits: { connections: 20, headersMs: 60_000, requestMs: 60_000 }, fleetSize: 10 });
    await Promise.all(Array.from({ length: 60 }, connect));
    await expectScrape(10);
    await eventually(() => expect(clients.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(20));
  });

  it('that are stuck in a scrape are closed for a scraper when the limit is reached', async () => {
    await serve({ limits: { connections: 8 } });
    for (let turn = 0; turn < 12; turn += 1) await stuck();
    await expectScrape();
  });

  it('that are in use stay open, while older ones are closed', async () => {
    await serve({ limits: { connections: 3 }, fleetSize: 10 });
    const used = await connect();
    for (let turn = 1; turn < 10; turn += 1) {
      await connect();
      used.send('GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n');
      await eventually(() => expect(used.statuses).toHaveLength(turn));
    }
    expect(used.closed).toBe(false);
  });

  it('are closed if their reader receives nothing for too long', async () => {
    await serve({ limits: { stalledMs: 3_000 } });
    const reader = await stuck();
    await eventually(() => expect(answers[0]?.destroyed).toBe(true));
    reader.socket.resume();
    await eventually(() => expect(reader.closed).toBe(true));
    await expectScrape();
  });
});

describe('a client that keeps opening connections', () => {
  it('loses its own connections, but not those of another client', async () => {
    await serve({ limits: { connections: 10 }, fleetSize: 10 });
    const scraper = new RawClient(createConnection({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }));
    clients.push(scraper);
    scraper.send(SCRAPE);
    await eventually(() => expect(scraper.statuses).toEqual([200]));
    const many: RawClient[] = [];
    for (let index = 0; index < 50; index += 1) many.push(await connect());
    await eventually(() => expect(many.filter(({ closed }) => !closed)).toHaveLength(9));
    expect(scraper.closed).toBe(false);
    scraper.send(SCRAPE);
    await eventually(() => expect(scraper.statuses).toEqual([200, 200]));
  });
});

describe('incomplete requests', () => {
  const FAST = { headersMs: 100, requestMs: 200, checkMs: 20 };

  it.each([
    ['nothing', ''],
    ['half a request line', 'GET /met'],
    ['headers without an end', 'GET /metrics HTTP/1.1\r\nHost: a\r\nX-A: b\r\n'],
    ['a body that never comes', 'POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n'],
    ['a chunk that never comes', 'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
  ])('%s: the connection is closed in time, and scrapes continue', async (_what, text) => {
    await serve({ limits: FAST, fleetSize: 10 });
    const [slow] = await Promise.all(Array.from({ length: 30 }, connect));
    for (const client of clients) client.send(text);
    // On a busy machine, a scrape may exceed these short deadlines itself.
    await eventually(() => expectScrape(10));
    await eventually(() => expect(slow?.closed).toBe(true));
  });

  it('whose headers arrive byte by byte are closed too', async () => {
    await serve({ limits: FAST, fleetSize: 10 });
    const slow = await connect();
    slow.send('GET /metrics HTTP/1.1\r\n');
    const drip = setInterval(() => slow.send('X-A: b\r\n'), 10);
    try {
      await eventually(() => expect(slow.closed).toBe(true));
    } finally {
      clearInterval(drip);
    }
    expect(slow.statuses).toEqual([408]);
  });
});

describe('malformed or unusual requests', () => {
  const ask = async (text: string) => {
    const client = await connect();
    client.send(text);
    await eventually(() => expect(client.closed || client.received.includes('\r\n\r\n')).toBe(true));
    return client;
  };

  it.each([
    ['one huge header', `X-A: ${'a'.repeat(100_000)}\r\n`],
    ['a huge path', undefined],
    ['a great many headers', Array.from({ length: 20_000 }, (_, index) => `X-${index}: a\r\n`).join('')],
  ])('with %s are refused with 431, and the next request is served', async (_what, headers) => {
    await serve({ fleetSize: 10 });
    const line = headers === undefined ? `/${'a'.repeat(100_000)}` : '/metrics';
    const client = await ask(`GET ${line} HTTP/1.1\r\nHost: a\r\n${headers ?? ''}\r\n`);
    expect(client.statuses).toEqual([431]);
    await eventually(() => expect(client.closed).toBe(true));
    await expectScrape(10);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH', 'PURGE', 'QUERY'])(
    'with the method %s are not allowed',
    async (method) => {
      await serve({ fleetSize: 10 });
      const client = await ask(`${method} /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`);
      expect(client.statuses.every((status) => [400, 405].includes(status))).toBe(true);
      expect(client.statuses).toHaveLength(1);
      await expectScrape(10);
    },
  );

  it.each([
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', []],
    [
      'an upgrade',
      'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      [200],
    ],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['an unknown method', 'HACK /metrics HTTP/1.1\r\nHost: a\r\n\r\n', [400]],
    [
      'two lengths',
      'GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      [400],
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
    ['an invalid host', 'GET /metrics HTTP/1.1\r\nHost: a b/@:x\r\n\r\n', [400]],
    ['two hosts', 'GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', [400]],
    ['the same host twice', 'GET /metrics HTTP/1.1\r\nhost: a\r\nHOST: a\r\n\r\n', [400]],
    ['two hosts over HTTP/1.0', 'GET /metrics HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n', [400]],
    ['a length with a sign', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na', [400]],
    ['a space before a colon', 'GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\na', [400]],
    ['a continued header line', 'GET /metrics HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n', [400]],
    [
      'a transfer coding after chunked',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n',
      [400],
    ],
    ['no host', 'GET /metrics HTTP/1.1\r\n\r\n', [400]],
    ['bytes', '\u0000\u00ff\u0001\r\n\r\n', [400]],
  ])('such as %s do no harm', async (_what, text, statuses) => {
    await serve({ fleetSize: 10 });
    const client = await ask(text);
    expect(client.statuses).toEqual(statuses);
    await expectScrape(10);
  });

  it.each([
    '/%',
    '/%00',
    '/metrics%00',
    '/metrics%',
    '/%c3%28',
    '/..%2f..%2fetc/passwd',
    '/\\..\\',
    '*',
    '//',
  ])('for the path %s receive plain text or are refused', async (path) => {
    await serve({ fleetSize: 10 });
    const client = await ask(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect([400, 404]).toContain(client.statuses[0]);
    await expectScrape(10);
  });

  it('get responses in order if they are pipelined, without keeping each response in memory', async () => {
    await serve();
    const eachBytes = await scrapeBytes();
    const client = await connect();
    const before = usedMemory();
    const [first, last] = ['/-/healthy', '/nowhere'].map((path) => SCRAPE.replace('/metrics', path));
    client.send(`${first}${SCRAPE.repeat(25)}${last}`);
    let tail = '';
    client.socket.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('latin1')).slice(-1_000);
    });
    await eventually(() => expect(client.bytes).toBeGreaterThan(2 * eachBytes));
    client.socket.pause();
    expect(usedMemory() - before).toBeLessThan(10 * eachBytes);
    client.socket.resume();
    await eventually(() => expect(tail).toContain('Not found.'));
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Healthy\.\nHTTP\/1\.1 200 OK\r\n/);
    expect(client.bytes).toBeGreaterThan(25 * eachBytes);
  });
});
