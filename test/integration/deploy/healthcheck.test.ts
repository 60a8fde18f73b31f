import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseListenAddress } from '../../../src/http/listen-address.ts';
import { acceleratedNode } from '../../support/accelerated-node.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { repositoryPath } from '../../support/deploy-files.ts';
import { endProcesses, launch } from '../../support/process.ts';

const SCRIPT = repositoryPath('scripts/healthcheck.mjs');

const servers: Server[] = [];

/** Listens on a free port of the loopback interface. Returns the address. */
async function listen(server: Server, host: string | undefined = '127.0.0.1'): Promise<string> {
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
}

const answering =
  (status: number): RequestListener =>
  (request, response) => {
    response.statusCode = request.url === '/-/healthy' ? status : 404;
    response.end();
  };

async function check(address: string, flags: readonly string[] = []) {
  const run = launch(process.execPath, [...flags, SCRIPT], { env: { HEALTHCHECK_ADDRESS: address } });
  const { code } = await run.ended;
  return { code, stderr: run.stderr };
}

afterEach(async () => {
  await endProcesses();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

describe('the health check of the image', () => {
  it.each([200, 401])('reports a status of %d as healthy', async (status) => {
    const address = await listen(createServer(answering(status)));
    expect(await check(address)).toEqual({ code: 0, stderr: '' });
  });

  it.each([
    [':', '127.0.0.1'],
    [':', undefined],
    ['127.0.0.1:', '127.0.0.1'],
    ['localhost:', 'localhost'],
    ['0.0.0.0:', '0.0.0.0'],
    ['[::1]:', '::1'],
    ['[::]:', '::'],
  ])('accepts the form %sPORT of --web.listen-address', async (form, host) => {
    const address = await listen(createServer(answering(200)), host);
    const given = `${form}${address.slice(address.lastIndexOf(':') + 1)}`;
    expect(parseListenAddress(given)).toBeDefined();
    expect(await check(given)).toEqual({ code: 0, stderr: '' });
  });

  it.each(['10998', ':', ':0', ':65536', '[::1]', 'http://127.0.0.1:10317', ''])(
    'rejects %j in one line',
    async (text) =>
      expect(await check(text)).toEqual({
        code: 1,
        stderr: `HEALTHCHECK_ADDRESS ${text}: expected [host]:port, as in --web.listen-address: :10317, 127.0.0.1:10317 or [::1]:10317\n`,
      }),
  );

  it.each([404, 503])('reports a status of %d as unhealthy', async (status) => {
    const address = await listen(createServer(answering(status)));
    expect(await check(address)).toEqual({
      code: 1,
      stderr: `HEALTHCHECK_ADDRESS ${address}: /-/healthy responded with ${status}\n`,
    });
  });

  it("reports a server that doesn't respond as unhealthy", async () => {
    const address = await listen(createServer(() => undefined));
    expect(await check(address, acceleratedNode(10))).toEqual({
      code: 1,
      stderr: `HEALTHCHECK_ADDRESS ${address}: no response within 4 s\n`,
    });
  });

  it('reports a closed port as unhealthy', async () => {
    const server = createServer();
    const address = await listen(server);
    server.close();
    await once(server, 'close');
    servers.splice(0);
    const { code, stderr } = await check(address);
    expect(code).toBe(1);
    expect(stderr).toContain('ECONNREFUSED');
  });
});

describe('over TLS, the health check reports as healthy', () => {
  let authority: Authority;

  beforeAll(async () => {
    authority = await createAuthority();
  });

  afterAll(() => authority.end());

  it.each<[string, TlsOptions]>([
    ['a server with an unknown certificate', {}],
    [
      'a server that requests a client certificate, over TLS 1.3',
      { requestCert: true, minVersion: 'TLSv1.3' },
    ],
    [
      'a server that requests a client certificate, over TLS 1.2',
      { requestCert: true, maxVersion: 'TLSv1.2' },
    ],
  ])('%s', async (_name, options) => {
    const own = await authority.issue('DNS:exporter.example.com');
    const address = await listen(createTlsServer({ ...own, ...options }, answering(200)));
    expect(await check(address)).toEqual({ code: 0, stderr: '' });
  });
});
