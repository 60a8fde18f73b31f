import { describe, expect, it } from 'vitest';
import type { PanelConfig } from '../../../src/config/config.ts';
import { affectedByChanges } from '../../../src/config/reload-effects.ts';
import { Secret } from '../../../src/text/redaction.ts';
import { target } from '../../support/targets.ts';

const tls = {
  ca: 'one',
  cert: undefined,
  key: new Secret('one'),
  serverName: undefined,
  insecureSkipVerify: false,
};
const nodes = { apiKey: new Secret('ptla_one'), intervalMs: 60_000 };

function panel(changes: Partial<PanelConfig> = {}): PanelConfig {
  return {
    name: 'main',
    url: 'https://panel.example.com',
    panel: undefined,
    origin: 'https://panel.example.com',
    apiKey: new Secret('ptlc_one'),
    apiKeySource: 'inline',
    keyPerShard: false,
    pollIntervalMs: 30_000,
    stalenessMs: 60_000,
    requestTimeoutMs: 25_000,
    connectTimeoutMs: 10_000,
    authTimeoutMs: 12_000,
    allowInsecure: false,
    requestsPerMinute: undefined,
    socketHosts: ['node.example.com'],
    queryHosts: undefined,
    tls,
    proxyUrl: undefined,
    listing: undefined,
    backups: undefined,
    schedules: undefined,
    nodes,
    servers: [target()],
    ...changes,
  };
}

describe('the changed settings of a panel affect', () => {
  it.each<[string, string, Partial<PanelConfig>]>([
    ['nothing', 'without a change', { tls: { ...tls, key: new Secret('one') } }],
    ['nothing', 'another list of servers', { servers: [] }],
    ['nothing', 'another source of the same key', { apiKeySource: 'variable' }],
    ['panel', 'another URL', { url: 'https://other.example.com' }],
    ['key', 'another key', { apiKey: new Secret('ptlc_two') }],
    ['calls', 'another timeout of calls', { requestTimeoutMs: 1 }],
    ['calls', 'another timeout of connections', { connectTimeoutMs: 1 }],
    ['calls, sockets', 'another proxy', { proxyUrl: 'http://proxy.example.com' }],
    ['calls, sockets', 'another certificate authority', { tls: { ...tls, ca: 'two' } }],
    ['calls, sockets', 'another private key', { tls: { ...tls, key: new Secret('two') } }],
    ['sockets', 'another origin', { origin: 'https://other.example.com' }],
    ['sockets', 'other socket hosts', { socketHosts: ['other.example.com'] }],
    ['sockets', 'insecure addresses', { allowInsecure: true }],
    ['rest', 'another timeout of sockets', { authTimeoutMs: 1 }],
    ['rest', 'another rate', { requestsPerMinute: 100 }],
    ['rest', 'key_per_shard', { keyPerShard: true }],
    ['rest', 'another poll interval', { pollIntervalMs: 60_000 }],
    ['rest', 'another staleness', { stalenessMs: 90_000 }],
    ['rest', 'another key for nodes', { nodes: { ...nodes, apiKey: new Secret('ptla_two') } }],
    ['rest', 'a server list', { listing: { intervalMs: 60_000 } }],
    ['key, rest', 'a key and an interval', { apiKey: new Secret('ptlc_two'), stalenessMs: 90_000 }],
  ])('%s: %s', (affected, _, changes) => {
    expect([...affectedByChanges(panel(), panel(changes))].join(', ') || 'nothing').toBe(affected);
  });
});
