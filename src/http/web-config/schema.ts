import { validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { flag, list, oneOf, scalar, section } from '../../yaml/scalars.ts';
import { isTreeMap, type Tree } from '../../yaml/tree.ts';
import { CIPHER_SUITES, CLIENT_AUTH_TYPES, CURVES, parseGoDuration, TLS_VERSIONS } from './go-values.ts';

const filePath = () => scalar({ expected: 'a file path', read: (text) => text });
const pem = (what: string) => scalar({ expected: `${what} in PEM`, read: (text) => text });
const listOf = <Item extends z.ZodType>(item: Item, what: string) =>
  list(item, what, `entry in the list of ${what}`);

const tls = section('a map of TLS settings', {
  cert: pem('a certificate').optional(),
  cert_file: filePath().optional(),
  key: pem('a private key').optional(),
  key_file: filePath().optional(),
  client_ca: pem('certificates').optional(),
  client_ca_file: filePath().optional(),
  client_auth_type: oneOf(CLIENT_AUTH_TYPES).prefault('NoClientCert'),
  client_allowed_sans: listOf(scalar({ expected: 'a name', read: (text) => text }), 'names').optional(),
  min_version: oneOf(TLS_VERSIONS).prefault('TLS12'),
  max_version: oneOf(TLS_VERSIONS).prefault('TLS13'),
  cipher_suites: listOf(oneOf(CIPHER_SUITES), 'cipher suites').optional(),
  prefer_server_cipher_suites: flag().prefault('true'),
  curve_preferences: listOf(oneOf(CURVES), 'curves').optional(),
});

const headerValue = () =>
  scalar({
    expected: "a header's value",
    read: (text) => {
      try {
        validateHeaderValue('value', text);
        return text;
      } catch {
        return undefined;
      }
    },
  });

const headers = section('a map of headers', {
  'Strict-Transport-Security': headerValue().optional(),
  'X-Content-Type-Options': oneOf(['nosniff']).optional(),
  'X-Frame-Options': oneOf(['deny', 'sameorigin']).optional(),
  'X-XSS-Protection': headerValue().optional(),
  'Content-Security-Policy': headerValue().optional(),
});

const http = section('a map with http2 and headers', {
  http2: flag().optional(),
  headers: headers.prefault({}),
});

const rateLimit = section('a map with interval and burst', {
  interval: scalar({ expected: 'a duration such as 1s or 100ms', read: parseGoDuration }).prefault('0'),
  burst: scalar({
    expected: 'a whole number',
    read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  }).prefault('0'),
});

/** Includes the cost, which is the logarithm of the number of rounds. */
const BCRYPT_HASH = /^\$2[aby]?\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;

/** A file in the format of Prometheus' exporter-toolkit (docs/web-configuration.md there). The input is a tree of strings. */
export const webConfigSchema = section('a map with tls_server_config, basic_auth_users and others', {
  tls_server_config: tls.optional(),
  http_server_config: http.prefault({}),
  basic_auth_users: z
    .record(
      z.string(),
      scalar({
        expected: 'the bcrypt hash of a password, such as `htpasswd -nBC 10 ""` prints after the colon',
        read: (text) => (BCRYPT_HASH.test(text) ? text : undefined),
      }),
      { error: 'expected a map of usernames and bcrypt hashes' },
    )
    .prefault({}),
  rate_limit: rateLimit.prefault({}),
});

/** The file with defaults filled in and every string parsed. */
export type WebConfigShape = z.output<typeof webConfigSchema>;
export type ServerTlsShape = NonNullable<WebConfigShape['tls_server_config']>;

/** The bcrypt cost of a hash accepted by the schema: each step doubles the time. */
export function bcryptCost(hash: string): number {
  return Number(BCRYPT_HASH.exec(hash)?.[1]);
}

const SECTIONS: Readonly<Record<string, z.ZodObject | undefined>> = {
  tls_server_config: tls,
  http_server_config: http,
  headers,
  rate_limit: rateLimit,
};

/** The tree without known keys that have no value, which the format treats as absent. Blank users become no users. */
export function withoutBlanks(tree: Tree, section: z.ZodObject = webConfigSchema): Tree {
  if (!isTreeMap(tree)) return tree;
  const kept = Object.create(null) as Record<string, Tree>;
  for (const [key, value] of Object.entries(tree)) {
    const inner = SECTIONS[key] === undefined ? value : withoutBlanks(value, SECTIONS[key]);
    const isKnown = Object.hasOwn(section.shape, key);
    if (isKnown && key === 'basic_auth_users' && isBlank(value)) kept[key] = {};
    else if (!isKnown) kept[key] = value;
    // An empty TLS section is equivalent to none.
    else if (!isBlank(inner) && !(key === 'tls_server_config' && isEmptyMap(inner))) kept[key] = inner;
  }
  return kept;
}

const isBlank = (value: Tree) => value === null || value === '';

export const isEmptyMap = (tree: Tree | undefined): boolean =>
  isTreeMap(tree) && Object.keys(tree).length === 0;

/** Whether this is one of the format's own keys at the top level of the file. */
export function isSection(key: string): boolean {
  return Object.hasOwn(webConfigSchema.shape, key);
}
