import { connect, createServer, type Socket, type Server as TcpServer } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PanelApi, type PanelApiOptions } from '../../../src/panel/api.ts';
import type { PanelError } from '../../../src/panel/errors.ts';
import { selfSigned } from './certificate.ts';
import { apiOptions } from './panel-api.ts';
import { json, RESOURCES, type ScriptedServer, scriptedServer } from './scripted-server.ts';

type Pem = Awaited<ReturnType<typeof selfSigned>>;

const never = () => new AbortController().signal;
const closers: (() => Promise<void>)[] = [];
let ours: Pem;
let named: Pem;

beforeAll(async () => {
  [ours, named] = await Promise.all([selfSigned('IP:127.0.0.1'), selfSigned('DNS:panel.example.com')]);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0).toReversed()) await close();
});

async function panel(certificate?: Pem): Promise<ScriptedServer> {
  const server = await scriptedServer(json(200, RESOURCES), certificate);
  server.server.on('tlsClientError', () => {});
  closers.push(() => server.close());
  return server;
}

function ask(baseUrl: string, more: Partial<PanelApiOptions> = {}) {
  const api = new PanelApi(apiOptions(baseUrl, more));
  closers.push(() => api.close());
  return api.get('resources', { id: 'ab' }, never());
}

const answered = { value: { suspended: false } };

describe('TLS', () => {
  it('accepts a certificate of the configured CA', async () => {
    await expect(ask((await panel(ours)).url, { tls: { ca: ours.cert } })).resolves.toMatchObject(answered);
  });

  it('accepts any certificate if verification is off', async () => {
    await expect(ask((await panel(ours)).url, { tls: { insecureSkipVerify: true } })).resolves.toMatchObject(
      answered,
    );
  });

  it('rejects a certificate for another name, unless that name is configured', async () => {
    const { url } = await panel(named);
    const tls = { ca: named.cert };
    await expect(ask(url, { tls })).rejects.toMatchObject({ problem: { cause: 'tls_wrong_name' } });
    await expect(ask(url, { tls: { ...tls, serverName: 'panel.example.com' } })).resolves.toMatchObject(
      answered,
    );
  });

  it('presents its own certificate if the panel requests one', async () => {
    const server = createTlsServer({ ...ours, ca: named.cert, requestCert: true, rejectUnauthorized: true });
    const asked: (TLSSocket | Error)[] = [];
    server.on('secureConnection', (socket) => {
      asked.push(socket);
      const body = JSON.stringify(RESOURCES);
      socket.on('error', () => {});
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    });
    server.on('tlsClientError', () => {});
    const port = await listening(server);
    const url = `https://127.0.0.1:${port}`;
    const tls = { ca: ours.cert };
    await expect(ask(url, { tls })).rejects.toMatchObject({ name: 'PanelError' });
    expect(asked).toEqual([]);
    await expect(ask(url, { tls: { ...tls, ...named } })).resolves.toMatchObject(answered);
  });
});

async function listening(server: TcpServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
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
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}

/** A proxy that opens the requested tunnels, and keeps the heads of its requests. */
async function tunnel(respond: (head: string, client: Socket) => void) {
  const heads: string[] = [];
  const server = createServer((client) => {
    client.once('data', (data) => {
      const head = data.toString('latin1');
      heads.push(head);
      respond(head, client);
    });
  });
  return { heads, url: `http://user:pass@127.0.0.1:${await listening(server)}` };
}

function forward(head: string, client: Socket): void {
  const [, target = ''] = head.split(' ');
  const { hostname, port } = new URL(head.startsWith('CONNECT') ? `http://${target}` : target);
  const upstream = connect(Number(port), hostname);
  upstream.on('error', () => client.destroy());
  upstream.on('close', () => client.destroy());
  client.on('close', () => upstream.destroy());
  if (head.startsWith('CONNECT')) client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  else upstream.write(head.replace(/^GET http:\/\/[^/]+/, 'GET '));
  client.pipe(upstream).pipe(client);
}

describe('a proxy', () => {
  it("carries TLS to the panel in a tunnel, with the panel's options", async () => {
    const server = await panel(ours);
    const proxy = await tunnel(forward);
    await expect(ask(server.url, { proxyUrl: proxy.url, tls: { ca: ours.cert } })).resolves.toMatchObject(
      answered,
    );
    expect(proxy.heads[0]).toMatch(/^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1\r\n/);
    expect(proxy.heads[0]).toMatch(/^proxy-authorization: Basic dXNlcjpwYXNz\r$/im);
    expect(proxy.heads.join('')).not.toMatch(/bearer/i);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    await expect(ask(server.url, { proxyUrl: proxy.url })).rejects.toMatchObject({
      problem: { cause: 'tls_unknown_ca' },
    });
  });

  it('receives plain HTTP in absolute form', async () => {
    const server = await panel();
    const proxy = await tunnel(forward);
    await expect(ask(server.url, { proxyUrl: proxy.url })).resolves.toMatchObject(answered);
    expect(proxy.heads[0]).toMatch(
      /^GET http:\/\/127\.0\.0\.1:\d+\/api\/client\/servers\/ab\/resources HTTP/,
    );
  });

  it('comes from the environment if none is configured, which may exclude the panel', async () => {
    const body = JSON.stringify(RESOURCES);
    const proxy = await tunnel((_head, client) =>
      client.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`),
    );
    for (const name of ['no_proxy', 'NO_PROXY', 'http_proxy']) vi.stubEnv(name, '');
    vi.stubEnv('HTTP_PROXY', proxy.url);
    await expect(ask('http://panel.invalid')).resolves.toMatchObject(answered);
    expect(proxy.heads).toHaveLength(1);
    vi.stubEnv('NO_PROXY', 'panel.invalid');
    await expect(ask('http://panel.invalid')).rejects.toMatchObject({ problem: { cause: 'dns' } });
    expect(proxy.heads).toHaveLength(1);
  });

  it('of the environment is not used for a panel on this machine', async () => {
    const server = await panel();
    for (const name of ['no_proxy', 'NO_PROXY', 'http_proxy']) vi.stubEnv(name, '');
    vi.stubEnv('HTTP_PROXY', 'http://proxy.invalid');
    await expect(ask(server.url)).resolves.toMatchObject(answered);
  });

  it('that accepts a tunnel and never responds is given up after the connect timeout', async () => {
    const server = await panel(ours);
    const hanging = await tunnel(() => {});
    const options = { proxyUrl: hanging.url, connectTimeoutMs: 100, requestTimeoutMs: 20_000 };
    const error = await ask(server.url, options).catch((reason: PanelError) => reason);
    expect(error).toMatchObject({ problem: { cause: 'proxy' } });
    expect((error as PanelError).message).toContain('did not respond in time');
    expect((error as PanelError).message).not.toContain('within');
  });

  it('that refuses, hangs or is down is named instead of the panel', async () => {
    const server = await panel(ours);
    const refusing = await tunnel((_head, client) =>
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    );
    const hanging = await tunnel(() => {});
    const refused = await ask(server.url, { proxyUrl: refusing.url }).catch((error: PanelError) => error);
    expect(refused).toMatchObject({ problem: { cause: 'proxy' } });
    expect((refused as PanelError).message).toMatch(/407/);
    expect((refused as PanelError).message).not.toContain('user:pass');
    await expect(ask(server.url, { proxyUrl: hanging.url, requestTimeoutMs: 200 })).rejects.toMatchObject({
      problem: { cause: 'node_silent' },
    });
    await expect(ask(server.url, { proxyUrl: 'http://does-not-exist.invalid' })).rejects.toMatchObject({
      problem: { cause: 'proxy' },
    });
  });
});

describe('a hanging handshake', () => {
  it('is given up when the call is aborted', async () => {
    const port = await listening(createServer(() => {}));
    const api = new PanelApi(apiOptions(`https://127.0.0.1:${port}`, { connectTimeoutMs: 3_600_000 }));
    closers.push(() => api.close());
    const controller = new AbortController();
    const call = api.get('resources', { id: 'ab' }, controller.signal);
    setTimeout(() => controller.abort(new Error('not wanted')), 20);
    await expect(call).rejects.toThrow('not wanted');
  });

  it('is given up at the deadline of the call', async () => {
    const port = await listening(createServer(() => {}));
    const timeouts = { connectTimeoutMs: 3_600_000, requestTimeoutMs: 100 };
    await expect(ask(`https://127.0.0.1:${port}`, timeouts)).rejects.toMatchObject({
      problem: { cause: 'node_silent' },
    });
  });

  it('is given up after the connect timeout', async () => {
    const port = await listening(createServer(() => {}));
    await expect(ask(`https://127.0.0.1:${port}`, { connectTimeoutMs: 100 })).rejects.toMatchObject({
      problem: { cause: 'node_silent' },
    });
  });
});
