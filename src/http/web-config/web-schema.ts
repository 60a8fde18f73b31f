// The settings of the web configuration.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { namedFile, oneOf, scalar, section } from '../../yaml/setting-types.ts';
import { TLS_FILE } from '../../yaml/text-file.ts';
import { isTreeMap, type Tree } from '../../yaml/tree.ts';

/** Why OpenSSL rejects a use; undefined if it doesn't. */
export function rejectionReason(use: () => unknown): string | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    return (error as { readonly reason?: string }).reason ?? 'invalid';
  }
}

const certificateFile = (of: string) =>
  namedFile({
    kind: TLS_FILE,
    expected: `a file with ${of}`,
    problem: (content) =>
      rejectionReason(() => new X509Certificate(content)) && 'is not a certificate in PEM',
  });

const keyFile = namedFile({
  kind: TLS_FILE,
  expected: "a file with the certificate's private key",
  problem: (content) =>
    rejectionReason(() => createPrivateKey(content)) && 'is not a private key in PEM without a passphrase',
});

/** A key of the format without an effect. The rules have its error or warning. */
const unused = () => z.unknown().optional();

const tls = section('a map of TLS settings', {
  cert_file: certificateFile("the server's certificate"),
  key_file: keyFile,
  client_ca_file: certificateFile("the CA that signs the clients' certificates").optional(),
  client_auth_type: oneOf([
    'NoClientCert',
    'RequestClientCert',
    'RequireAnyClientCert',
    'VerifyClientCertIfGiven',
    'RequireAndVerifyClientCert',
    'RequireClientCert',
  ]).prefault('NoClientCert'),
  min_version: oneOf(['TLS10', 'TLS11', 'TLS12', 'TLS13']).prefault('TLS12'),
  max_version: oneOf(['TLS12', 'TLS13']).prefault('TLS13'),
  cert: unused(),
  key: unused(),
  client_ca: unused(),
  client_allowed_sans: unused(),
  cipher_suites: unused(),
  curve_preferences: unused(),
  prefer_server_cipher_suites: unused(),
});

/** The characters that Node.js allows in a header's value. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const headerValue = () =>
  scalar("a header's value", {
    read: (text) => (HEADER_VALUE.test(text) ? text : undefined),
  }).optional();

const headers = section('a map of headers', {
  'Strict-Transport-Security': headerValue(),
  'X-Content-Type-Options': oneOf(['nosniff']).optional(),
  'X-Frame-Options': oneOf(['deny', 'sameorigin']).optional(),
  'X-XSS-Protection': headerValue(),
  'Content-Security-Policy': headerValue(),
});

const http = section('a map with headers', { headers: headers.prefault({}), http2: unused() });

/** A bcrypt hash, which begins with its cost: the logarithm of the number of rounds. */
const BCRYPT_HASH = /^\$2[aby]?\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;

/**
 * The schema of a file in the format of Prometheus' exporter-toolkit (docs/web-configuration.md
 * there). Its input is a tree of strings.
 */
export const webConfigSchema = section('a map with tls_server_config, basic_auth_users and others', {
  tls_server_config: tls.optional(),
  http_server_config: http.prefault({}),
  basic_auth_users: z
    .record(
      z.string(),
      scalar('the bcrypt hash of a password, such as `gameserver-exporter hash-password` prints', {
        read: (text) => (BCRYPT_HASH.test(text) ? text : undefined),
        isSecret: true,
      }),
      { error: 'expected a map of usernames and bcrypt hashes' },
    )
    .prefault({}),
  rate_limit: unused(),
});

/** The file's settings, with defaults and parsed values. */
export type WebConfigShape = z.output<typeof webConfigSchema>;

const KEYS = new Set([webConfigSchema, tls, http, headers].flatMap(({ shape }) => Object.keys(shape)));

/**
 * The tree without known keys that have no value, because the format treats them as absent. Blank
 * `basic_auth_users` become an empty map.
 */
export function withoutBlanks(tree: Tree): Tree {
  if (!isTreeMap(tree)) return tree;
  const kept: Record<string, Tree> = {};
  for (const [key, value] of Object.entries(tree)) {
    const isBlank = value === null || value === '';
    if (key === 'basic_auth_users') kept[key] = isBlank ? {} : value;
    else if (!isBlank || !KEYS.has(key)) kept[key] = withoutBlanks(value);
  }
  // An empty TLS section is equivalent to none.
  if (isEmptyMap(kept['tls_server_config'])) delete kept['tls_server_config'];
  return kept;
}

export function isEmptyMap(tree: Tree): boolean {
  return isTreeMap(tree) && Object.keys(tree).length === 0;
}
