import { Agent } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../../src/domain/clock.ts';
import { INTERNAL_ERRORS } from '../../../src/domain/internal-errors.ts';
import { HttpServer } from '../../../src/http/http-server.ts';
import type { ListenAddress } from '../../../src/http/listen-address.ts';
import type { createRoutes, RouteDependencies } from '../../../src/http/routes.ts';
import type { RenderedBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { parseExposition, valueOf } from '../../support/exposition-parser.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, streamingReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';
import { connectRaw, PATIENT, type RawClient, SCRAPE, stuckReader } from './raw-client.ts';
import { type Client, get } from './secure-client.ts';

const started: HttpServer[] = [];
const clients: RawClient[] = [];
const agents: Agent[] = [];

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  for (const agent of agents.splice(0)) agent.destroy();
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

const stillClock = new ManualClock();

async function serve(changes: Partial<RouteDependencies> = {}, fleet = fleetReading([streamingReading()])) {
  const clock = changes.clock ?? stillClock;
  const logger = collectingLogger();
  const { routes } = exporterRoutes({ fleet, clock, ...changes });
  const fetched = vi.fn<(typeof routes)['fetch']>((...request) => routes.fetch(...request));
  const server = serverOf({ fetch: fetched }, clock, logger);
  return { server, logger, fetched, ...(await server.start()) };
}

function serverOf(
  routes: Pick<ReturnType<typeof createRoutes>, 'fetch'> = { fetch: () => new Response('') },
  clock: Clock = stillClock,
  logger = collectingLogger(),
  listen: ListenAddress = { host: '127.0.0.1', port: 0 },
): HttpServer {
  const server = new HttpServer({ listen, routes, clock, logger, limits: PATIENT });
  started.push(server);
  return server;
}

const ask = ({ url }: { readonly url: string }, path: string, client: Client = {}) =>
  get(url, { path, ...client });

const open = ({ port }: { readonly port: number }) => connectRaw(port, clients);

/** A scrape whose end the test determines. */
function held() {
  const { promise, resolve } = deferred<RenderedBody>();
  const scrape = vi.fn<() => Promise<RenderedBody>>(() => promise);
  const end = (text = '# held\n') => resolve({ chunks: [Buffer.from(text)], bytes: Buffer.byteLength(text) });
  /** Ends the scrape with more data than the buffers between two sockets can hold. */
  const endLarge = () => resolve({ chunks: Array.from({ length: 256 }, () => CHUNK), bytes: LARGE_BYTES });
  return { scrape, end, endLarge };
}

const CHUNK = Buffer.alloc(64 * 1024, '#');
const LARGE_BYTES = 256 * CHUNK.length;

describe('/metrics', () => {
  test('serves the exposition with exactly its content type', async () => {
    const at = await serve();
    const { status, headers, body, bytes } = await ask(at, '/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['vary']).toBe('Accept-Encoding');
    const families = parseExposition(body);
    expect(valueOf(families, 'gameserver_panel_up', { panel: 'main' })).toBe(1);
    expect(valueOf(families, 'gameserver_exporter_servers', { panel: 'main', condition: 'streaming' })).toBe(
      1,
    );
  });

  test('is compressed if the client accepts it', async () => {
    const at = await serve();
    const { headers, bytes } = await ask(at, '/metrics', { headers: { 'Accept-Encoding': 'gzip' } });
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(parseExposition(gunzipSync(bytes).toString()).length).toBeGreaterThan(30);
  });

  test('responds to HEAD with headers only, without rendering', async () => {
    const { scrape } = held();
    const { status, headers, body } = await ask(await serve({ scrape }), '/metrics', { method: 'HEAD' });
    expect([status, headers['content-type'], body.length]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
      0,
    ]);
    expect(scrape).not.toHaveBeenCalled();
  });

  test('responds with 500 and no details if rendering fails, and reports the error', async () => {
    const error = new Error('inner detail');
    const scrape = () => Promise.reject(error);
    const reported: unknown[] = [];
    onTestFinished(INTERNAL_ERRORS.listen((one) => reported.push(one)));
    const at = await serve({ scrape });
    const { status, headers, body } = await ask(at, '/metrics');
    expect([status, body]).toEqual([500, 'Internal error: see the log.\n']);
    expect(headers['content-type']).not.toContain('0.0.4');
    expect(reported).toEqual([error]);
  });
});

test('/-/healthy is 200 even before the exporter is ready', async () => {
  const { status, body } = await ask(await serve({ ready: () => false }), '/-/healthy');
  expect([status, body]).toEqual([200, 'Healthy.\n']);
});

test('/-/ready is 503 until ready', async () => {
  let ready = false;
  const at = await serve({ ready: () => ready });
  expect((await ask(at, '/-/ready')).status).toBe(503);
  ready = true;
  const { status, body } = await ask(at, '/-/ready');
  expect([status, body]).toEqual([200, 'Ready.\n']);
});

test('the status page runs only its own scripts and loads nothing from elsewhere', async () => {
  const { status, headers, body } = await ask(await serve(), '/');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=UTF-8');
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
      "require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(body).toContain('<script type="module" src="assets/page.js">');
});

test.each(['/nowhere', '/metrics/', '/metrics/../etc/passwd'])(
  '%s is not found, with an error in plain text',
  async (path) => {
    const { status, headers, body } = await ask(await serve(), path);
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('text/plain; charset=UTF-8');
    expect(body).toBe(
      'Not found. Available paths: / /metrics /-/healthy /-/ready /api/v1/servers /api/v1/servers/:id/health /api/v1/sd /api/v1/history /api/v1/stream /-/reload\n',
    );
  },
);

test.each(['POST', 'OPTIONS'])('%s is not allowed, with an error in plain text', async (method) => {
  const { status, headers, body } = await ask(await serve(), '/metrics', { method });
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD']);
  expect(headers['x-frame-options']).toBe('DENY');
  expect(body).toBe('Method not allowed: use GET or HEAD.\n');
});

test('an HTTP/1.0 client without a Host header gets a response', async () => {
  const client = await open(await serve());
  client.send('GET /-/healthy HTTP/1.0\r\n\r\n');
  await eventually(() => expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Healthy\.\n$/));
});

describe('start', () => {
  test('on all addresses returns a URL that a browser can open', async () => {
    const { url, port } = await serverOf(undefined, undefined, undefined, { port: 0 }).start();
    expect(url).toBe(`http://localhost:${port}`);
  });
});

describe('stop', () => {
  test('responds to the current scrape, closes its connection, and accepts no new one', async () => {
    const { scrape, end } = held();
    const at = await serve({ scrape });
    const agent = new Agent({ keepAlive: true });
    agents.push(agent);
    const inFlight = ask(at, '/metrics', { agent });
    await eventually(() => expect(scrape).toHaveBeenCalledTimes(1));
    const stopped = at.server.stop();
    await expect(ask(at, '/-/healthy')).rejects.toThrow('ECONNREFUSED');
    end('# the response\n');
    const { status, headers, body } = await inFlight;
    expect([status, headers['connection'], body]).toEqual([200, 'close', '# the response\n']);
    await stopped;
  });

  test('lets a reader that has started finish, then closes its connection', async () => {
    const { scrape, endLarge } = held();
    endLarge();
    // The grace period never ends, because this clock stands still.
    const at = await serve({ scrape, clock: new ManualClock() });
    const reader = await stuckReader(at.port, clients);
    await eventually(() => expect(reader.received).toContain('Connection: keep-alive'));
    const stopped = at.server.stop();
    reader.socket.resume();
    await stopped;
    await eventually(() => expect(reader.closed).toBe(true));
    const [head = ''] = reader.received.split('\r\n\r\n');
    expect(reader.bytes).toBe(head.length + 4 + LARGE_BYTES);
  });

  test('closes idle connections at once, whether used before or not', async () => {
    // This clock stands still, so nothing waits for the end of the grace period.
    const at = await serve({ clock: new ManualClock() });
    const [used, unused] = await Promise.all([open(at), open(at)]);
    used.send(SCRAPE.replace('/metrics', '/-/healthy'));
    await eventually(() => expect(used.received).toContain('Healthy.'));
    await at.server.stop();
    await eventually(() => expect([used.closed, unused.closed]).toEqual([true, true]));
  });

  test('waits at most 2 s for a response that never ends', async () => {
    const { scrape } = held();
    const clock = new ManualClock();
    const at = await serve({ scrape, clock });
    const lost = ask(at, '/metrics').catch((error: unknown) => error);
    await eventually(() => expect(scrape).toHaveBeenCalledTimes(1));
    const stopped = vi.fn<() => void>();
    const stopping = at.server.stop().then(stopped);
    await clock.advance(1_999);
    expect(stopped).not.toHaveBeenCalled();
    await clock.advance(1);
    await stopping;
    expect(await lost).toBeInstanceOf(Error);
    expect(clock.pending).toBe(0);
  });

  test('does the same if called twice, and nothing without a start', async () => {
    const { server } = await serve();
    await expect(Promise.all([server.stop(), server.stop()])).resolves.toBeDefined();
    await expect(serverOf().stop()).resolves.toBeUndefined();
  });
});
