import { describe, expect, it } from 'vitest';
import { isSameConnection, isSameSettings, type PanelConfig } from '../../../src/config/config.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { target } from '../../support/targets.ts';

function panel(changes: Partial<PanelConfig> = {}): PanelConfig {
  return {
    name: 'main',
    url: 'https://panel.example.com',
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
    socketHosts: ['node.example.com'],
    tls: { ca: 'one', key: new Secret('one'), insecureSkipVerify: false },
    servers: [target()],
    ...changes,
  };
}

describe('a panel keeps its connections', () => {
  it.each<[string, Partial<PanelConfig>]>([
    ['nothing', {}],
    ['its key', { apiKey: new Secret('ptlc_two'), apiKeySource: 'file key' }],
    ['its intervals', { pollIntervalMs: 60_000, stalenessMs: 90_000 }],
    ['its servers', { servers: [] }],
  ])('if %s changed', (_, changes) => {
    expect(isSameConnection(panel(), panel(changes))).toBe(true);
  });
});

describe('a panel is rebuilt', () => {
  const tls = { ca: 'one', key: new Secret('one'), insecureSkipVerify: false };
  it.each<[string, Partial<PanelConfig>]>([
    ['its URL', { url: 'https://other.example.com' }],
    ['its origin', { origin: 'https://other.example.com' }],
    ['its rate', { requestsPerMinute: 100 }],
    ['key_per_shard', { keyPerShard: true }],
    ['a timeout', { authTimeoutMs: 1 }],
    ['the list of socket hosts', { socketHosts: ['other.example.com'] }],
    ['its proxy', { proxyUrl: 'http://proxy.example.com' }],
    ['its certificate authority', { tls: { ...tls, ca: 'two' } }],
    ['its private key', { tls: { ...tls, key: new Secret('two') } }],
  ])('if %s changed', (_, changes) => {
    expect(isSameConnection(panel(), panel(changes))).toBe(false);
  });
});

it.each<[boolean, string, Partial<PanelConfig>]>([
  [true, 'the list of servers', { servers: [] }],
  [true, 'the source of the key', { apiKeySource: 'variable' }],
  [false, 'the key', { apiKey: new Secret('ptlc_two') }],
  [false, 'the poll interval', { pollIntervalMs: 60_000 }],
  [false, 'the staleness', { stalenessMs: 90_000 }],
])('the settings of a panel are the same (%s) if this changed: %s', (same, _, changes) => {
  expect(isSameSettings(panel(), panel(changes))).toBe(same);
});
