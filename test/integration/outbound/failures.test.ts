import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { type Authority, type Certificate, createAuthority } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { hasProgram } from '../../support/has-program.ts';
import { OpenSockets } from '../../support/open-sockets.ts';
import { setProxyVariables } from '../../support/proxy-variables.ts';
import { everythingSaid, expectLine, type PanelOnStage, Stage, tlsOf } from './stage.ts';

const hasProxy = hasProgram('tinyproxy');

const NAMES = 'DNS:panel.test,DNS:node.test,IP:127.0.0.1';
const PASSWORD = 'Top.Secret';
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\n\r\n';

const stage = new Stage();
let authority: Authority;
let unknown: Authority;
let good: Certificate;
let trust: string;

beforeAll(async () => {
  [authority, unknown] = await Promise.all([createAuthority(), createAuthority()]);
  good = await authority.issue(NAMES);
  trust = `tls_config: { ca_file: "${authority.file}" }`;
});

afterAll(() => Promise.all([authority.end(), unknown.end()]));

beforeEach(() => setProxyVariables());

afterEach(() => stage.clear());

/** A port that accepts connections. It responds to data with a text, by closing, or not at all. */
async function plainPort(answer?: string): Promise<{ readonly url: string; readonly open: OpenSockets }> {
  const open = new OpenSockets();
  const server = createServer((socket) => {
    open.keep(socket);
    socket.on('data', () => {
      if (answer !== undefined) socket.end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stage.later(() => open.close(server));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, open };
}

const as = (credentials: string, url: string) => url.replace('//', `//${credentials}@`);

/** A failure of a proxy for `panel`. */
interface ProxyTrouble {
  readonly what: string;
  readonly arrange: (panel: PanelOnStage) => Promise<string>;
  /** The expected message. SETTING stands for the setting that contains the proxy's address. */
  readonly words: RegExp;
}

const user = { name: 'me', password: PASSWORD };

const PROXY_TROUBLES: readonly ProxyTrouble[] = [
  {
    what: "has a name that can't be resolved",
    arrange: async () => `http://me:${PASSWORD}@proxy.invalid:3128`,
    words: /the proxy http:\/\/proxy\.invalid:3128 can't be used: .*\w+ proxy\.invalid: check `SETTING` and/,
  },
  {
    what: 'rejects the user name and password',
    arrange: async () => as(`you:${PASSWORD}`, (await stage.proxy({ user })).url),
    words: /the proxy \S+ rejected \S+ \((?:401|407)\): set its username and password in `SETTING`/,
  },
  {
    what: 'refuses the tunnel',
    arrange: async () => as(`me:${PASSWORD}`, (await stage.proxy({ onlyPort: 443 })).url),
    words: /the proxy \S+ rejected \w+\.test:\d+ \(403\): check what the proxy allows/,
  },
  {
    what: 'hangs up',
    arrange: async () => as(`me:${PASSWORD}`, (await plainPort('')).url),
    words: /the proxy \S+ can't be used: .*: check `SETTING` and/,
  },
  {
    what: 'has a certificate of an unknown CA',
    arrange: async () => {
      const certificate = await unknown.issue('IP:127.0.0.1');
      return as(`me:${PASSWORD}`, (await stage.proxy({ certificate })).url);
    },
    words: /the proxy https:\S+ can't be used: .*: check `SETTING` and `tls_config\.ca_file`/,
  },
  {
    what: "doesn't speak TLS",
    arrange: async () => as(`me:${PASSWORD}`, (await plainPort(BAD_REQUEST)).url.replace('http:', 'https:')),
    words: /the proxy https:\S+ can't be used: the port doesn't use TLS \(\w+\): check `SETTING` and/,
  },
];

const withSetting = ({ source }: RegExp, setting: string) => new RegExp(source.replace('SETTING', setting));

describe.skipIf(!hasProxy).each(PROXY_TROUBLES)('a proxy that $what', ({ arrange, words }) => {
  it('is named if it is between the exporter and the panel', async () => {
    const panel = await stage.panel(tlsOf(good));
    const address = await arrange(panel);
    const exporter = await stage.exporter(panel, [trust, `proxy_url: ${address}`]);
    const line = await expectLine(exporter, withSetting(words, 'proxy_url'));
    expect(line).toContain(`panel main (${panel.url}): ${CAUSES.proxy.title}: GET `);
    await exporter.until('gameserver_panel_up', { panel: 'main' }, 0);
    expect(panel.calls()).toBe(0);
    expect(await everythingSaid(exporter)).not.toContain(PASSWORD);
  });
});

describe('a proxy that accepts a tunnel and never responds', () => {
  it('is named if it is between the exporter and the nodes, and no connections pile up', async () => {
    const panel = await stage.panel(tlsOf(good), false);
    panel.sendSocketsTo('node.test');
    const proxy = await plainPort();
    setProxyVariables({ HTTPS_PROXY: proxy.url });
    const exporter = await stage.exporter(panel, [trust, 'connect_timeout: 10s']);
    await expectLine(
      exporter,
      /the proxy http:\S+ can't be used: it did not respond in time \(ETIMEDOUT\): check `HTTPS_PROXY`/,
    );
    await eventually(() => expect(proxy.open.total).toBeGreaterThan(6));
    await eventually(() => expect(proxy.open.size).toBeLessThan(3));
  });

  it('keeps no connection of a socket that was given up', async () => {
    const panel = await stage.panel(tlsOf(good), false);
    panel.sendSocketsTo('node.test');
    const proxy = await plainPort();
    setProxyVariables({ HTTPS_PROXY: proxy.url });
    const exporter = await stage.exporter(panel, [trust, 'connect_timeout: 1h']);
    await eventually(() => expect(proxy.open.size).toBe(2));
    await exporter.stop();
    await eventually(() => expect(proxy.open.size).toBe(0));
  });
});
