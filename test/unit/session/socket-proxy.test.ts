import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tunnelFor } from '../../../src/session/socket-proxy.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'WS_PROXY', 'WSS_PROXY'];
const NODE = 'wss://node.example.com:8080/ws';
const PLAIN_NODE = 'ws://node.example.com:8080/ws';

beforeEach(() => {
  for (const name of NAMES) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toLowerCase(), undefined);
  }
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const OPTIONS = { clock: new ManualClock(), connect: { timeout: 8_000 } };
const isProxied = (url: string, proxyUrl?: string) => tunnelFor(url, proxyUrl, OPTIONS) !== undefined;

describe('a socket', () => {
  it('needs no tunnel without a proxy', () => {
    expect(isProxied(NODE)).toBe(false);
  });

  it('uses the configured proxy, whatever the environment contains', () => {
    vi.stubEnv('NO_PROXY', '*');
    for (const node of [NODE, PLAIN_NODE]) expect(isProxied(node, 'http://proxy:3128')).toBe(true);
  });

  it.each([
    ['HTTPS_PROXY', [true, false]],
    ['HTTP_PROXY', [false, true]],
  ])("uses the environment's proxy for the scheme of its address: %s", (name, expected) => {
    vi.stubEnv(name, 'http://proxy:3128');
    expect([NODE, PLAIN_NODE].map((node) => isProxied(node))).toEqual(expected);
  });

  it('respects NO_PROXY', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://proxy:3128');
    vi.stubEnv('NO_PROXY', '.example.com');
    expect(isProxied(NODE)).toBe(false);
    expect(isProxied('wss://node.example.org/ws')).toBe(true);
  });

  it("uses the configured proxy, but not the environment's, for addresses on this machine", () => {
    vi.stubEnv('HTTP_PROXY', 'http://proxy:3128');
    for (const node of ['ws://127.0.0.1:9000/ws', 'ws://localhost:9000/ws', 'ws://[::1]:9000/ws']) {
      expect(isProxied(node)).toBe(false);
      expect(isProxied(node, 'http://proxy:3128')).toBe(true);
    }
  });

  it("uses the environment's proxy for a scheme in upper case, which a panel may send", () => {
    vi.stubEnv('HTTPS_PROXY', 'http://proxy:3128');
    expect(isProxied('WSS://node.example.com:8080/ws')).toBe(true);
  });
});
