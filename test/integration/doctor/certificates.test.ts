import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { examined, problemsOf } from '../../support/doctor.ts';
import { configFor } from '../../support/exporter.ts';

const HERE = 'IP:127.0.0.1';
const closers: (() => Promise<void>)[] = [];
let trusted: Authority;
let unknown: Authority;
let good: Certificate;

beforeAll(async () => {
  [trusted, unknown] = await Promise.all([createAuthority(), createAuthority()]);
  good = await trusted.issue(HERE);
});

afterAll(() => Promise.all([trusted.end(), unknown.end()]));

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A port that speaks TLS, and closes each connection. */
async function tlsPort(options: TlsOptions): Promise<number> {
  const open = new Set<Socket>();
  const server = createTlsServer(options, (socket) => socket.end('HTTP/1.1 400 No\r\n\r\n'));
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

type TlsCause = 'tls_expired' | 'tls_wrong_name' | 'tls_unknown_ca' | 'tls_client_certificate';

/** What can be wrong with the TLS of a panel or a node. */
const TROUBLES: readonly (readonly [TlsCause, string, () => Promise<TlsOptions>])[] = [
  ['tls_expired', 'an expired certificate', () => trusted.issue(HERE, 'expired')],
  ['tls_wrong_name', 'a certificate for another name', () => trusted.issue('DNS:other.example.com')],
  ['tls_unknown_ca', 'a certificate from an unknown CA', () => unknown.issue(HERE)],
  [
    'tls_client_certificate',
    'a client certificate is required',
    async () => ({ ...good, ca: good.cert, requestCert: true, rejectUnauthorized: true }),
  ],
];

describe.each(TROUBLES)('%s: %s', (trouble, _what, options) => {
  it('is reported for the panel', async () => {
    const panel = await startSimulator({ servers: 1 });
    closers.push(() => panel.stop());
    const url = `https://127.0.0.1:${await tlsPort(await options())}`;
    const yaml = configFor(panel, [`tls_config: { ca_file: "${trusted.file}" }`]).replace(panel.url, url);
    const report = await examined({ yaml });
    expect(problemsOf(report)).toMatchObject([{ result: 'failed', cause: trouble, servers: [] }]);
  });

  it('is reported for a node, while the panel is fine', async () => {
    const panel = await startSimulator({ servers: 1, tls: good });
    closers.push(() => panel.stop());
    const [server] = panel.servers;
    panel.advertise(server?.uuid ?? '', `wss://127.0.0.1:${await tlsPort(await options())}/ws`);
    const report = await examined({
      yaml: configFor(panel, [`tls_config: { ca_file: "${trusted.file}" }`]),
    });
    expect(problemsOf(report)).toMatchObject([
      { result: 'failed', cause: `node_${trouble}`, nodes: ['node-1'], servers: [server?.name] },
    ]);
  });
});

describe('a panel and nodes with a private CA', () => {
  it('are reachable if ca_file contains it', async () => {
    const panel = await startSimulator({ servers: 1, tls: good });
    closers.push(() => panel.stop());
    const report = await examined({
      yaml: configFor(panel, [`tls_config: { ca_file: "${trusted.file}" }`]),
    });
    expect(isAllHealthy(report)).toBe(true);
  });
});
