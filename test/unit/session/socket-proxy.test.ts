import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { proxyAgents as agentsOf } from '../../../src/session/socket-proxy.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'WS_PROXY', 'WSS_PROXY'];
const NODE = 'wss://node.example.com:8080/ws';

beforeEach(() => {
  for (const name of NAMES) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toLowerCase(), undefined);
  }
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const proxyAgents = (proxyUrl: string | undefined) =>
  agentsOf(proxyUrl, { clock: new ManualClock(), timeoutMs: 8_000 });

const proxyOf = (agent: unknown) => (agent as { proxy: { url: URL } } | undefined)?.proxy.url.href;

describe('proxyAgents', () => {
  it('connects directly without a proxy', () => {
    expect(proxyAgents(undefined)(NODE)).toBeUndefined();
  });

  it('uses the configured proxy, whatever the environment contains', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://other:3128');
    vi.stubEnv('NO_PROXY', '*');
    const agentFor = proxyAgents('http://proxy:3128');
    expect(proxyOf(agentFor(NODE))).toBe('http://proxy:3128/');
    expect(proxyOf(agentFor('ws://node.example.com/ws'))).toBe('http://proxy:3128/');
  });

  it("uses the environment's proxy for the scheme of the address", () => {
    vi.stubEnv('HTTPS_PROXY', 'http://secure:3128');
    vi.stubEnv('HTTP_PROXY', 'http://plain:3128');
    const agentFor = proxyAgents(undefined);
    expect(proxyOf(agentFor(NODE))).toBe('http://secure:3128/');
    expect(proxyOf(agentFor('ws://node.example.com/ws'))).toBe('http://plain:3128/');
  });

  it('respects NO_PROXY', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://proxy:3128');
    vi.stubEnv('NO_PROXY', '.example.com');
    const agentFor = proxyAgents(undefined);
    expect(agentFor(NODE)).toBeUndefined();
    expect(proxyOf(agentFor('wss://node.example.org/ws'))).toBe('http://proxy:3128/');
  });

  it("uses the configured proxy, but not the environment's, for addresses on this machine", () => {
    vi.stubEnv('HTTP_PROXY', 'http://proxy:3128');
    for (const node of ['ws://127.0.0.1:9000/ws', 'ws://localhost:9000/ws', 'ws://[::1]:9000/ws']) {
      expect(proxyAgents(undefined)(node)).toBeUndefined();
      expect(proxyOf(proxyAgents('http://proxy:3128')(node))).toBe('http://proxy:3128/');
    }
  });

  it('keeps one agent per proxy', () => {
    const agentFor = proxyAgents('http://proxy:3128');
    expect(agentFor(NODE)).toBe(agentFor('wss://node-2.example.com/ws'));
  });

  it("uses the environment's proxy for a scheme in upper case, which a panel may send", () => {
    vi.stubEnv('HTTPS_PROXY', 'http://proxy:3128');
    expect(proxyOf(proxyAgents(undefined)('WSS://node.example.com:8080/ws'))).toBe('http://proxy:3128/');
  });
});
