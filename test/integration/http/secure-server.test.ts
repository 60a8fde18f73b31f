import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { hashSync } from 'bcryptjs';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Routes } from '../../../src/http/guarded-routes.ts';
import { HttpServer, type HttpServerLimits } from '../../../src/http/http-server.ts';
import { ListenError } from '../../../src/http/listen-address.ts';
import { CIPHER_LIST } from '../../../src/http/web-config/load-web-config.ts';
import type { TlsSettings, WebSettings, WebSettingsSource } from '../../../src/http/web-settings.ts';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { eventually, repeatedly } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { PATIENT, RawClient, SCRAPE } from './raw-client.ts';
import { basic, get, statusOf } from './secure-client.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
type Clients = Omit<TlsSettings, 'context'>;
const ANYBODY: Clients = { clientCertificate: 'no', isVerified: false };

let authority: Authority;
let ca: string;
let server: Certificate;
let otherServer: Certificate;
let client: Certificate;
let stranger: Certificate;
let unauthenticated: Authority;

beforeAll(async () => {
  [authority, unauthenticated] = await Promise.all([createAuthority(), createAuthority()]);
  ca = await readFile(authority.file, 'utf8');
  server = await authority.issue('IP:127.0.0.1');
  otherServer = await authority.issue('IP:127.0.0.1');
  client = await authority.issue('DNS:scraper.example.com,IP:2001:db8::1');
  stranger = await unauthenticated.issue('DNS:scraper.example.com');
});

afterAll(() => Promise.all([authority.end(), unauthenticated.end()]));

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

/** Settings that a test can replace. */
class Settings implements WebSettingsSource {
  current: WebSettings;
  readonly #listeners = new Set<() => void>();

  constructor(current: WebSettings) {
    this.current = current;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(next: WebSettings): void {
    this.current = next;
    for (const listener of this.#listeners) listener();
  }
}

function tlsSettings(clients = ANYBODY, { cert, key } = server): WebSettings {
  const minVersion = 'TLSv1.2' as const;
  return { tls: { context: { cert, key, ca, minVersion }, ...clients }, users: new Map(), headers: {} };
}

const OK: Routes = { fetch: (request) => new Response(new URL(request.url).pathname) };

interface Serving {
  readonly routes?: Routes;
  readonly clock?: ManualClock;
  readonly limits?: Partial<HttpServerLimits>;
}

async function serve(current: WebSettings, { routes = OK, clock, limits = {} }: Serving = {}) {
  const settings = new Settings(current);
  const logger = collectingLogger();
  const http = new HttpServer({
    listen: LOOPBACK,
    routes,
    clock: clock ?? new ManualClock(),
    logger,
    limits: { ...PATIENT, ...limits },
    settings,
  });
  ends.push(() => http.stop());
  return { http, settings, logger, ...(await http.start()) };
}

/** Opens a TLS connection, and completes its handshake. */
async function open(port: number): Promise<RawClient<TLSSocket>> {
  const socket = connectTls({ port, host: '127.0.0.1', ca });
  ends.push(() => socket.destroy());
  const client = new RawClient(socket);
  await once(socket, 'secureConnect');
  return client;
}

/** Opens a TLS connection, and completes a request. */
async function openUsed(port: number) {
  const connection = await open(port);
  connection.send(SCRAPE);
  await eventually(() => expect(connection.received).toContain('200 OK'));
  return connection;
}

/** Opens a TCP connection without sending anything. */
async function openSilent(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  ends.push(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe('TLS', () => {
  test('is used by the server, and the printed URL starts with https', async () => {
    const { url, port } = await serve(tlsSettings());
    expect(url).toBe(`https://127.0.0.1:${port}`);
    expect(await get(`${url}/metrics`, { ca })).toMatchObject({ status: 200, body: '/metrics' });
    expect(await statusOf(`http://127.0.0.1:${port}/metrics`)).toBe('refused');
  });

  test('uses only the configured versions', async () => {
    const settings = tlsSettings();
    const { url } = await serve(settings);
    expect(await statusOf(url, { ca, version: 'TLSv1.2' })).toBe(200);
    const { tls, ...rest } = settings;
    const context = { ...tls?.context, minVersion: 'TLSv1.3' as const };
    const newer = await serve({ ...rest, tls: { context, ...ANYBODY } });
    expect(await statusOf(newer.url, { ca, version: 'TLSv1.2' })).toBe('refused');
    expect(await statusOf(newer.url, { ca, version: 'TLSv1.3' })).toBe(200);
  });

  test.each(['AES128-GCM-SHA256', 'kRSA'])(
    'refuses static RSA over %s, and accepts ECDHE',
    async (ciphers) => {
      const rsa = await authority.issue('IP:127.0.0.1', 'valid', 'rsa');
      const { tls, ...rest } = tlsSettings(ANYBODY, rsa);
      const own = { ca, version: 'TLSv1.2', ciphers } as const;
      const lax = await serve({ ...rest, tls: { context: { ...tls?.context }, ...ANYBODY } });
      expect(await statusOf(lax.url, own)).toBe(200);
      const context = { ...tls?.context, ciphers: CIPHER_LIST };
      const { url } = await serve({ ...rest, tls: { context, ...ANYBODY } });
      expect(await statusOf(url, own)).toBe('refused');
      expect(await statusOf(url, { ...own, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' })).toBe(200);
      expect(await statusOf(url, { ca, version: 'TLSv1.3' })).toBe(200);
    },
  );

  test('drops a client that never finishes its handshake, and one that never finishes its headers', async () => {
    const { port, url } = await serve(tlsSettings(), { limits: { headersMs: 1_000, checkMs: 20 } });
    const silent = await openSilent(port);
    const { socket } = await open(port);
    socket.write('GET / HTTP/1.1\r\n');
    await eventually(() => expect([silent.closed, socket.closed]).toEqual([true, true]));
    expect(await statusOf(url, { ca })).toBe(200);
  });

  test('counts a connection once, and closes one without a handshake when the limit is reached', async () => {
    const { port } = await serve(tlsSettings(), { limits: { connections: 2 } });
    const silent = await openSilent(port);
    const first = await openUsed(port);
    const second = await openUsed(port);
    await eventually(() => expect(silent.closed).toBe(true));
    expect([first.socket.closed, second.socket.closed]).toEqual([false, false]);
    await open(port);
    await eventually(() => expect(first.socket.closed).toBe(true));
    expect(second.socket.closed).toBe(false);
  });
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('client certificates over %s', (version) => {
  const names = ['nobody', 'an unknown client', 'a known client'] as const;
  const certificates = () => [undefined, stranger, client];

  test.each<[string, Clients, (200 | 'refused')[]]>([
    ['not requested', ANYBODY, [200, 200, 200]],
    ['optional', { clientCertificate: 'optional', isVerified: false }, [200, 200, 200]],
    ['required', { clientCertificate: 'required', isVerified: false }, ['refused', 200, 200]],
    ['optional and verified', { clientCertificate: 'optional', isVerified: true }, [200, 'refused', 200]],
    [
      'required and verified',
      { clientCertificate: 'required', isVerified: true },
      ['refused', 'refused', 200],
    ],
  ])('%s', async (_, clients, expected) => {
    const reached = vi.fn<(request: Request) => Response>(() => new Response(''));
    const { url } = await serve(tlsSettings(clients), { routes: { fetch: reached } });
    const seen = await Promise.all(
      certificates().map((own) => statusOf(url, { ca, version, cert: own?.cert, key: own?.key })),
    );
    expect(Object.fromEntries(names.map((name, index) => [name, seen[index]]))).toEqual(
      Object.fromEntries(names.map((name, index) => [name, expected[index]])),
    );
    expect(reached).toHaveBeenCalledTimes(expected.filter((status) => status === 200).length);
  });
});

describe('passwords', () => {
  const users = new Map([['alice', hashSync('secret', 4)]]);
  const settings: WebSettings = { users, headers: {} };

  test.each(['/metrics', '/-/healthy', '/nowhere'])('protect %s', async (path) => {
    const { url } = await serve(settings);
    const { status, headers, body } = await get(url + path);
    expect([status, body]).toEqual([401, 'Unauthorized.\n']);
    expect(headers['www-authenticate']).toBe('Basic realm="gameserver-exporter", charset="UTF-8"');
    expect(await statusOf(url + path, { headers: basic('alice', 'secret') })).toBe(200);
  });

  test.each<[string, Record<string, string>]>([
    ['a wrong password', basic('alice', 'Secret')],
    ['an unknown user', basic('bob', 'secret')],
    ['no password', basic('alice', '')],
    ['the hash itself as the password', basic('alice', users.get('alice') ?? '')],
    ['a property name of every object as the user', basic('constructor', 'secret')],
    ['another scheme', { Authorization: 'Bearer secret' }],
    ['no colon', { Authorization: `Basic ${Buffer.from('alice').toString('base64')}` }],
    ['invalid Base64', { Authorization: 'Basic alice:secret' }],
  ])('reject %s', async (_, headers) => {
    const { url } = await serve(settings);
    expect(await statusOf(url, { headers })).toBe(401);
  });

  test('are never logged', async () => {
    const { url, logger } = await serve(settings);
    await get(url, { headers: basic('alice-typed-here', 'wrong-secret') });
    expect(logger.lines).toMatchObject([{ level: 'debug', message: 'wrong username or password' }]);
    expect(JSON.stringify(logger.lines)).not.toMatch(/alice|secret/);
  });

  test("receive 429 after a client's eight wrong ones, and known users still get in", async () => {
    const { url } = await serve(settings);
    const right = { headers: basic('alice', 'secret') };
    expect(await statusOf(url, right)).toBe(200);
    const flood = Array.from({ length: 40 }, (_, index) =>
      statusOf(url, { headers: basic('alice', `guess ${index}`) }),
    );
    expect(await statusOf(url, right)).toBe(200);
    const seen = await Promise.all(flood);
    expect([401, 429].map((status) => seen.filter((one) => one === status).length)).toEqual([8, 32]);
    const limited = await get(url, { headers: basic('alice', 'another guess') });
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '60']);
    expect(limited.body).toBe('Too many wrong passwords: try again later.\n');
    expect(await statusOf(url, right)).toBe(200);
  });
});

test("configured headers are added to every response, and weaken none of the server's own", async () => {
  const own = { 'X-Frame-Options': 'DENY', 'Content-Security-Policy': "default-src 'none'" };
  const routes: Routes = { fetch: () => new Response('', { headers: own }) };
  const headers = {
    'Strict-Transport-Security': 'max-age=60',
    'X-Frame-Options': 'sameorigin',
    'Content-Security-Policy': "script-src 'self'",
  };
  const { url } = await serve({ users: new Map(), headers }, { routes });
  expect((await get(url)).headers).toMatchObject({
    'strict-transport-security': 'max-age=60',
    'x-frame-options': 'DENY',
    'content-security-policy': "default-src 'none', script-src 'self'",
  });
  const guarded = await serve({ users: new Map([['a', hashSync('b', 4)]]), headers });
  expect((await get(guarded.url)).headers).toMatchObject({
    'strict-transport-security': 'max-age=60',
    'x-frame-options': 'sameorigin',
  });
});

describe('a change of the settings', () => {
  test('applies from the next handshake on, and closes idle connections', async () => {
    const { url, port, settings } = await serve(tlsSettings());
    const agent = new Agent({ keepAlive: true });
    ends.push(() => agent.destroy());
    await get(url, { ca, agent });
    const { socket } = await open(port);
    const certificate = socket.getPeerX509Certificate()?.fingerprint256;
    settings.change(tlsSettings(ANYBODY, otherServer));
    await eventually(() => expect(socket.closed).toBe(true));
    const after = await open(port);
    expect(after.socket.getPeerX509Certificate()?.fingerprint256).not.toBe(certificate);
    expect(await statusOf(url, { ca, agent })).toBe(200);
  });

  test('of the client CA locks out the previous clients, even if they resume a session', async () => {
    const required = { clientCertificate: 'required', isVerified: true } as const;
    const { url, settings } = await serve(tlsSettings(required));
    const agent = new Agent({ keepAlive: true });
    ends.push(() => agent.destroy());
    const own = { ca, cert: client.cert, key: client.key, agent };
    expect(await statusOf(url, own)).toBe(200);
    const next = tlsSettings(required);
    const others = await readFile(unauthenticated.file, 'utf8');
    const context = { ...next.tls?.context, ca: others };
    settings.change({ ...next, tls: { context, ...required } });
    await eventually(async () => expect(await statusOf(url, own)).toBe('refused'));
    expect(await statusOf(url, { ca, cert: stranger.cert, key: stranger.key })).toBe(200);
  });

  test("lets running requests finish, and closes those that don't end within 10 s", async () => {
    const clock = new ManualClock();
    const { port, settings } = await serve(tlsSettings(), { routes: endless(), clock });
    const stream = await open(port);
    stream.send(SCRAPE);
    await eventually(() => expect(stream.received).toContain('data: 1'));
    settings.change(tlsSettings(ANYBODY, otherServer));
    await clock.advance(9_999);
    expect(stream.socket.closed).toBe(false);
    await clock.advance(1);
    await eventually(() => expect(stream.socket.closed).toBe(true));
  });

  test('of the passwords applies at once', async () => {
    const { url, settings } = await serve({ users: new Map([['alice', hashSync('old', 4)]]), headers: {} });
    const old = { headers: basic('alice', 'old') };
    expect(await statusOf(url, old)).toBe(200);
    settings.change({ users: new Map([['alice', hashSync('new', 4)]]), headers: {} });
    expect(await statusOf(url, old)).toBe(401);
    expect(await statusOf(url, { headers: basic('alice', 'new') })).toBe(200);
  });
});

/** A stream that sends one event at once, and further events on demand. */
function endless(sent: { send?: () => void; ended?: boolean } = {}): Routes {
  return {
    fetch: () => {
      let count = 0;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          sent.send = () => controller.enqueue(Buffer.from(`data: ${++count}\n\n`));
          sent.send();
        },
        cancel: () => {
          sent.ended = true;
        },
      });
      return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
    },
  };
}

describe('a stream of events', () => {
  test.each(['http', 'https'])(
    "over %s isn't closed while it is written to, however long",
    async (scheme) => {
      const routes: Routes = {
        fetch: (request, served) => {
          const sent: { send?: () => void } = {};
          // Even on a busy machine, the timer of the next write fires before the timer that closes
          // the connection.
          ends.push(repeatedly(() => sent.send?.(), 5));
          return endless(sent).fetch(request, served);
        },
      };
      const settings = scheme === 'https' ? tlsSettings() : { users: new Map<string, string>(), headers: {} };
      const limits = { stalledMs: 200, requestMs: 200, headersMs: 200, checkMs: 20, keepAliveMs: 200 };
      const { port } = await serve(settings, { routes, limits });
      // On a busy machine, the handshake or the request may itself exceed these limits.
      const stream = await eventually(async () => {
        const socket = scheme === 'https' ? (await open(port)).socket : await openSilent(port);
        const begun = Promise.race([once(socket, 'data'), once(socket, 'close')]);
        socket.write(SCRAPE);
        await begun;
        expect(socket.closed).toBe(false);
        return socket;
      });
      for (let turn = 0; turn < 3; turn += 1) {
        const idle = (await openSilent(port)).resume();
        await eventually(() => expect(idle.closed).toBe(true));
      }
      expect(stream.closed).toBe(false);
    },
  );
});

describe('several addresses', () => {
  function listenOn(listen: ConstructorParameters<typeof HttpServer>[0]['listen'], limits = {}) {
    const http = new HttpServer({
      listen,
      routes: OK,
      clock: new ManualClock(),
      logger: collectingLogger(),
      limits: { ...PATIENT, ...limits },
    });
    ends.push(() => http.stop());
    return http;
  }

  test('are all served, including IPv6, and listed', async () => {
    const { urls } = await listenOn([LOOPBACK, { host: '::1', port: 0 }]).start();
    expect(urls).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^http:\/\/\[::1\]:\d+$/),
    ]);
    expect(await Promise.all(urls.map((url) => statusOf(url)))).toEqual([200, 200]);
  });

  test('fail together if one is in use, and the error shows which', async () => {
    const taken = await listenOn(LOOPBACK).start();
    const { port: freePort } = await listenOn(LOOPBACK).start();
    await ends.pop()?.();
    const http = listenOn([
      { host: '127.0.0.1', port: freePort },
      { host: '127.0.0.1', port: taken.port },
    ]);
    const error: unknown = await http.start().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ListenError);
    expect((error as Error).message).toContain(`cannot listen on 127.0.0.1:${taken.port}: port`);
    expect(await statusOf(`http://127.0.0.1:${freePort}`)).toBe('refused');
  });

  test('share the connection limit', async () => {
    const { urls } = await listenOn([LOOPBACK, LOOPBACK], { connections: 1 }).start();
    const [first, second] = urls.map((url) => Number(new URL(url).port));
    const socket = await openSilent(first ?? 0);
    await openSilent(second ?? 0);
    await eventually(() => expect(socket.closed).toBe(true));
  });
});
