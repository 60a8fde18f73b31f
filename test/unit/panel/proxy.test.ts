import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CodedError, OWN_CODES } from '../../../src/diagnosis/transport-errors.ts';
import { proxyFor, proxyRefused } from '../../../src/panel/proxy.ts';
import { printable } from '../../../src/text/printable.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';

const PANEL = 'https://panel.example.com';
const PLAIN = 'http://panel.example.com';

beforeEach(() => setProxyVariables());

afterEach(() => {
  vi.unstubAllEnvs();
});

const shown = (address: string, proxyUrl?: string) => {
  const proxy = proxyFor(address, proxyUrl);
  return proxy && `${proxy.setting} ${proxy.origin}`;
};

const credentials = (proxyUrl: string) => {
  const [, encoded = ''] = (proxyFor(PANEL, proxyUrl)?.headers['proxy-authorization'] ?? '').split(' ');
  return Buffer.from(encoded, 'base64').toString();
};

describe('the proxy for an address', () => {
  it.each([
    ['no variables', {}, undefined],
    ['HTTPS_PROXY', { HTTPS_PROXY: 'http://a:1' }, 'HTTPS_PROXY http://a:1'],
    [
      'https_proxy, which takes precedence',
      { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:1' },
      'https_proxy http://b:1',
    ],
    ['HTTP_PROXY, which is for plain HTTP', { HTTP_PROXY: 'http://a:1' }, undefined],
    ['ALL_PROXY', { ALL_PROXY: 'https://a:1' }, 'ALL_PROXY https://a:1'],
    [
      'ALL_PROXY and HTTPS_PROXY, which takes precedence',
      { ALL_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:1' },
      'HTTPS_PROXY http://b:1',
    ],
    ['a proxy without a scheme', { HTTPS_PROXY: 'a:3128' }, 'HTTPS_PROXY http://a:3128'],
    ['an exception for the panel', { HTTPS_PROXY: 'http://a:1', NO_PROXY: 'panel.example.com' }, undefined],
    ['an empty variable', { HTTPS_PROXY: '' }, undefined],
  ])('from the environment with %s', (_what, variables, expected) => {
    setProxyVariables(variables);
    expect(shown(PANEL)).toBe(expected);
  });

  it('is HTTP_PROXY for plain http', () => {
    vi.stubEnv('HTTPS_PROXY', 'http://a:1');
    vi.stubEnv('HTTP_PROXY', 'http://b:1');
    expect(shown(PLAIN)).toBe('HTTP_PROXY http://b:1');
  });

  it.each(['localhost', 'panel.localhost', '127.0.0.1', '[::1]', '169.254.1.1'])(
    'is none for %s, a local host, unless it is configured',
    (host) => {
      vi.stubEnv('HTTPS_PROXY', 'http://a:1');
      expect(shown(`https://${host}`)).toBeUndefined();
      expect(shown(`https://${host}`, 'http://b:1')).toBe('proxy_url http://b:1');
    },
  );
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
    expect(shown(PANEL, proxyUrl)).toBe('proxy_url http://a:1');
  });

  it('are redacted: the password, encoded or not, a username that stands alone, and the header', () => {
    for (const login of ['me:p%40ss%20w%C3%B6rd', 'token-alone']) proxyFor(PANEL, `http://${login}@a:1`);
    const header = Buffer.from('me:p@ss wörd').toString('base64');
    expect(printable(`me, p@ss wörd, p%40ss%20w%C3%B6rd, ${header}, token-alone`)).toBe(
      `me${', <secret>'.repeat(4)}`,
    );
  });
});

describe('an invalid proxy address', () => {
  it.each(['http://me:secret@', 'socks5://me:secret@a:1'])(
    '%s is rejected with a message without the password',
    (value) => {
      vi.stubEnv('HTTPS_PROXY', value);
      const message =
        '`HTTPS_PROXY` is not the URL of a proxy: expected the form http://proxy.example.com:3128';
      expect(() => proxyFor(PANEL, undefined)).toThrow(new CodedError(OWN_CODES.proxy, message));
    },
  );
});

describe('a proxy that responds with an error of its own', () => {
  it.each([
    [407, 'set its username and password in `https_proxy`'],
    [401, 'set its username and password in `https_proxy`'],
    [403, 'check what the proxy allows and can reach'],
    [503, 'check what the proxy allows and can reach'],
  ])('%i is named with its setting, and without its password', (status, advice) => {
    vi.stubEnv('https_proxy', 'http://me:secret@a:1');
    const proxy = proxyFor(PANEL, undefined);
    const words = `the proxy http://a:1 rejected node:8080 (${status}): ${advice}`;
    expect(proxy && proxyRefused(proxy, 'node:8080', status).message).toBe(words);
  });
});
