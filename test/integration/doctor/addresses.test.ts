import dns, { type LookupAllOptions } from 'node:dns';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { examined, problemsOf } from '../../support/doctor.ts';
import { selfSigned } from '../panel/certificate.ts';
import { type HostilePanel, type HostileServer, startHostilePanel } from '../security/hostile-panel.ts';

const closers: (() => Promise<void>)[] = [];
let certificate: Awaited<ReturnType<typeof selfSigned>>;

beforeAll(async () => {
  certificate = await selfSigned('DNS:panel.test');
  resolveNamesHere();
});

afterAll(() => {
  vi.restoreAllMocks();
});

beforeEach(() => {
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, '');
  }
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Names under `.test`, which no name server knows, resolve to this machine; the panel's name isn't obviously local. */
function resolveNamesHere(): void {
  const { lookup } = dns.promises;
  const stub = (hostname: string, options: LookupAllOptions) =>
    hostname.endsWith('.test')
      ? Promise.resolve([{ address: '127.0.0.1', family: 4 }])
      : lookup(hostname, options);
  vi.spyOn(dns.promises, 'lookup').mockImplementation(stub as unknown as typeof lookup);
}

async function panelWith(server: HostileServer): Promise<HostilePanel> {
  const panel = await startHostilePanel([server], certificate);
  closers.push(() => panel.stop());
  return panel;
}

const SKIP = 'tls_config: { insecure_skip_verify: true }';

describe('the socket address from a panel on another machine', () => {
  it.each<readonly [CauseCode, string, RegExp]>([
    ['socket_address_insecure', 'ws://203.0.113.7:1/ws', /plain ws is not allowed/],
    ['socket_address_local', 'wss://127.0.0.1:1/ws', /a loopback or link-local address/],
    ['socket_address_local', 'wss://localhost:1/ws', /a loopback or link-local address/],
    ['socket_address_local', 'wss://node.test:1/ws', /resolves to 127\.0\.0\.1/],
    ['socket_address', 'https://node.test/ws', /expected the scheme wss/],
  ])('%s: %s', async (cause, socket, says) => {
    const panel = await panelWith({ name: 'survival', socket });
    const report = await examined({ yaml: panel.yaml(`https://panel.test:${panel.port}`, SKIP) });
    expect(problemsOf(report)).toContainEqual(
      expect.objectContaining({
        cause,
        detail: expect.stringMatching(says) as string,
        servers: ['survival'],
      }),
    );
    expect(panel.upgrades).toEqual([]);
  });

  it('is tried if socket_hosts contains it', async () => {
    const panel = await panelWith({ name: 'survival' });
    const settings = [SKIP, 'socket_hosts: [panel.test]', 'allow_insecure: true'];
    const yaml = panel.yaml(`https://panel.test:${panel.port}`, ...settings);
    const report = await examined({ yaml });
    // The address uses plain ws, but the port speaks TLS.
    expect(problemsOf(report).map(({ cause }) => cause)).toContain('node_connection');
  });
});

/** A proxy that forwards requests to the panel, and responds to tunnels to nodes with a status. */
async function proxyThatAnswersNodes(status: number, panelPort: number): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => undefined);
    client.once('data', (head) => {
      const target = head.toString('latin1').split(' ')[1] ?? '';
      if (!target.startsWith('panel.test')) {
        client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
        return;
      }
      const upstream = connect(panelPort, '127.0.0.1');
      open.add(upstream);
      upstream.on('error', () => client.destroy());
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  );
  const address = server.address();
  return `http://me:TopSecret@127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
}

describe('a proxy that forwards calls to the panel but no sockets', () => {
  it.each([407, 502])('is reported as node_proxy or upgrade_error if it responds with %i', async (status) => {
    const panel = await panelWith({ name: 'survival', socket: 'wss://node.example.com/ws' });
    const proxy = await proxyThatAnswersNodes(status, panel.port);
    const yaml = panel.yaml(`https://panel.test:${panel.port}`, SKIP, `proxy_url: ${proxy}`);
    const report = await examined({ yaml });
    const causes = problemsOf(report).map(({ cause }) => cause);
    expect(causes.join()).toMatch(status === 407 ? /\bnode_proxy\b/ : /\b(?:node_proxy|upgrade_error)\b/);
    expect(JSON.stringify(report)).not.toContain('TopSecret');
  });
});
