import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { selfSigned } from '../panel/certificate.ts';
import { type HostilePanel, startHostilePanel } from './hostile-panel.ts';

let canary: Server;
let port: number;
let reached = 0;
let panel: HostilePanel;
let exporter: ExporterUnderTest;

/** Addresses of a server's socket from a panel on another machine, and the resulting causes. */
const ADDRESSES = [
  ['plain ws', 'ws://203.0.113.7:PORT/ws', 'socket_address_insecure'],
  ['loopback', 'wss://127.0.0.1:PORT/ws', 'socket_address_local'],
  ["AWS' metadata service in IPv6", 'wss://[fd00:ec2::254]/latest/meta-data', 'socket_address_local'],
  ['a name that resolves to a metadata service', 'wss://metadata.test/ws', 'socket_address_local'],
  ['a name that resolves to loopback', 'wss://node.test:PORT/ws', 'socket_address_local'],
  ['https', 'https://127.0.0.1:PORT/ws', 'socket_address'],
  ['a local socket', 'ws+unix:///var/run/docker.sock:/containers/json', 'socket_address'],
  ['line breaks', 'not\r\nan address', 'socket_address'],
] as const;

beforeAll(async () => {
  canary = createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  canary.listen(0, '127.0.0.1');
  await once(canary, 'listening');
  const address = canary.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  resolveNamesHere();
  panel = await startHostilePanel(
    ADDRESSES.map(([name, socket]) => ({ name, socket: socket.replace('PORT', String(port)) })),
    await selfSigned('DNS:panel.test'),
  );
  const yaml = panel.yaml(`https://panel.test:${panel.port}`, 'tls_config: { insecure_skip_verify: true }');
  exporter = await startExporter({ yaml });
});

afterAll(async () => {
  await exporter.stop();
  await panel.stop();
  vi.restoreAllMocks();
  canary.close();
});

/** Resolves names under `.test` to this machine, so that the panel's name doesn't look local. */
function resolveNamesHere(): void {
  const { lookup } = dns.promises;
  const addressOf = (hostname: string): LookupAddress =>
    hostname === 'metadata.test'
      ? { address: 'fd00:ec2::254', family: 6 }
      : { address: '127.0.0.1', family: 4 };
  const stub = (hostname: string, options: LookupAllOptions) =>
    hostname.endsWith('.test') ? Promise.resolve([addressOf(hostname)]) : lookup(hostname, options);
  vi.spyOn(dns.promises, 'lookup').mockImplementation(stub as unknown as typeof lookup);
}

describe('a socket address from a panel on another machine', () => {
  it.each(ADDRESSES)(
    'that is %s is refused with a clear error, without a connection',
    async (name, _address, cause) => {
      await eventually(async () => {
        const page = await fetch(`${exporter.url}/api/v1/servers`);
        const { servers } = (await page.json()) as {
          servers: { server: string; cause?: string }[];
        };
        const row = servers.find(({ server }) => server === name);
        expect(row?.cause).toBe(cause);
      });
      expect(reached).toBe(0);
      expect(panel.upgrades).toEqual([]);
    },
  );
});
