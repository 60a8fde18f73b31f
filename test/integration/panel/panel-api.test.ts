import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PanelApi, type PanelApiOptions } from '../../../src/panel/panel-api.ts';
import { Connections } from '../../../src/panel/panel-connections.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { eventually, repeatedly } from '../../support/eventually.ts';
import { fastClock } from '../../support/exporter.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sampleOf } from '../../support/samples.ts';
import { selfSigned } from './certificate.ts';
import { apiOptions, collectingTelemetry, KEY } from './panel-api.ts';
import {
  CREDENTIALS,
  json,
  page,
  RESOURCES,
  type ScriptedServer,
  scriptedServer,
} from './scripted-server.ts';

/** The timers of undici. They use the machine's time unless a test advances them. */
const UNDICI_TIMERS = createRequire(import.meta.url)('undici/lib/util/timers.js') as {
  tick(milliseconds: number): void;
};

/** Advances undici's timers by an hour, and then the exporter's clock by a tenth of a second. */
async function passTime(clock: ManualClock): Promise<void> {
  UNDICI_TIMERS.tick(HOUR_MS);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(100);
}

const HOUR_MS = 3_600_000;

const never = () => new AbortController().signal;
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serve(...answer: Parameters<typeof scriptedServer>): Promise<ScriptedServer> {
  const server = await scriptedServer(...answer);
  closers.push(() => server.close());
  return server;
}

function apiOf(baseUrl: string, more: Partial<PanelApiOptions> = {}) {
  const telemetry = collectingTelemetry();
  const api = new PanelApi(apiOptions(baseUrl, { telemetry, ...more }));
  closers.push(() => api.close());
  return { api, telemetry };
}

const causeOf = async (call: Promise<unknown>) => (await failureOf(call)).problem.cause;

async function failureOf(call: Promise<unknown>): Promise<PanelError> {
  const error: unknown = await call.then(
    () => new Error('the call succeeded'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof PanelError)) throw new Error('expected a PanelError', { cause: error });
  expect(error.message).not.toContain(KEY);
  expect(error.message).not.toMatch(/\n/);
  return error;
}

/** A TCP server for peers that don't speak HTTP. */
async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const cutShort = (response: { end: (text: string) => void }) => response.end('{"token":');

describe('a call', () => {
  it('sends exactly the documented headers, and none of a browser', async () => {
    const server = await serve(json(200, CREDENTIALS));
    const { api } = apiOf(`${server.url}/`);
    await api.get('websocket', { id: '1a7ce997' }, never());
    const [request] = server.requests;
    expect(request?.method).toBe('GET');
    expect(request?.url).toBe('/api/client/servers/1a7ce997/websocket');
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: 'keep-alive',
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${KEY}`,
      'user-agent': 'gameserver-exporter/1.2.3',
    });
  });

  it('returns the response, and what its headers contain about the limit', async () => {
    const server = await serve(
      json(200, RESOURCES, { 'X-RateLimit-Limit': '240', 'X-RateLimit-Remaining': '239' }),
    );
    const { api, telemetry } = apiOf(server.url);
    await expect(api.get('resources', { id: 'ab' }, never())).resolves.toEqual({
      value: {
        sample: sampleOf({
          state: 'running',
          memoryBytes: 7,
          cpuCores: 1,
          diskBytes: 1,
          networkReceiveBytes: 2,
          networkTransmitBytes: 3,
        }),
        suspended: false,
        badFields: 0,
      },
      limitPerMinute: 240,
      remaining: 239,
    });
    expect(server.requests[0]?.url).toBe('/api/client/servers/ab/resources');
    expect(telemetry.calls).toEqual(['resources 200']);
  });

  it('requests a page of the server list, below the path of the base address', async () => {
    const server = await serve(json(200, { data: [], meta: { pagination: { total_pages: 2 } } }));
    const { api, telemetry } = apiOf(`${server.url}/panel`);
    await expect(api.get('listing', { page: 2, perPage: 100, type: 'admin' }, never())).resolves.toEqual({
      value: { servers: [], totalPages: 2, badEntries: 0 },
    });
    expect(server.requests[0]?.url).toBe('/panel/api/client?page=2&per_page=100&include=egg&type=admin');
    expect(telemetry.calls).toEqual(['listing 200']);
  });

  it('uses the current key', async () => {
    const server = await serve(json(200, RESOURCES));
    let key = 'old';
    const { api } = apiOf(server.url, { apiKey: () => key });
    await api.get('resources', { id: 'ab' }, never());
    key = 'new';
    await api.get('resources', { id: 'ab' }, never());
    expect(server.requests.map((request) => request.headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
  });
});

describe('an unsuccessful response', () => {
  it('counts with the text that arrived before the connection broke', async () => {
    const server = await serve((response) => {
      response.writeHead(403, { 'content-length': '100' });
      response.write('not for you', () => response.destroy());
    });
    expect((await failureOf(apiOf(server.url).api.get('resources', { id: 'ab' }, never()))).problem).toEqual({
      cause: 'access_rule',
      detail: 'GET /api/client/servers/ab/resources returned 403: "not for you"',
    });
  });

  it('is read only as far as its text is kept', async () => {
    const server = await serve((response) => {
      response.writeHead(404, { 'content-type': 'text/plain' });
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    const error = await failureOf(apiOf(server.url).api.get('resources', { id: 'ab' }, never()));
    expect(error.problem.cause).toBe('not_a_panel');
    expect(/"([^"]*)"$/.exec(error.problem.detail)?.[1]).toHaveLength(200);
  });
});

const HTML = 'text/html; charset=UTF-8';
const JSON_TYPE = 'application/json';
const LISTING = '{"object":"list","data":[]}';
const NOTICE =
  '<br />\n<b>Deprecated</b>:  Function x() is deprecated in <b>/srv/panel/x.php</b> on line <b>3</b><br />';

describe('the first bytes and the type of a successful response show what it is', () => {
  it.each<[what: string, type: string, body: string, cause: string, words: string | RegExp]>([
    ['a form', HTML, '<!DOCTYPE html><title>SSO</title><form action="/login">', 'login_page', '"SSO"'],
    ['a form without a type', '', '<form action="/login">', 'login_page', /a web page, not JSON$/],
    ['a page without a form', HTML, '<html><body><h1>Our community</h1>', 'bad_answer', '"Our community"'],
    [
      "PHP's message as HTML",
      HTML,
      `${NOTICE}\n${LISTING}`,
      'bad_answer',
      /"Deprecated: {2}Function x\(\) is deprecated in \/srv\/panel\/x\.php on line 3"$/,
    ],
    ["PHP's message as JSON", JSON_TYPE, `${NOTICE}${LISTING}`, 'bad_answer', /"Deprecated: .* line 3"$/],
    [
      "PHP's message as text",
      JSON_TYPE,
      `\nWarning: file not found\n${LISTING}`,
      'bad_answer',
      '"Warning: file not found"',
    ],
    ['another service', HTML, '<title>Grafana</title>', 'not_a_panel', '"Grafana"'],
    ['a bot check', HTML, '<title>Just a moment...</title>', 'challenge_page', '"Just a moment..."'],
    ['text that may be a token', 'text/plain', 'eyJ-token', 'bad_answer', /is not JSON$/],
  ])('%s', async (_what, type, body, cause, words) => {
    const server = await serve((response) => {
      if (type !== '') response.setHeader('content-type', type);
      response.end(body);
    });
    const { problem } = await failureOf(
      apiOf(server.url).api.get('listing', { page: 1, perPage: 1 }, never()),
    );
    expect(problem.cause).toBe(cause);
    if (typeof words === 'string') expect(problem.detail).toContain(words);
    else expect(problem.detail).toMatch(words);
  });

  it.each([200, 403, 503])(
    "Cloudflare's mark shows a challenge with %i, whatever the page is",
    async (status) => {
      const server = await serve((response) => {
        response.writeHead(status, { 'content-type': HTML, 'cf-mitigated': 'challenge' });
        response.end('<html><form>');
      });
      const call = apiOf(server.url).api.get('listing', { page: 1, perPage: 1 }, never());
      expect(await causeOf(call)).toBe('challenge_page');
    },
  );

  it.each([
    [401, 'The required authorization heads were not present in the request.'],
    [403, 'You are not authorized to access this endpoint.'],
  ])("Wings' %i shows that the address is a node's", async (status, error) => {
    const server = await serve(json(status, { error, request_id: '1' }));
    const call = apiOf(server.url).api.get('listing', { page: 1, perPage: 1 }, never());
    expect(await causeOf(call)).toBe('url_of_node');
  });
});

describe('an unusable successful response', () => {
  it.each([
    ['a page', page(200), 'bad_answer', 'not_json'],
    ['JSON cut short, which may contain a token', cutShort, 'bad_answer', 'not_json'],
    ['another shape', json(200, { object: 'stats' }), 'bad_answer', 'bad_shape'],
  ])('is rejected if it is %s', async (_name, answer, cause, counted) => {
    const server = await serve(answer);
    const { api, telemetry } = apiOf(server.url);
    const error = await failureOf(api.get('resources', { id: 'ab' }, never()));
    expect(error).toMatchObject({ problem: { cause }, status: 200 });
    expect(error.message).not.toContain('token');
    expect(telemetry.bad).toEqual([counted]);
    expect(telemetry.calls).toEqual(['resources 200']);
  });

  it('is cut off at 1 MiB, or at 4 MiB in the server list', async () => {
    let length = 20;
    const server = await serve((...call) =>
      json(200, { data: Array.from({ length }, () => ({ filler: 'x'.repeat(100_000) })) })(...call),
    );
    const { api, telemetry } = apiOf(server.url);
    const error = await failureOf(api.get('resources', { id: 'ab' }, never()));
    expect(error.problem.cause).toBe('bad_answer');
    expect(error.message).toContain('longer than 1048576 bytes');
    expect(telemetry.bad).toEqual(['oversize']);
    await expect(api.get('listing', { page: 1, perPage: 100 }, never())).resolves.toMatchObject({
      value: { servers: [] },
    });
    length = 42;
    expect(await causeOf(api.get('listing', { page: 1, perPage: 100 }, never()))).toBe('bad_answer');
    expect(telemetry.bad).toEqual(['oversize', 'oversize']);
  });

  it.each<[string, (count: number) => string]>([
    ['members', (count) => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join()}}`],
    ['objects', (count) => `[${'{},'.repeat(count - 1)}0]`],
    ['arrays in each other', (count) => '['.repeat(count) + ']'.repeat(count)],
  ])(
    'is rejected if it takes too long to parse, because it has more than 200,000 %s',
    async (_of, nested) => {
      let count = 199_990;
      const server = await serve((response) => void response.end(`{"data":[],"more":${nested(count)}}`));
      const { api } = apiOf(server.url);
      const read = () => api.get('listing', { page: 1, perPage: 100 }, never());
      await expect(read()).resolves.toMatchObject({ value: { servers: [] } });
      count = 200_001;
      const error = await failureOf(read());
      expect(error.problem.cause).toBe('bad_answer');
      expect(error.message).toContain('at most 200000 JSON values');
    },
  );
});

describe('a call without a response', () => {
  it.each([
    // A port with TLS closes a connection without TLS.
    ['closes the connection', (socket: Socket) => void socket.end(), 'https_needed'],
    ['speaks another protocol', (socket: Socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'), 'bad_answer'],
  ])('reports that the peer %s', async (_name, onConnection, cause) => {
    const url = await listen(onConnection);
    expect(await causeOf(apiOf(url).api.get('resources', { id: 'ab' }, never()))).toBe(cause);
  });

  it('ends at the deadline however slowly a body arrives', async () => {
    const server = await serve((response) => {
      response.on(
        'close',
        repeatedly(() => response.write(' ')),
      );
    });
    const { api } = apiOf(server.url, { clock: fastClock(), requestTimeoutMs: 150 });
    expect(await causeOf(api.get('websocket', { id: 'ab' }, never()))).toBe('timeout');
  });

  it('ends at once, with the reason of its signal, if it is aborted', async () => {
    const server = await serve(() => {});
    const { api, telemetry } = apiOf(server.url);
    const controller = new AbortController();
    const call = api.get('resources', { id: 'ab' }, controller.signal);
    await eventually(() => expect(server.requests).toHaveLength(1));
    controller.abort(new Error('not wanted'));
    await expect(call).rejects.toThrow('not wanted');
    await expect(api.get('resources', { id: 'ab' }, controller.signal)).rejects.toThrow('not wanted');
    expect(telemetry.calls).toEqual(['resources aborted', 'resources aborted']);
    expect(server.requests).toHaveLength(1);
  });

  it('ends as it began if other connections are used meanwhile, and the next call goes over those', async () => {
    const held: (() => void)[] = [];
    const server = await serve((response, request) => {
      if (held.length === 0) held.push(() => json(200, CREDENTIALS)(response, request));
    });
    const { api } = apiOf(server.url, { clock: fastClock(), requestTimeoutMs: HOUR_MS });
    const call = api.get('websocket', { id: 'ab' }, never());
    await eventually(() => expect(held).toHaveLength(1));
    api.use(new Connections(apiOptions(server.url, { requestTimeoutMs: 100 })));
    expect((await failureOf(api.get('resources', { id: 'ab' }, never()))).message).toContain('within 0.1 s');
    for (const release of held) release();
    await call;
  });

  it.each<[what: string, begin: (response: ServerResponse) => void]>([
    ['no head', () => {}],
    ['a head, and nothing else', (response) => response.flushHeaders()],
    ['part of its body', (response) => response.write('{"attributes":')],
  ])(
    'ends at the deadline, by no other clock than its own, after %s of the response',
    async (_what, begin) => {
      const clock = new ManualClock();
      let isClosed = false;
      const server = await serve((response) => {
        response.on('close', () => (isClosed = true));
        begin(response);
      });
      const failure = failureOf(
        apiOf(server.url, { clock, requestTimeoutMs: 100 }).api.get('resources', { id: 'ab' }, never()),
      );
      await eventually(() => expect(server.requests).toHaveLength(1));
      await passTime(clock);
      const { problem, message } = await failure;
      expect(problem.cause).toBe('node_silent');
      expect(message).toContain('no response from 127.0.0.1');
      expect(message).toContain('within 0.1 s');
      await eventually(() => expect(isClosed).toBe(true));
    },
  );

  const TIMEOUTS = [
    ['call', { requestTimeoutMs: 100, connectTimeoutMs: HOUR_MS }, /no response from \S+ within 0\.1 s/],
    ['connection', { requestTimeoutMs: HOUR_MS, connectTimeoutMs: 100 }, /not connected within 0\.1 s/],
  ] as const;

  it.each(TIMEOUTS)(
    'ends at the deadline of the %s, by no other clock than its own, if the TLS handshake hangs',
    async (_of, timeouts, words) => {
      const clock = new ManualClock();
      const sockets: Socket[] = [];
      const url = (await listen((socket) => sockets.push(socket.resume()))).replace('http:', 'https:');
      const { api } = apiOf(url, { clock, ...timeouts });
      const failure = failureOf(api.get('resources', { id: 'ab' }, never()));
      await eventually(() => expect(sockets).toHaveLength(1));
      await passTime(clock);
      expect((await failure).problem.cause).toBe('node_silent');
      expect((await failure).message).toMatch(words);
      await clock.advance(HOUR_MS);
      await eventually(() => expect(sockets[0]?.closed).toBe(true));
    },
  );

  it.each(TIMEOUTS)(
    'ends at the deadline of the %s if the TLS handshake hangs in a tunnel, and so does the tunnel',
    async (_of, timeouts, words) => {
      const clock = new ManualClock();
      const tunnels: Socket[] = [];
      const proxyUrl = await listen((client) => {
        client.once('data', () => {
          client.write('HTTP/1.1 200 Connection established\r\n\r\n');
          client.once('data', () => tunnels.push(client));
        });
      });
      const { api } = apiOf('https://panel.test', { clock, proxyUrl, ...timeouts });
      const failure = failureOf(api.get('resources', { id: 'ab' }, never()));
      await eventually(() => expect(tunnels).toHaveLength(1));
      await passTime(clock);
      expect((await failure).problem.cause).toBe('node_silent');
      expect((await failure).message).toMatch(words);
      await clock.advance(HOUR_MS);
      await eventually(() => expect(tunnels[0]?.closed).toBe(true));
    },
  );

  it("isn't delayed by calls that hang, however many", async () => {
    const server = await serve((response, request) => {
      if (request.url?.includes('/ab/') === true) json(200, CREDENTIALS)(response, request);
    });
    const { api } = apiOf(server.url);
    const hanging = Array.from({ length: 40 }, () =>
      failureOf(api.get('resources', { id: 'dead' }, never())),
    );
    await expect(api.get('websocket', { id: 'ab' }, never())).resolves.toBeDefined();
    await api.close();
    await Promise.all(hanging);
  });

  it('ends when the API is closed', async () => {
    const server = await serve(() => {});
    const { api } = apiOf(server.url);
    const call = failureOf(api.get('resources', { id: 'ab' }, never()));
    await eventually(() => expect(server.requests).toHaveLength(1));
    await api.close();
    expect((await call).problem.cause).toBe('connection');
  });
});

it('opens all connections to a panel with one TLS context', async () => {
  const { key, cert } = await selfSigned('IP:127.0.0.1');
  const server = await serve(json(200, RESOURCES), { key, cert });
  const { api } = apiOf(server.url, { tls: { ca: cert } });
  const made = vi.spyOn(tls, 'createSecureContext');
  const calls = Array.from({ length: 5 }, () => api.get('resources', { id: 'ab' }, never()));
  expect(await Promise.all(calls)).toHaveLength(5);
  expect(made).not.toHaveBeenCalled();
  made.mockRestore();
});

it('reports a certificate without its key as an error of the call', async () => {
  const [one, other] = [await selfSigned('IP:127.0.0.1'), await selfSigned('IP:127.0.0.1')];
  const server = await serve(json(200, RESOURCES), one);
  const tlsOfPanel = { ca: one.cert, cert: one.cert, key: other.key };
  const { api } = apiOf(server.url, { tls: tlsOfPanel });
  const { problem } = await failureOf(api.get('resources', { id: 'ab' }, never()));
  expect(problem.cause).toBe('tls');
  expect(problem.detail).toContain('KEY_VALUES_MISMATCH');
});

it('through a proxy shows the key to the panel alone, and the proxy its password alone', async () => {
  const certificate = await selfSigned('IP:127.0.0.1');
  const server = await scriptedServer(json(200, RESOURCES), certificate);
  closers.push(() => server.close());
  const heads: string[] = [];
  const proxy = await listen((client) => {
    client.once('data', (data) => {
      heads.push(data.toString('latin1'));
      const upstream = connect(server.port, '127.0.0.1');
      for (const socket of [client, upstream]) {
        socket.on('error', () => {});
        socket.on('close', () => [client, upstream].forEach((end) => end.destroy()));
      }
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
  });
  const proxyUrl = proxy.replace('//', '//user:pass@');
  const read = (tls: PanelApiOptions['tls']) =>
    apiOf(server.url, { proxyUrl, tls }).api.get('resources', { id: 'ab' }, never());
  await expect(read({ ca: certificate.cert })).resolves.toMatchObject({ value: { suspended: false } });
  expect(heads[0]).toMatch(/^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1\r\n/);
  expect(heads[0]).toMatch(/^proxy-authorization: Basic dXNlcjpwYXNz\r$/im);
  expect(heads.join('')).not.toMatch(/bearer/i);
  expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  expect(await causeOf(read({}))).toBe('tls_unknown_ca');
});
