import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { hasProgram } from '../../support/has-program.ts';
import { startNameService } from '../../support/name-service.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';
import { expectLine, SPEED_OF_RESPONSES, Stage, tlsOf } from './stage.ts';

const hasProxy = hasProgram('tinyproxy');

const stage = new Stage(SPEED_OF_RESPONSES);
let authority: Authority;
let certificate: Certificate;
let trust: string;

beforeAll(async () => {
  authority = await createAuthority();
  certificate = await authority.issue('DNS:panel.test,DNS:node.test');
  trust = `tls_config: { ca_file: "${authority.file}" }`;
});

afterAll(() => authority.end());

beforeEach(() => setProxyVariables());

afterEach(() => stage.clear());

describe.skipIf(!hasProxy)('a panel behind a proxy', () => {
  it.each(['localhost', '169.254.169.254'])(
    "can't make the proxy connect to %s, a loopback or link-local address",
    async (host) => {
      const panel = await stage.panel(tlsOf(certificate));
      panel.sendSocketsTo(host);
      const proxy = await stage.proxy();
      const exporter = await stage.exporter(panel, [trust, `proxy_url: ${proxy.url}`]);
      await expectLine(exporter, /a loopback or link-local address, but the panel is on another machine/);
      await exporter.until('gameserver_collection_up', { server: 'survival' }, 1);
      expect(new Set(await proxy.requests())).toEqual(new Set([`CONNECT ${panel.host}`]));
    },
  );

  it("can't bypass the proxy, by NO_PROXY, with a name that resolves to this machine", async () => {
    const names = startNameService();
    names.add('node.test');
    try {
      const panel = await stage.panel(tlsOf(certificate));
      const proxy = await stage.proxy();
      setProxyVariables({ HTTPS_PROXY: proxy.url, NO_PROXY: 'node.test' });
      const exporter = await stage.exporter(panel, [trust]);
      await expectLine(exporter, /node\.test.+ resolves to 127\.0\.0\.1.*add the host to `socket_hosts`/);
      expect(new Set(await proxy.requests())).toEqual(new Set([`CONNECT ${panel.host}`]));
    } finally {
      names.end();
    }
  });
});
