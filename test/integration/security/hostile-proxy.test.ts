import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OWN_CODES } from '../../../src/diagnosis/transport-errors.ts';
import { proxyFor } from '../../../src/panel/proxy.ts';
import { ProxyPool } from '../../../src/panel/proxy-pool.ts';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { type EndlessProxy, startEndlessProxy } from '../../support/endless-proxy.ts';
import { eventually, LONGEST_TEST_MS } from '../../support/eventually.ts';
import { fastClock } from '../../support/exporter.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';
import { watchTurns } from '../../support/turns.ts';
import { expectLine, Stage, tlsOf } from '../outbound/stage.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const wordsFor = (setting: string) =>
  new RegExp(`the proxy \\S+ can't be used: .*: check .${setting}. and that an HTTP proxy listens there`);

const REFUSED = /can't be used: (?!it did not respond)/;
/** The error after a response that the parser skips. Only the timeout ends it. */
const SKIPPED = /can't be used: it did not respond in time/;

/** Data that a proxy sends endlessly, and the resulting error. */
const FORMS: readonly (readonly [string, string, string, RegExp])[] = [
  ['headers', OK, 'X-A: b\r\n', REFUSED],
  ['one header name', OK, 'a', REFUSED],
  ['one header value', `${OK}X-A: `, 'a', REFUSED],
  ['spaces before a header value', `${OK}X-A:`, ' ', SKIPPED],
  ['continued header lines', `${OK}X-A: b`, '\r\n ', REFUSED],
  ['text after the status', 'HTTP/1.1 200 ', 'a', SKIPPED],
  ['empty lines before the response', '', '\r\n', SKIPPED],
  ['interim responses', '', 'HTTP/1.1 103 Early Hints\r\n\r\n', /\(103\)/],
  ['bytes', '', '\u0000', REFUSED],
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

/** Opens a tunnel through the proxy. By default, the timeout is never reached. */
function open({ url }: EndlessProxy, path: string, timeout = LONGEST_TEST_MS) {
  const proxy = proxyFor('https://node.test', url);
  if (proxy === undefined) throw new Error('expected a proxy');
  const options = { clock: fastClock(), connect: { timeout } };
  return new ProxyPool(proxy, options).connect({ path, headers: proxy.headers });
}

/** Asserts that the exporter closed all connections, because the proxy closes none. */
const expectAllCut = ({ connections }: EndlessProxy) => eventually(() => expect(connections.size).toBe(0));

describe('a proxy whose response to CONNECT is too long', () => {
  it.each(FORMS)(
    'because of endless %s causes an error, and is disconnected',
    async (_what, start, more, words) => {
      const hostile = await endless(start, more);
      const tunnel = open(hostile, 'node.test:443', words === SKIPPED ? 300 : undefined);
      const error: unknown = await tunnel.catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: OWN_CODES.proxy });
      expect((error as Error).message).toMatch(words);
      await expectAllCut(hostile);
    },
  );

  it.each([
    ['headers', OK, 'X-A: b\r\n'],
    ['empty lines', '', '\r\n'],
  ])(
    'because of endless %s, between the exporter and the sockets of 12 servers, is named in the error, and leaves the event loop free',
    async (_what, start, more) => {
      const servers = Array.from({ length: 12 }, (_, index) => ({ name: `server-${index}` }));
      const panel = await stage.panel({ ...tlsOf(certificate), servers }, false);
      panel.sendSocketsTo('node.test');
      const hostile = await endless(start, more);
      setProxyVariables({ HTTPS_PROXY: hostile.url });
      const longestTurnMs = watchTurns();
      const exporter = await stage.exporter(panel, [trust, 'connect_timeout: 20s']);
      const line = await expectLine(exporter, wordsFor('HTTPS_PROXY'));
      expect(line).toContain('"cause":"node_proxy"');
      await exporter.until('gameserver_collection_up', { server: 'server-11' }, 1);
      expect(longestTurnMs()).toBeLessThan(1_000);
    },
  );
});

describe('a tunnel', () => {
  it('starts with what the proxy sent together with its response', async () => {
    const hostile = await endless(`${OK}\r\nhello `, 'hello ');
    const { socket } = await open(hostile, '[::1]:443');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(chunk.toString()).toMatch(/^hello hello /);
  });
});
