import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { hasProgram } from '../../support/has-program.ts';
import { type NameService, startNameService } from '../../support/name-service.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';
import { type PanelOnStage, SPEED_OF_RESPONSES, Stage, streaming, tlsOf } from './stage.ts';

const hasProxy = hasProgram('tinyproxy');

const stage = new Stage(SPEED_OF_RESPONSES);
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

const tunnels = ({ port }: PanelOnStage) => [`CONNECT panel.test:${port}`, `CONNECT node.test:${port}`];

describe.skipIf(!hasProxy)('proxy_url', () => {
  it('routes calls and sockets through the proxy, which resolves their names', async () => {
    const panel = await stage.panel(tlsOf(certificate));
    const proxy = await stage.proxy();
    await streaming(await stage.exporter(panel, [trust, `proxy_url: ${proxy.url}`]));
    const requests = await proxy.requests();
    expect(new Set(requests)).toEqual(new Set(tunnels(panel)));
    expect(requests.filter((line) => line.includes('node.test'))).toHaveLength(2);
  });

  it('may contain a user name and password, also percent-encoded', async () => {
    const panel = await stage.panel(tlsOf(certificate));
    const proxy = await stage.proxy({ user: { name: 'prometheus', password: 'pass.word-1' } });
    const address = proxy.url.replace('//', '//prometheus:%70ass%2Eword-1@');
    await streaming(await stage.exporter(panel, [trust, `proxy_url: ${address}`]));
    expect(new Set(await proxy.requests())).toEqual(new Set(tunnels(panel)));
  });

  it('may use TLS, with a certificate of the same private CA', async () => {
    const panel = await stage.panel(tlsOf(certificate));
    const proxy = await stage.proxy({ certificate });
    const warnings: Error[] = [];
    process.on('warning', (warning) => warnings.push(warning));
    await streaming(await stage.exporter(panel, [trust, `proxy_url: ${proxy.url}`]));
    expect(new Set(await proxy.requests())).toEqual(new Set(tunnels(panel)));
    expect(warnings.filter(({ message }) => message.includes('ServerName'))).toEqual([]);
  });

  it('receives plain calls in absolute form, and tunnels for plain sockets', async () => {
    const panel = await stage.panel();
    const proxy = await stage.proxy();
    await streaming(await stage.exporter(panel, [`proxy_url: ${proxy.url}`, 'allow_insecure: true']));
    const requests = await proxy.requests();
    expect(requests).toContain(`CONNECT node.test:${panel.port}`);
    const calls = requests.filter((line) => line.startsWith(`GET ${panel.url}/api/client`));
    expect(calls).toHaveLength(panel.calls());
  });

  it('opens tunnels for plain calls, too, if it uses TLS', async () => {
    const panel = await stage.panel();
    const proxy = await stage.proxy({ certificate });
    const settings = [trust, `proxy_url: ${proxy.url}`, 'allow_insecure: true'];
    await streaming(await stage.exporter(panel, settings));
    expect(new Set(await proxy.requests())).toEqual(new Set(tunnels(panel)));
  });

  it('applies to a panel on this machine too, and to nodes given by address', async () => {
    const panel = await stage.panel(tlsOf(certificate), false);
    const proxy = await stage.proxy();
    await streaming(await stage.exporter(panel, [trust, `proxy_url: ${proxy.url}`]));
    expect(new Set(await proxy.requests())).toEqual(new Set([`CONNECT ${panel.host}`]));
  });
});

describe.skipIf(!hasProxy)("the environment's proxy", () => {
  let names: NameService;

  beforeEach(() => {
    names = startNameService();
  });

  afterEach(() => names.end());

  it.each(['HTTP_PROXY'])('in %s is used for plain calls and sockets', async (variable) => {
    const panel = await stage.panel();
    const proxy = await stage.proxy();
    setProxyVariables({ [variable]: proxy.url, HTTPS_PROXY: 'http://127.0.0.1:1' });
    await streaming(await stage.exporter(panel, ['allow_insecure: true']));
    const requests = await proxy.requests();
    expect(requests).toContain(`CONNECT node.test:${panel.port}`);
    expect(requests.filter((line) => line.startsWith('GET '))).toHaveLength(panel.calls());
  });

  it.each([['NO_PROXY', 'node.test', ['panel.test']]])(
    'is not used for what %s contains: %s',
    async (variable, exception, proxied) => {
      const panel = await stage.panel(tlsOf(certificate));
      const proxy = await stage.proxy();
      setProxyVariables({ HTTPS_PROXY: proxy.url, [variable]: exception });
      for (const name of ['panel.test', 'node.test']) {
        if (!proxied.includes(name)) names.add(name);
      }
      await streaming(await stage.exporter(panel, [trust, 'socket_hosts: [node.test]']));
      const expected = proxied.map((name) => `CONNECT ${name}:${panel.port}`);
      expect(new Set(await proxy.requests())).toEqual(new Set(expected));
    },
  );
});
