import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_STATES } from '../../src/domain/power-states.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { basic, get } from '../integration/http/secure-client.ts';
import { type Authority, type Certificate, createAuthority } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { configFor } from '../support/exporter.ts';
import { hasProgram } from '../support/has-program.ts';
import type { RunningProcess } from '../support/process.ts';
import { configFile, endPrograms, runProgram } from '../support/program.ts';
import { type PrometheusUnderTest, startPrometheus } from '../support/prometheus.ts';

const hasPrometheus = hasProgram('prometheus');

const PASSWORD = 'TopSecretOfAlice';

let authority: Authority;
let server: Certificate;
let client: Certificate;
let ca: string;
let panel: Simulator;
let folder: string;
let web: string;

beforeAll(async () => {
  authority = await createAuthority();
  ca = await readFile(authority.file, 'utf8');
  server = await authority.issue('IP:127.0.0.1,IP:::1');
  client = await authority.issue('DNS:prometheus.example.com');
  panel = await startSimulator({ servers: [{ name: 'survival' }] });
  folder = await mkdtemp(join(tmpdir(), 'secure-web-'));
});

afterAll(async () => {
  await Promise.all([authority.end(), panel.stop(), rm(folder, { recursive: true })]);
});

const prometheuses: PrometheusUnderTest[] = [];
afterEach(async () => {
  await Promise.all(prometheuses.splice(0).map((prometheus) => prometheus.stop()));
  await endPrograms();
});

/**
 * Writes a web configuration with TLS, client certificates and a password, and the files that it
 * names.
 */
async function writeWebConfig(): Promise<void> {
  web = join(folder, 'web.yml');
  await write({
    'web.yml': [
      'tls_server_config:',
      '  cert_file: server.crt',
      '  key_file: server.key',
      '  client_auth_type: RequireAndVerifyClientCert',
      '  client_ca_file: ca.crt',
      '  min_version: TLS13',
      'http_server_config:',
      '  headers: { Strict-Transport-Security: max-age=31536000 }',
      'basic_auth_users:',
      `  alice: ${hashSync(PASSWORD, 8).replace('$2b$', '$2y$')}`,
    ].join('\n'),
    'server.crt': server.cert,
    'server.key': server.key,
    'ca.crt': ca,
    'client.crt': client.cert,
    'client.key': client.key,
    password: PASSWORD,
  });
}

async function write(contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(join(folder, `${name}.new`), content);
    await rename(join(folder, `${name}.new`), join(folder, name));
  }
}

async function serve(...flags: string[]): Promise<{ process: RunningProcess; url: string }> {
  const config = await configFile(configFor(panel));
  const listen = ['--web.listen-address', '127.0.0.1:0'];
  const process = runProgram(['serve', '--config', config, ...listen, '--log.format', 'json', ...flags]);
  const [, url = ''] = await process.printed(/serving metrics on (https?:\S+)\/metrics/);
  return { process, url };
}

const TLS = (names: readonly string[]) => [
  'scheme: https',
  'tls_config:',
  `  ca_file: ${authority.file}`,
  ...names.map((name) => `  ${name}_file: ${join(folder, `client.${name === 'cert' ? 'crt' : name}`)}`),
];
const PASSWORDS = () => ['basic_auth:', '  username: alice', `  password_file: ${join(folder, 'password')}`];

describe.skipIf(!hasPrometheus)('a real Prometheus', () => {
  async function scrapes(settings: readonly string[], url: string) {
    const prometheus = await startPrometheus(new URL(url).host, settings);
    prometheuses.push(prometheus);
    const state = async () => {
      const [target] = await prometheus.targets();
      return { health: target?.health, error: target?.lastError ?? '' };
    };
    return { prometheus, state };
  }

  it('scrapes over TLS with a client certificate and a password, and not without one of them', async () => {
    await writeWebConfig();
    const { url } = await serve('--web.config.file', web);
    const [good, noCertificate, noPassword, clearText] = await Promise.all([
      scrapes([...TLS(['cert', 'key']), ...PASSWORDS()], url),
      scrapes([...TLS([]), ...PASSWORDS()], url),
      scrapes(TLS(['cert', 'key']), url),
      scrapes(PASSWORDS(), url),
    ]);
    await eventually(async () => expect(await good.state()).toEqual({ health: 'up', error: '' }));
    const down = (error: RegExp) => ({ health: 'down', error: expect.stringMatching(error) as string });
    await eventually(async () => {
      expect(await noCertificate.state()).toEqual(down(/EOF|reset|tls|closed/));
      expect(await noPassword.state()).toEqual(down(/401 Unauthorized/));
      expect(await clearText.state()).toEqual(down(/EOF|reset|malformed|HTTPS/));
    });
    const found = await good.prometheus.query('gameserver_state{server="survival"}');
    expect(found).toHaveLength(SERVER_STATES.length);
  });
});

describe('the program', () => {
  it('listens on every address, and prints each with its scheme', async () => {
    await writeWebConfig();
    const { process, url } = await serve('--web.config.file', web, '--web.listen-address', '[::1]:0');
    await process.printed(/serving metrics on https:\/\/\[::1\]:\d+\/metrics/);
    const own = { ca, cert: client.cert, key: client.key, headers: basic('alice', PASSWORD) };
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    const { status, headers } = await get(`${url}/-/healthy`, own);
    expect([status, headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
  });

  it('ends with 1 for a web configuration that is missing', async () => {
    const missing = ['--web.config.file', join(folder, 'missing.yml')];
    const config = await configFile(configFor(panel));
    const listen = ['--web.listen-address', '127.0.0.1:0'];
    const process = runProgram(['serve', '--config', config, ...listen, ...missing]);
    expect(await process.ended).toMatchObject({ code: 1 });
    expect(process.stderr).toMatch(
      /^error: \S+missing\.yml: can't be read: no such file; correct --web\.config\.file\n$/,
    );
    const check = runProgram(['check', config, ...missing]);
    expect(await check.ended).toMatchObject({ code: 1 });
    expect(check.stderr).toContain(process.stderr.replace('error: ', ''));
  });
});
