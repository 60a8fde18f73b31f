import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  CIPHER_LIST,
  parseWebConfig,
  resolveWebConfig,
} from '../../../../src/http/web-config/load-web-config.ts';
import { formatIssues } from '../../../../src/yaml/issues.ts';

const HASH = `$2y$10$${'a'.repeat(53)}`;

function parse(yaml: string, env: Record<string, string> = {}) {
  return parseWebConfig(yaml, 'web.yml', env);
}

/** The settings in a valid file. These strings are its certificate, key and authorities. */
async function settingsOf(yaml: string, env: Record<string, string> = {}) {
  const { settings, issues } = await parse(yaml, env);
  expect(formatIssues(issues)).toBe('');
  if (settings === undefined) throw new Error('no settings');
  const tls = settings.tls_server_config;
  const files = { cert_file: 'CERT', key_file: 'KEY', client_ca_file: 'CA' };
  return resolveWebConfig({ ...settings, tls_server_config: tls && { ...tls, ...files } });
}

test('blank settings are ignored', async () => {
  const yaml = 'http_server_config: { http2: , headers: { X-Frame-Options: "" } }\nrate_limit:';
  expect(await settingsOf(yaml)).toEqual({ users: new Map(), headers: {} });
  expect((await parse(yaml)).warnings).toEqual([]);
});

describe('a file that protects nothing is rejected', () => {
  const EMPTY =
    /^web\.yml:1:1: expected `tls_server_config`, `basic_auth_users` or other settings: an empty web configuration protects nothing; add settings, or start without --web\.config\.file$/;
  const NO_USERS =
    /^web\.yml:\d+:\d+: basic_auth_users: expected at least one username with a bcrypt hash: an empty section would disable authentication; to disable it on purpose, remove the section$/;

  test.each([
    ['an empty file', '', EMPTY],
    ['a comment only', '# nothing yet\n', EMPTY],
    ['empty sections', 'tls_server_config:\nhttp_server_config:\nrate_limit:', EMPTY],
    ['empty maps', 'tls_server_config: {}\nrate_limit: {}', EMPTY],
    ['blank values', 'tls_server_config: { cert_file: "", key_file: "", client_ca_file: }', EMPTY],
    ['users without a value', 'basic_auth_users:', NO_USERS],
    ['users as an empty map', 'basic_auth_users: {}', NO_USERS],
    ['users as an empty string', 'basic_auth_users: ""', NO_USERS],
    ['users from an empty variable', 'basic_auth_users: ${USERS}', NO_USERS],
    [
      'users without a value beside TLS',
      'tls_server_config: { cert_file: c, key_file: k }\nbasic_auth_users:',
      NO_USERS,
    ],
  ])('%s', async (_, yaml, words) => {
    const { settings, issues } = await parse(yaml, { USERS: '' });
    expect(formatIssues(issues)).toMatch(words);
    expect(settings).toBeUndefined();
  });
});

test('every supported setting is parsed', async () => {
  const settings = await settingsOf(`
tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  min_version: TLS12
  max_version: TLS12
http_server_config:
  headers:
    Strict-Transport-Security: max-age=31536000
    X-Content-Type-Options: nosniff
    X-Frame-Options: deny
    X-XSS-Protection: "1"
    Content-Security-Policy: "default-src 'self'"
basic_auth_users:
  alice: ${HASH}
  "bob builder": ${HASH}
`);
  expect(settings).toEqual({
    tls: {
      context: {
        cert: 'CERT',
        key: 'KEY',
        ca: 'CA',
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.2',
        ciphers: CIPHER_LIST,
      },
      clientCertificate: 'required',
      isVerified: true,
    },
    users: new Map([
      ['alice', HASH],
      ['bob builder', HASH],
    ]),
    headers: {
      'Strict-Transport-Security': 'max-age=31536000',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'deny',
      'X-XSS-Protection': '1',
      'Content-Security-Policy': "default-src 'self'",
    },
  });
});

test('the examples in the docs are valid: passwords alone, and together with TLS', async () => {
  const page = readFileSync('docs/web-config.md', 'utf8');
  const [users = '', tls = ''] = [...page.matchAll(/```yaml\n([^`]+)```/g)].map(([, text]) => text);
  const alone = await settingsOf(users);
  expect([...alone.users.keys()]).toEqual(['prometheus']);
  expect(alone.tls).toBeUndefined();
  const both = `${tls}${users}`;
  expect(await settingsOf(both)).toMatchObject({
    ...alone,
    tls: { clientCertificate: 'required', isVerified: true },
  });
  expect((await parse(both)).warnings).toEqual([]);
});

test.each([
  ['NoClientCert', 'no', false],
  ['RequestClientCert', 'optional', false],
  ['RequireAnyClientCert', 'required', false],
  ['RequireClientCert', 'required', false],
  ['VerifyClientCertIfGiven', 'optional', true],
])('client_auth_type %s is parsed', async (type, clientCertificate, isVerified) => {
  const ca = isVerified ? ', client_ca_file: a' : '';
  const yaml = `tls_server_config: { cert_file: c, key_file: k, client_auth_type: ${type}${ca} }`;
  expect((await settingsOf(yaml)).tls).toMatchObject({ clientCertificate, isVerified });
});

const PAIR = 'cert_file: c, key_file: k';
const VERIFY = 'client_auth_type: RequireAndVerifyClientCert';
const NO_TYPE =
  'expected `client_auth_type` as well, such as RequireAndVerifyClientCert: without it, clients are not asked for a certificate';

test.each<[string, string[]]>([
  ['[]', ['1:1: expected a map with tls_server_config, basic_auth_users and others, got an empty list']],
  [
    'tls_config: {}',
    ['1:1: unknown key, expected one of tls_server_config, http_server_config, basic_auth_users, rate_limit'],
  ],
  ['basic_auth_user: { a: b }', ['1:1: basic_auth_user: unknown key, did you mean basic_auth_users?']],
  [
    'tls_server_config: { certfile: }',
    [
      "1:20: tls_server_config.key_file: is missing, expected a file with the certificate's private key",
      '1:22: tls_server_config.certfile: unknown key, did you mean cert_file?',
    ],
  ],
  [
    'tls_server_config: { min_version: TLS13 }',
    [
      "1:20: tls_server_config.cert_file: is missing, expected a file with the server's certificate",
      "1:20: tls_server_config.key_file: is missing, expected a file with the certificate's private key",
    ],
  ],
  [
    `tls_server_config: { ${PAIR}, client_ca_file: a }`,
    [`1:49: tls_server_config.client_ca_file: ${NO_TYPE}`],
  ],
  [
    `tls_server_config: { ${PAIR}, ${VERIFY} }`,
    [
      `1:67: tls_server_config.client_auth_type: expected \`client_ca_file\` as well, with the CA that signs your clients' certificates, got "RequireAndVerifyClientCert"`,
    ],
  ],
  [
    `tls_server_config: { ${PAIR}, client_auth_type: Verify }`,
    [
      '1:67: tls_server_config.client_auth_type: expected one of NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert, RequireClientCert, got "Verify"',
    ],
  ],
  [
    `tls_server_config: { ${PAIR}, min_version: TLS13, max_version: TLS12 }`,
    ['1:82: tls_server_config.max_version: expected `min_version` or a later version, got "TLS12"'],
  ],
  [
    `tls_server_config: { ${PAIR}, min_version: TLS10, max_version: TLS11 }`,
    ['1:82: tls_server_config.max_version: expected one of TLS12, TLS13, got "TLS11"'],
  ],
  [
    `tls_server_config: { ${PAIR}, min_version: SSL3 }`,
    ['1:62: tls_server_config.min_version: expected one of TLS10, TLS11, TLS12, TLS13, got "SSL3"'],
  ],
  [
    'http_server_config: { headers: { Server: mine } }',
    [
      '1:34: http_server_config.headers: unknown key, expected one of Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options, X-XSS-Protection, Content-Security-Policy',
    ],
  ],
  [
    'http_server_config: { headers: { X-Frame-Options: DENY } }',
    ['1:51: http_server_config.headers["X-Frame-Options"]: expected one of deny, sameorigin, got "DENY"'],
  ],
  [
    'http_server_config: { headers: { X-XSS-Protection: "1\\r\\nSet-Cookie: a" } }',
    [
      '1:52: http_server_config.headers["X-XSS-Protection"]: expected a header\'s value, got "1\\r\\nSet-Cookie: a"',
    ],
  ],
  [
    `tls_server_config: { ${PAIR}, curve_preferences: [X25519] }`,
    [
      '1:49: tls_server_config.curve_preferences: not supported, and ignoring it would be less secure: remove it to use the curves of Node.js',
    ],
  ],
  [
    `basic_auth_users: { "a:b": ${HASH} }`,
    [
      '1:21: basic_auth_users: expected a username without a colon, because clients send a colon between username and password',
    ],
  ],
])('%s is rejected with its position', async (yaml, expected) => {
  const { settings, issues } = await parse(yaml);
  expect(settings).toBeUndefined();
  expect(
    formatIssues(issues)
      .replaceAll(/^web\.yml:/gm, '')
      .split('\n'),
  ).toEqual(expected);
});

test.each([
  'basic_auth_users: { alice: TopSecret }',
  'basic_auth_users: { alice: [TopSecret] }',
  'basic_auth_users: { alice: { TopSecret: a } }',
  `basic_auth_users: { alice: $2y$03$TopSecret${'a'.repeat(44)} }`,
  'basic_auth_users: TopSecret\n  alice: b',
  'tls_server_config: { cert: a, key: [TopSecret] }',
  'tls_server_config: { cert: a, key: { b: TopSecret } }',
  'tls_server_config: { cert: a, key_file: b, key: TopSecret }',
  'tls_server_config: { cert: a, key: "TopSecret ${NOT_SET}" }',
  'basic_auth_users: { alice: "${TopSecret}" }',
  'basic_auth_users: { alice: { TopSecret: a, TopSecret: b } }',
])('%s is rejected without showing the secret', async (yaml) => {
  const { issues } = await parse(yaml);
  expect(issues.length).toBeGreaterThan(0);
  expect(formatIssues(issues)).not.toContain('TopSecret');
});

test.each([
  [
    `basic_auth_users: { a: ${HASH} }`,
    '1:1: basic_auth_users: passwords are sent in clear text, because there is no `tls_server_config`',
  ],
  ['rate_limit: { interval: 1s }', '1:1: rate_limit: has no effect: requests are not limited'],
  [
    'http_server_config: { http2: false }',
    '1:23: http_server_config.http2: has no effect: clients use HTTP/1.1',
  ],
  [
    'http_server_config: { headers: { X-Frame-Options: sameorigin } }',
    '1:34: http_server_config.headers["X-Frame-Options"]: has no effect: the exporter never allows its pages in frames',
  ],
])('%s gives a warning', async (yaml, warning) => {
  const { settings, warnings } = await parse(yaml);
  expect(settings).toBeDefined();
  expect(formatIssues(warnings)).toBe(`web.yml:${warning}`);
});
