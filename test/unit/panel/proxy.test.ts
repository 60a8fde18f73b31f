import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProxyError, proxyFor, proxyRefused, proxyUnreachable } from '../../../src/panel/proxy.ts';

const PANEL = 'https://panel.example.com';
const PLAIN = 'http://panel.example.com';
const NAMES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'];

beforeEach(() => {
  for (const name of NAMES) {
    vi.stubEnv(name, undefined);
    vi.stubEnv(name.toLowerCase(), undefined);
  }
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const isLocal = (host: string) => host === 'localhost';
const find = (address: string, proxyUrl?: string) => proxyFor(address, proxyUrl, isLocal);
const shown = (address: string, proxyUrl?: string) => {
  const proxy = find(address, proxyUrl);
  return proxy && `${proxy.setting} ${proxy.url.href}`;
};

const credentials = (proxyUrl: string) => {
  const [, encoded = ''] = (find(PANEL, proxyUrl)?.authorization ?? '').split(' ');
  return Buffer.from(encoded, 'base64').toString();
};

describe('the proxy for an address', () => {
  it.each([
    ['no variables', {}, undefined],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'http://a:1' }, 'HTTPS_PROXY http://a:1/'],
    [
      'https_proxy, which takes precedence',
      { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:1' },
      'https_proxy http://b:1/',
    ],
    ['HTTP_PROXY, which is for plain HTTP', { HTTP_PROXY: 'http://a:1' }, undefined],
    ['ALL_PROXY', { ALL_PROXY: 'https://a:1' }, 'ALL_PROXY https://a:1/'],
    [
      'ALL_PROXY and HTTPS_PROXY, which takes precedence',
      { ALL_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:1' },
      'HTTPS_PROXY http://b:1/',
    ],
    ['a proxy without a scheme', { HTTPS_PROXY: 'a:3128' }, 'HTTPS_PROXY http://a:3128/'],
    ['an exception for the panel', { HTTPS_PROXY: 'http://a:1', NO_PROXY: 'panel.example.com' }, undefined],
    ['an empty variable', { HTTPS_PROXY: '' }, undefined],
  ])('from the environment with %s', (_what, variables, expected) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect(shown(PANEL)).toBe(expected);
  });

  it('is HTTP_PROXY for plain http', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://a:1');
    vi.stubEnv('HTTP_PROXY', 'http://b:1');
    expect(shown(PLAIN)).toBe('HTTP_PROXY http://b:1/');
  });

  it('is none for a local host, unless it is configured', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://a:1');
    expect(shown('https://localhost')).toBeUndefined();
    expect(shown('https://localhost', 'http://b:1')).toBe('proxy_url http://b:1/');
  });
});

describe('username and password', () => {
  it.each([
    ['http://me:secret@a:1', 'me:secret'],
    ['http://me@a:1', 'me:'],
    ['http://:secret@a:1', ':secret'],
    ['http://m%40e:s%3Acret%2F@a:1', 'm@e:s:cret/'],
    ['http://me:50%off@a:1', 'me:50%off'],
    ['http://a:1', ''],
  ])('from %s', (proxyUrl, expected) => {
    expect(credentials(proxyUrl)).toBe(expected);
    expect(find(PANEL, proxyUrl)?.url.href).toBe('http://a:1/');
  });
});

describe('an invalid proxy address', () => {
  it.each([
    ['http://me:secret@', 'the proxy of the environment (HTTPS_PROXY) is not a URL'],
    [
      'socks5://me:secret@a:1',
      'the proxy of the environment (HTTPS_PROXY) is not the address of an http or https proxy',
    ],
  ])('%s is rejected with a message without the password', (value, words) => {
    vi.stubEnv('HTTPS_PROXY', value);
    const message = `${words}: expected the form http://proxy.example.com:3128`;
    expect(() => find(PANEL)).toThrow(new ProxyError(message));
  });
});

describe('an error of a proxy', () => {
  const proxyOf = (url: string) => {
    const proxy = find(PANEL, url);
    if (proxy === undefined) throw new Error('expected a proxy');
    return proxy;
  };
  const failing = (code: string) => Object.assign(new Error('it failed'), { code });

  it.each([
    [
      'ECONNREFUSED',
      "the proxy http://a:1 can't be reached: it failed: check proxy_url, and that the proxy is up",
    ],
    [
      'ENOTFOUND',
      "the name of the proxy http://a:1 can't be resolved (ENOTFOUND): check proxy_url, and DNS on this machine",
    ],
    [
      'HPE_HEADER_OVERFLOW',
      'the proxy http://a:1 responded to CONNECT with headers of more than 16 KiB: check proxy_url, and that an HTTP proxy listens there',
    ],
    ['ETIMEDOUT', 'the proxy http://a:1 did not respond in time: check proxy_url, and that the proxy is up'],
  ])('that cannot be used: %s', (code, words) => {
    const cause = failing(code);
    const error = proxyUnreachable(proxyOf('http://me:secret@a:1'), cause);
    expect(error.message).toBe(words);
    expect(error.cause).toBe(cause);
  });

  it.each([
    [
      'http://a:1',
      407,
      'requires a username and password (407): add them to proxy_url, as http://user:password@a:1',
    ],
    ['http://me:secret@a:1', 407, 'rejected the username and password (407): correct them in proxy_url'],
    [
      'http://a:1',
      403,
      'rejected the connection to node:8080 (403): allow it in the proxy, or set another one in proxy_url',
    ],
    ['http://a:1', 503, "can't connect to node:8080 (503): check that address, and what the proxy can reach"],
  ])('%s that responds with %i', (url, status, words) => {
    expect(proxyRefused(proxyOf(url), 'node:8080', status).message).toBe(`the proxy http://a:1 ${words}`);
  });

  it('shows the environment variable that configured the proxy', () => {
    vi.stubEnv('https_proxy', 'http://a:1');
    const proxy = find(PANEL);
    expect(proxy && proxyRefused(proxy, 'node:8080', 403).message).toContain(
      'exclude the host with NO_PROXY',
    );
    expect(proxy && proxyUnreachable(proxy, failing('ECONNREFUSED')).message).toContain('check https_proxy,');
  });
});
