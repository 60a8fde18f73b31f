import dns, { type LookupAddress, type LookupAllOptions } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { eventually } from '../../support/eventually.ts';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { pageData } from '../../support/page-data.ts';
import { selfSigned } from '../panel/certificate.ts';
import { type HostilePanel, KEY, startHostilePanel } from './hostile-panel.ts';

let canary: Server;
let port: number;
let reached = 0;
let panel: HostilePanel;
let exporter: ExporterUnderTest;

/** Where a panel on another machine sends a server's socket, and the resulting error. */
const ADDRESSES = [
  ['plain ws', 'ws://203.0.113.7:PORT/ws', 'plain ws is not allowed'],
  ['loopback', 'wss://127.0.0.1:PORT/ws', 'a loopback or link-local address'],
  ["AWS' metadata service in IPv6", 'wss://[fd00:ec2::254]/latest/meta-data', 'a cloud metadata address'],
  ['a name that resolves to a metadata service', 'wss://metadata.test/ws', 'resolves to fd00:ec2::254'],
  ['a name that resolves to loopback', 'wss://node.test:PORT/ws', 'resolves to 127.0.0.1'],
  ['https', 'https://127.0.0.1:PORT/ws', 'expected the scheme wss'],
  ['a local socket', 'ws+unix:///var/run/docker.sock:/containers/json', 'expected the scheme wss'],
  ['line breaks', 'not\r\nan address', 'expected a wss:// socket address'],
] as const;

const CAUSE_BY_WORDS: Readonly<Record<(typeof ADDRESSES)[number][2], CauseCode>> = {
  'plain ws is not allowed': 'socket_address_insecure',
  'a loopback or link-local address': 'socket_address_local',
  'a cloud metadata address': 'socket_address_local',
  'resolves to fd00:ec2::254': 'socket_address_local',
  'resolves to 127.0.0.1': 'socket_address_local',
  'expected the scheme wss': 'socket_address',
  'expected a wss:// socket address': 'socket_address',
};

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

/** Names under `.test`, which no name server knows, resolve to this machine; the panel's name isn't obviously local. */
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
    async (name, _address, words) => {
      await eventually(async () => {
        const page = await fetch(`${exporter.url}/api/v1/servers`);
        const { servers } = (await page.json()) as {
          servers: { server: string; cause?: string; trouble?: string }[];
        };
        const row = servers.find(({ server }) => server === name);
        expect(row?.trouble).toContain(words);
        expect(row?.cause).toBe(CAUSE_BY_WORDS[words]);
      });
      expect(reached).toBe(0);
      expect(panel.upgrades).toEqual([]);
    },
  );

  it('costs the server only its socket: it is polled', async () => {
    await exporter.until('gameserver_collection_up', { server: 'loopback' }, 1);
    expect(reached).toBe(0);
  });

  it("can't reveal the key, which is sent only to the panel", async () => {
    expect(panel.calls.length).toBeGreaterThan(ADDRESSES.length);
    const said = `${JSON.stringify(exporter.lines)}${await exporter.scrape()}${await pageData(exporter.url)}`;
    expect(said).not.toContain(KEY);
  });
});
