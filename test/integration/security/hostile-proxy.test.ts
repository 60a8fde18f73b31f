import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../src/domain/clock.ts';
import { openTunnel, ProxyError, proxyFor } from '../../../src/panel/proxy.ts';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { type EndlessProxy, startEndlessProxy } from '../../support/endless-proxy.ts';
import { expectLine, Stage, setProxyVariables, tlsOf } from '../outbound/stage.ts';

const MIB = 1_048_576;
const OK = 'HTTP/1.1 200 OK\r\n';
const TOO_LONG =
  /the proxy \S+ responded to CONNECT with headers of more than 16 KiB: check SETTING, and that an HTTP proxy listens there/;
const wordsFor = (setting: string) => new RegExp(TOO_LONG.source.replace('SETTING', setting));

const UNREACHABLE = /the proxy \S+ can't be reached: .*: check proxy_url/;

/** What a proxy may send endlessly, and the resulting error. */
const FORMS: readonly (readonly [string, string, string, RegExp])[] = [
  ['headers', OK, 'X-A: b\r\n', wordsFor('proxy_url')],
  ['one header name', OK, 'a', wordsFor('proxy_url')],
  ['one header value', `${OK}X-A: `, 'a', wordsFor('proxy_url')],
  ['spaces before a header value', `${OK}X-A:`, ' ', wordsFor('proxy_url')],
  ['continued header lines', `${OK}X-A: b`, '\r\n ', UNREACHABLE],
  ['text after the status', 'HTTP/1.1 200 ', 'a', wordsFor('proxy_url')],
  ['empty lines before the response', '', '\r\n', wordsFor('proxy_url')],
  ['interim responses', '', 'HTTP/1.1 103 Early Hints\r\n\r\n', /\(103\)/],
  ['bytes', '', '\u0000', UNREACHABLE],
];

const stage = new Stage();
let authority: Authority;
let certificate: Certificate;
let trust: string;

beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue('DNS:panel.test,DNS:node.test,IP:127.0.0.1');
  trust = `tls_config: { ca_file: "${authority.file}" }`;
});

afterAll(() => authority.end());

beforeEach(() => setProxyVariables());

afterEach(() => stage.clear());

async function endless(start = OK, more = 'X-A: b\r\n'): Promise<EndlessProxy> {
  const proxy = await startEndlessProxy(start, more);
  stage.later(() => proxy.stop());
  return proxy;
}

/** Every connection was closed long before the attack was over. */
async function expectAllCut(proxy: EndlessProxy): Promise<void> {
  await vi.waitFor(() => expect(proxy.connections.size).toBe(0), 10_000);
  // What the system's buffers took counts as sent.
  for (const bytes of proxy.sent) expect(bytes).toBeLessThan(32 * MIB);
}

describe('a proxy whose response to CONNECT is too long', () => {
  it.each(FORMS)(
    'because of endless %s causes an error, and is disconnected',
    async (_what, start, more, words) => {
      const hostile = await endless(start, more);
      const proxy = proxyFor('https://node.test', hostile.url, () => false);
      if (proxy === undefined) throw new Error('expected a proxy');
      const tunnel = openTunnel(
        proxy,
        { host: 'node.test', port: 443 },
        { clock: new SystemClock(), timeoutMs: 60_000, signal: new AbortController().signal },
      );
      const error: unknown = await tunnel.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(ProxyError);
      expect((error as ProxyError).message).toMatch(words);
      await expectAllCut(hostile);
    },
  );

  it('between the exporter and the panel is named in the error, and costs one call', async () => {
    const panel = await stage.panel(tlsOf(certificate));
    const hostile = await endless();
    const exporter = await stage.exporter(panel, [trust, `proxy_url: ${hostile.url}`]);
    const line = await expectLine(exporter, wordsFor('proxy_url'));
    expect(line).toContain('"cause":"proxy"');
    await exporter.until('gameserver_panel_up', { panel: 'main' }, 0);
    await expectAllCut(hostile);
  });

  it('between the exporter and the sockets of 40 servers is named in the error, and leaves the event loop free', async () => {
    const servers = Array.from({ length: 40 }, (_, index) => ({ name: `server-${index}` }));
    const panel = await stage.panel({ ...tlsOf(certificate), servers }, false);
    panel.sendSocketsTo('node.test');
    const hostile = await endless();
    setProxyVariables({ HTTPS_PROXY: hostile.url });
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const exporter = await stage.exporter(panel, [trust]);
    const line = await expectLine(exporter, wordsFor('HTTPS_PROXY'));
    expect(line).toContain('"cause":"node_proxy"');
    await exporter.until('gameserver_collection_up', { server: 'server-39' }, 1);
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(2_000);
    for (const bytes of hostile.sent) expect(bytes).toBeLessThan(32 * MIB);
  });
});

describe('a tunnel', () => {
  it('starts with what the proxy sent together with its response', async () => {
    const hostile = await endless(`${OK}\r\nhello `, 'hello ');
    const proxy = proxyFor('https://node.test', hostile.url, () => false);
    if (proxy === undefined) throw new Error('expected a proxy');
    const socket = await openTunnel(
      proxy,
      { host: '::1', port: 443 },
      { clock: new SystemClock(), timeoutMs: 60_000, signal: new AbortController().signal },
    );
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(chunk.toString()).toMatch(/^hello hello /);
  });
});
