import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { type NameService, startNameService } from '../../support/name-service.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';
import { everythingSaid, expectLine, SPEED_OF_RESPONSES, Stage, streaming, tlsOf } from './stage.ts';

const HERE = 'IP:127.0.0.1';

const stage = new Stage(SPEED_OF_RESPONSES);
let authority: Authority;
let stranger: Authority;
let good: Certificate;

beforeAll(async () => {
  [authority, stranger] = await Promise.all([createAuthority(), createAuthority()]);
  good = await authority.issue(HERE);
});

afterAll(() => Promise.all([authority.end(), stranger.end()]));

beforeEach(() => setProxyVariables());

afterEach(() => stage.clear());

/** A `tls_config` with these settings. */
const tlsConfig = (settings: Readonly<Record<string, string | boolean>>) =>
  `tls_config: { ${Object.entries(settings)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')} }`;

const socketsOpened = (panel: Awaited<ReturnType<Stage['panel']>>) =>
  panel.simulator.record.sockets(panel.simulator.server('survival').uuid).opened;

describe('ca_file', () => {
  it('is trusted for calls and sockets', async () => {
    const panel = await stage.panel(tlsOf(good), false);
    await streaming(await stage.exporter(panel, [tlsConfig({ ca_file: authority.file })]));
  });
});

describe('cert_file and key_file', () => {
  /** A panel and nodes that require a client certificate of another authority. */
  async function strictPanel() {
    const ca = await readFile(stranger.file, 'utf8');
    return stage.panel(tlsOf(good, { ca, requestCert: true }), false);
  }

  async function client(): Promise<string> {
    const { cert, key } = await stranger.issue('DNS:exporter');
    const folder = dirname(stranger.file);
    await Promise.all([
      writeFile(join(folder, 'client.pem'), cert),
      writeFile(join(folder, 'client.key'), key, { mode: 0o600 }),
    ]);
    const [cert_file, key_file] = [join(folder, 'client.pem'), join(folder, 'client.key')];
    return tlsConfig({ ca_file: authority.file, cert_file, key_file });
  }

  it('are presented to the panel and its nodes', async () => {
    const panel = await strictPanel();
    const exporter = await stage.exporter(panel, [await client()]);
    await streaming(exporter);
    const key = await readFile(join(dirname(stranger.file), 'client.key'), 'utf8');
    expect(await everythingSaid(exporter)).not.toContain(key.split('\n')[1]);
  });
});

describe('server_name', () => {
  let names: NameService;

  beforeEach(() => {
    names = startNameService();
    names.add('node.test');
  });

  afterEach(() => names.end());

  it("is the expected name in the panel's certificate, but not in the nodes'", async () => {
    const asked = new Set<string>();
    const SNICallback = (name: string, answer: (error: null) => void) => {
      asked.add(name);
      answer(null);
    };
    const certificate = await authority.issue('DNS:panel.example.com,DNS:node.test');
    const panel = await stage.panel(tlsOf(certificate, { SNICallback }), false);
    panel.sendSocketsTo('node.test');
    const settings = { ca_file: authority.file, server_name: 'panel.example.com' };
    await streaming(await stage.exporter(panel, [tlsConfig(settings)]));
    expect(asked).toEqual(new Set(['panel.example.com', 'node.test']));
  });

  it("doesn't make a node's certificate valid", async () => {
    const panel = await stage.panel(tlsOf(await authority.issue('DNS:panel.example.com')), false);
    panel.sendSocketsTo('node.test');
    const settings = { ca_file: authority.file, server_name: 'panel.example.com' };
    const exporter = await stage.exporter(panel, [tlsConfig(settings)]);
    await expectLine(exporter, /"cause":"node_tls_wrong_name".*ERR_TLS_CERT_ALTNAME_INVALID/);
    expect(socketsOpened(panel)).toBe(0);
  });
});

describe('insecure_skip_verify', () => {
  it('accepts any certificate, for calls and sockets', async () => {
    const panel = await stage.panel(tlsOf(await stranger.issue('DNS:elsewhere.test', 'expired')), false);
    await streaming(await stage.exporter(panel, [tlsConfig({ insecure_skip_verify: true })]));
  });
});
