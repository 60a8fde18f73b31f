import { describe, expect, it } from 'vitest';
import { checkWebRules, findWarnings } from '../../../../src/http/web-config/web-rules.ts';
import type { WebConfigShape } from '../../../../src/http/web-config/web-schema.ts';
import { BROKEN, type KeyPath, type Tree } from '../../../../src/yaml/tree.ts';

const USERS = { basic_auth_users: { alice: 'hash' } };
const PAIR = { cert_file: 'c', key_file: 'k' };
const tls = (changes: Readonly<Record<string, Tree>>) => ({ tls_server_config: { ...PAIR, ...changes } });

/** The paths of the problems, and the part of the setting that each is about. */
const problems = (tree: Tree) => checkWebRules(tree).map(({ path, at }) => [path.join('.'), at]);

describe('a web configuration', () => {
  it.each<[string, Tree]>([
    ['with TLS', tls({})],
    ['with users', USERS],
    ['with a header', { http_server_config: { headers: { 'X-Frame-Options': 'deny' } } }],
    ['that asks for certificates', tls({ client_auth_type: 'RequestClientCert' })],
    ['that verifies certificates', tls({ client_auth_type: 'VerifyClientCertIfGiven', client_ca_file: 'a' })],
    ['with its oldest and newest version', tls({ min_version: 'TLS12', max_version: 'TLS13' })],
    ['with one version', tls({ min_version: 'TLS13', max_version: 'TLS13' })],
    ['with an unknown section, which the schema rejects', { other: {} }],
    ['that is a list', []],
    ['that is a text', 'tls_server_config'],
    ['with users that are a text', { ...tls({}), basic_auth_users: 'alice' }],
    ['with users that are wrong', { basic_auth_users: BROKEN }],
  ])('%s is accepted', (_what, tree) => {
    expect(problems(tree)).toEqual([]);
  });

  it.each<[string, Tree, readonly (readonly [string, string])[]]>([
    ['that is empty', {}, [['', 'key']]],
    ['of empty sections', { rate_limit: {}, http_server_config: {} }, [['', 'key']]],
    ['without users in their section', { ...tls({}), basic_auth_users: {} }, [['basic_auth_users', 'key']]],
    [
      'with a colon in a username',
      { basic_auth_users: { 'a:b': 'h', c: 'h' } },
      [['basic_auth_users.a:b', 'key']],
    ],
    [
      'with an authority, but without asking for certificates',
      tls({ client_ca_file: 'a' }),
      [['tls_server_config.client_ca_file', 'key']],
    ],
    [
      'that verifies certificates if given, without an authority',
      tls({ client_auth_type: 'VerifyClientCertIfGiven' }),
      [['tls_server_config.client_auth_type', 'value']],
    ],
    [
      'that requires verified certificates, without an authority',
      tls({ client_auth_type: 'RequireAndVerifyClientCert' }),
      [['tls_server_config.client_auth_type', 'value']],
    ],
    [
      'without any version',
      tls({ min_version: 'TLS13', max_version: 'TLS12' }),
      [['tls_server_config.max_version', 'value']],
    ],
    [
      'with several problems',
      { ...tls({ key: 'K', min_version: 'TLS13', max_version: 'TLS12' }), basic_auth_users: {} },
      [
        ['basic_auth_users', 'key'],
        ['tls_server_config.key', 'key'],
        ['tls_server_config.max_version', 'value'],
      ],
    ],
  ])('%s is rejected', (_what, tree, expected) => {
    expect(problems(tree)).toEqual(expected);
  });

  it.each([
    ['client_allowed_sans', /less secure: use a CA that signs only the clients/],
    ['cipher_suites', /less secure: remove it .* or set `min_version: TLS13`$/],
    ['curve_preferences', /less secure: remove it/],
    ['cert', /^not supported: name a file .* in `cert_file`$/],
    ['key', /^not supported: name a file .* in `key_file`$/],
    ['client_ca', /^not supported: name a file .* in `client_ca_file`$/],
  ])('that would restrict clients by %s is rejected, with what to do', (key, message) => {
    expect(checkWebRules(tls({ [key]: 'a' }))).toEqual([
      { path: ['tls_server_config', key], message: expect.stringMatching(message), at: 'key' },
    ]);
  });
});

describe('a warning', () => {
  const HTTP: WebConfigShape['http_server_config'] = { headers: {} };
  const TLS: NonNullable<WebConfigShape['tls_server_config']> = {
    ...PAIR,
    client_auth_type: 'NoClientCert',
    min_version: 'TLS12',
    max_version: 'TLS13',
  };
  const SAFE: WebConfigShape = { tls_server_config: TLS, http_server_config: HTTP, basic_auth_users: {} };
  const withTls = (changes: Partial<typeof TLS>) => ({ tls_server_config: { ...TLS, ...changes } });

  it.each<[Partial<WebConfigShape>, KeyPath, RegExp]>([
    [{ rate_limit: {} }, ['rate_limit'], /^has no effect/],
    [{ http_server_config: { ...HTTP, http2: 'false' } }, ['http_server_config', 'http2'], /HTTP\/1\.1$/],
    [
      { http_server_config: { headers: { 'X-Frame-Options': 'sameorigin' } } },
      ['http_server_config', 'headers', 'X-Frame-Options'],
      /never allows its pages in frames$/,
    ],
    [
      withTls({ prefer_server_cipher_suites: 'true' }),
      ['tls_server_config', 'prefer_server_cipher_suites'],
      /^has no effect/,
    ],
    [withTls({ min_version: 'TLS10' }), ['tls_server_config', 'min_version'], /older than TLS12/],
    [withTls({ min_version: 'TLS11' }), ['tls_server_config', 'min_version'], /older than TLS12/],
    [
      withTls({ client_auth_type: 'RequireAnyClientCert' }),
      ['tls_server_config', 'client_auth_type'],
      /^accepts any certificate/,
    ],
    [
      withTls({ client_auth_type: 'RequireClientCert' }),
      ['tls_server_config', 'client_auth_type'],
      /^accepts any certificate/,
    ],
    [
      withTls({ client_auth_type: 'RequestClientCert' }),
      ['tls_server_config', 'client_auth_type'],
      /^accepts clients without/,
    ],
    [
      { tls_server_config: undefined, basic_auth_users: { alice: 'hash' } },
      ['basic_auth_users'],
      /clear text/,
    ],
  ])('follows from %j', (changes, path, message) => {
    expect(findWarnings({ ...SAFE, ...changes })).toEqual([
      { path, message: expect.stringMatching(message), at: 'key' },
    ]);
  });

  it.each<[string, Partial<WebConfigShape>]>([
    ['settings that are safe', {}],
    ['passwords with TLS', { basic_auth_users: { alice: 'hash' } }],
    ['no passwords', { tls_server_config: undefined }],
    ['pages that are never in frames', { http_server_config: { headers: { 'X-Frame-Options': 'deny' } } }],
    ['verified certificates', withTls({ client_auth_type: 'RequireAndVerifyClientCert' })],
  ])('does not follow from %s', (_what, changes) => {
    expect(findWarnings({ ...SAFE, ...changes })).toEqual([]);
  });
});
