import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tunnelFor } from '../../../src/session/socket-proxy.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';

const NODE = 'wss://node.example.com:8080/ws';
const PLAIN_NODE = 'ws://node.example.com:8080/ws';

beforeEach(() => setProxyVariables());

afterEach(() => {
  vi.unstubAllEnvs();
});

const OPTIONS = { clock: new ManualClock(), connect: { timeout: 8_000 } };
const isProxied = (url: string, proxyUrl?: string) => tunnelFor(url, proxyUrl, OPTIONS) !== undefined;

describe('a socket', () => {
  it.each([
    ['HTTPS_PROXY', [true, false]],
    ['HTTP_PROXY', [false, true]],
  ])("uses the environment's proxy for the scheme of its address: %s", (name, expected) => {
    setProxyVariables({ [name]: 'http://proxy:3128' });
    expect([NODE, PLAIN_NODE].map((node) => isProxied(node))).toEqual(expected);
  });

  it("uses the environment's proxy for a scheme in upper case, which a panel may send", () => {
    setProxyVariables({ HTTPS_PROXY: 'http://proxy:3128' });
    expect(isProxied('WSS://node.example.com:8080/ws')).toBe(true);
  });
});
