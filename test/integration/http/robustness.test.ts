import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { createConnection } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MAX_ABANDONED } from '../../../src/http/connections.ts';
import type { Routes } from '../../../src/http/guarded-routes.ts';
import { HELD_BYTES } from '../../../src/http/held-bodies.ts';
import { HttpServer, type HttpServerLimits } from '../../../src/http/http-server.ts';
import { type Render, renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually, repeatedly } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { largeFleet } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';
import { connectRaw, PATIENT, RawClient, SCRAPE, stuckReader } from './raw-client.ts';

const MIB = 1_048_576;

/**
 * A body of more than the 4 MiB that the kernel holds for a socket, because a reader whose whole
 * body is in the kernel holds nothing.
 */
const LARGE = '#'.repeat(6 * MIB);

/** The fleet of the tests in which sizes don't matter. */
const FLEET_SIZE = 10;

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
  /** The body of every scrape; the fleet's metrics by default. */
  readonly body?: string;
}

async function serve({ limits = {}, heldBytes = HELD_BYTES, fleetSize = FLEET_SIZE, body }: Serving = {}) {
  const fleet = largeFleet(fleetSize);
  const clock = new ManualClock();
  const scrape: Render = (encoding) => renderBody([body ?? ''], encoding, 'scrape');
  const { routes } = exporterRoutes({
    fleet,
    clock,
    heldBytes,
    ...(body !== undefined && { scrape }),
  });
  const noted = {
    fetch: (request: Request, served: { readonly outgoing: ServerResponse }) => {
      answers.push(served.outgoing);
      return routes.fetch(request, served);
    },
  };
  const listen = { host: '127.0.0.1', port: 0 };
  server = new HttpServer({ listen, routes: noted, clock, logger, limits: { ...PATIENT, ...limits } });
  ({ url, port } = await server.start());
}

const connect = () => connectRaw(port, clients);
const stuck = (path?: string) => stuckReader(port, clients, path);

/** A whole scrape; throws if it is cut short. */
async function scrapeWhole(encoding = 'identity'): Promise<string> {
  const answer = await fetch(`${url}/metrics`, { headers: { 'Accept-Encoding': encoding } });
  expect(answer.status).toBe(200);
  return answer.text();
}

const expectLarge = async () => expect(await scrapeWhole()).toHaveLength(LARGE.length);

async function expectScrape(fleetSize = FLEET_SIZE, encoding?: string): Promise<void> {
  const text = await scrapeWhole(encoding);
  expect(text.match(/^gameserver_collection_up\{/gm)).toHaveLength(fleetSize);
}

describe('many scrapers', () => {
  it('50 at once all receive full responses, plain and compressed', async () => {
    await serve({ fleetSize: 300 });
    const scrapes = Array.from({ length: 50 }, (_, index) =>
      expectScrape(300, index % 2 === 0 ? 'gzip' : 'identity'),
    );
    await Promise.all(scrapes);
  });

  it('50 that stop reading block no other scraper', async () => {
    await serve({ body: LARGE, heldBytes: 60 * LARGE.length });
    const readers = await Promise.all(Array.from({ length: 50 }, () => stuck()));
    expect(readers.map(({ statuses }) => statuses)).toEqual(readers.map(() => [200]));
    await expectLarge();
    expect(readers.some(({ closed }) => closed)).toBe(false);
  });

  it('slow ones receive their whole response at their own pace', async () => {
    await serve({ body: LARGE });
    const readers = await Promise.all(Array.from({ length: 4 }, () => stuck()));
    await expectLarge();
    for (const { socket } of readers) socket.resume();
    await eventually(() => {
      for (const reader of readers) {
        const [head = ''] = reader.received.split('\r\n\r\n');
        expect(reader.bytes).toBe(LARGE.length + head.length + 4);
      }
    });
  });
});

describe('memory held for slow readers', () => {
  it('is limited: the oldest readers are disconnected, and a new one gets a response', async () => {
    await serve({ body: LARGE, heldBytes: 3 * LARGE.length });
    const readers: RawClient[] = [];
    for (let turn = 0; turn < 5; turn += 1) readers.push(await stuck());
    await expectLarge();
    // A paused socket sees its end only once it resumes reading.
    for (const { socket } of readers) socket.resume();
    await eventually(() => expect(readers.slice(0, 2).every(({ closed }) => closed)).toBe(true));
    expect(readers.at(-1)?.closed).toBe(false);
  });

  it('has the same limit for the JSON view as for scrapes, together', async () => {
    await serve({ body: LARGE, heldBytes: LARGE.length, fleetSize: 6_000 });
    const reader = await stuck('/api/v1/servers');
    const [, length] = /content-length: (\d+)/i.exec(reader.received) ?? [];
    expect(Number(length)).toBeGreaterThan(4 * MIB);
    await expectLarge();
    reader.socket.resume();
    await eventually(() => expect(reader.closed).toBe(true));
    expect(reader.bytes).toBeLessThan(Number(length));
  });

  it('is released when readers disconnect in the middle', async () => {
    await serve({ body: LARGE });
    await expectLarge();
    const before = usedMemory();
    for (let turn = 0; turn < 8; turn += 1) {
      const readers = await Promise.all([stuck(), stuck(), stuck()]);
      for (const { socket } of readers) socket.destroy();
    }
    clients.length = 0;
    await expectLarge();
    // Generous: the bodies of the readers have more than twice as much.
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
  it('that are stuck in a scrape are closed for a scraper when the limit is reached', async () => {
    await serve({ body: LARGE, limits: { connections: 8 } });
    for (let turn = 0; turn < 12; turn += 1) await stuck();
    await expectLarge();
  });

  it('that are in use stay open, while older ones are closed', async () => {
    await serve({ limits: { connections: 3 } });
    const used = await connect();
    for (let turn = 1; turn < 10; turn += 1) {
      await connect();
      used.send('GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n');
      await eventually(() => expect(used.statuses).toHaveLength(turn));
    }
    expect(used.closed).toBe(false);
  });

  it('are closed if their reader receives nothing for too long', async () => {
    await serve({ body: LARGE, limits: { stalledMs: 200 } });
    const reader = await stuck();
    await eventually(() => expect(answers[0]?.destroyed).toBe(true));
    reader.socket.resume();
    await eventually(() => expect(reader.closed).toBe(true));
  });
});

describe('a client that keeps opening connections', () => {
  it('loses its own connections, but not those of another client', async () => {
    await serve({ limits: { connections: 10 } });
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

describe('requests that wait although their connections have ended', () => {
  it('are limited for each client, until they end, and another client is served meanwhile', async () => {
    const late = deferred<string>();
    const waiting: ServerResponse[] = [];
    const routes: Routes = {
      fetch: ({ url: requested }, { outgoing }) => {
        if (requested.endsWith('/now')) return new Response('now');
        waiting.push(outgoing);
        return late.promise.then((text) => new Response(text));
      },
    };
    const listen = { host: '127.0.0.1', port: 0 };
    server = new HttpServer({ listen, routes, clock: new ManualClock(), logger, limits: PATIENT });
    ({ port } = await server.start());
    const requested = (path: string, localAddress = '127.0.0.1') => {
      const client = new RawClient(createConnection({ port, host: '127.0.0.1', localAddress }));
      clients.push(client);
      client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return client;
    };
    const isServed = async (localAddress?: string) => {
      const client = requested('/now', localAddress);
      await eventually(() => expect(client.closed || client.statuses.length > 0).toBe(true));
      return client.statuses.length > 0;
    };
    for (let made = 1; made <= MAX_ABANDONED; made += 1) {
      const client = requested('/late');
      await eventually(() => expect(waiting).toHaveLength(made));
      client.socket.destroy();
      await eventually(() => expect(waiting.at(-1)?.destroyed).toBe(true));
    }
    const refused = requested('/late');
    await eventually(() => expect(refused.closed).toBe(true));
    expect(waiting).toHaveLength(MAX_ABANDONED);
    expect(await isServed('127.0.0.2')).toBe(true);
    late.resolve('late');
    await eventually(async () => expect(await isServed()).toBe(true));
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
  ])('such as %s are closed in time', async (_what, text) => {
    await serve({ limits: FAST });
    const slow = await connect();
    slow.send(text);
    await eventually(() => expect(slow.closed).toBe(true));
  });

  it('whose headers arrive byte by byte are closed too', async () => {
    await serve({ limits: FAST });
    const slow = await connect();
    slow.send('GET /metrics HTTP/1.1\r\n');
    const end = repeatedly(() => slow.send('X-A: b\r\n'));
    try {
      await eventually(() => expect(slow.closed).toBe(true));
    } finally {
      end();
    }
  });

  it('delay no scrape while they last', async () => {
    await serve();
    await Promise.all(Array.from({ length: 30 }, connect));
    for (const client of clients) client.send('GET /met');
    await expectScrape();
  });
});

describe('a client that sends requests before the response to the previous one', () => {
  const paths = ['/-/healthy', '/metrics', '/', '/api/v1/history?server=x/%23', '/nowhere', '/api/v1/stream'];
  const request = (path: string) => SCRAPE.replace('/metrics', path);

  it.each(paths)('is disconnected after the third, and the rest is not processed: %s', async (path) => {
    await serve();
    const [client, other] = [await connect(), await connect()];
    let parsed = 0;
    const count = () => {
      parsed += 1;
    };
    subscribe('http.server.request.start', count);
    client.send(request(path).repeat(2_000));
    await eventually(() => expect(client.closed).toBe(true));
    unsubscribe('http.server.request.start', count);
    expect(parsed).toBe(3);
    expect(answers.length).toBeLessThanOrEqual(1);
    other.send(SCRAPE);
    await eventually(() => expect(other.statuses).toEqual([200]));
  });

  it('gets its second response after the first, also if both requests came at once', async () => {
    await serve();
    const client = await connect();
    for (const count of [2, 4, 6]) {
      client.send(request('/nowhere') + request('/-/healthy'));
      await eventually(() => expect(client.statuses).toHaveLength(count));
    }
    expect(client.statuses).toEqual([404, 200, 404, 200, 404, 200]);
    expect(client.closed).toBe(false);
  });

  it('gets the second response when it has read the first, and the request takes no memory before', async () => {
    await serve({ body: LARGE });
    const client = await stuck();
    client.send(SCRAPE);
    await expectLarge();
    expect(answers).toHaveLength(2);
    client.socket.resume();
    await eventually(() => expect(client.bytes).toBeGreaterThan(2 * LARGE.length));
    expect(answers).toHaveLength(3);
  });

  it('gets no second response if it leaves, or if the first one ends the connection', async () => {
    await serve({ body: LARGE });
    const leaving = await stuck();
    leaving.send(SCRAPE);
    leaving.socket.destroy();
    await eventually(() => expect(answers[0]?.destroyed).toBe(true));
    const last = await connect();
    last.send(SCRAPE.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n') + SCRAPE);
    await eventually(() => expect(last.closed).toBe(true));
    expect(answers).toHaveLength(2);
  });

  it('is disconnected in the middle of a response when it sends two more at once', async () => {
    await serve({ body: LARGE });
    const client = await stuck();
    client.send(SCRAPE.repeat(2));
    await eventually(() => expect(answers[0]?.destroyed).toBe(true));
    expect(answers).toHaveLength(1);
  });

  it('stays connected if it waits for each response, however soon it sends the next one', async () => {
    await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const reused: boolean[] = [];
    for (let index = 0; index < 100; index += 1) {
      const asked = get(`${url}${paths[index % 5]}`, { agent });
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      reused.push(asked.reusedSocket);
      await once(response.resume(), 'end');
    }
    agent.destroy();
    expect(reused).toEqual(reused.map((_, index) => index > 0));
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
    await serve();
    const line = headers === undefined ? `/${'a'.repeat(100_000)}` : '/metrics';
    const client = await ask(`GET ${line} HTTP/1.1\r\nHost: a\r\n${headers ?? ''}\r\n`);
    expect(client.statuses).toEqual([431]);
    await eventually(() => expect(client.closed).toBe(true));
    await expectScrape();
  });

  it.each([
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n', []],
    [
      'an upgrade',
      'GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      [200],
    ],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
    ['an invalid host', 'GET /metrics HTTP/1.1\r\nHost: a b/@:x\r\n\r\n', [400]],
    ['two hosts', 'GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', [400]],
    ['the same host twice', 'GET /metrics HTTP/1.1\r\nhost: a\r\nHOST: a\r\n\r\n', [400]],
    ['a continued header line', 'GET /metrics HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n', [400]],
  ])('such as %s do no harm', async (_what, text, statuses) => {
    await serve();
    const client = await ask(text);
    expect(client.statuses).toEqual(statuses);
    await expectScrape();
  });

  it.each(['/%', '/metrics%00', '/%c3%28', '/..%2f..%2fetc/passwd', '*', '//'])(
    'for the path %s receive plain text or are refused',
    async (path) => {
      await serve();
      const client = await ask(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect([400, 404]).toContain(client.statuses[0]);
      await expectScrape();
    },
  );
});
