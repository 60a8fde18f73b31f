import { validateHeaderValue } from 'node:http';
import { DEFAULT_CIPHERS } from 'node:tls';
import { z } from 'zod';
import { isTreeMap, type Tree } from '../../yaml/document.ts';
import { flag, list, oneOf, scalar, section } from '../../yaml/scalars.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g;
const DURATION = new RegExp(`^(?:${PART.source})+$`);

/**
 * The milliseconds of a duration in Go's notation (`1s`, `1.5h`, `1m30s`, `0`); a bare number is in nanoseconds. Undefined for
 * invalid text.
 */
export function parseGoDuration(text: string): number | undefined {
  if (/^\d{1,18}$/.test(text)) return Number(text) / 1e6;
  if (!DURATION.test(text)) return undefined;
  return [...text.matchAll(PART)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS_MS[unit] ?? 0),
    0,
  );
}

/** OpenSSL's names of the cipher suites that Go's crypto/tls considers secure, keyed by Go's names, for TLS up to 1.2. */
const CIPHERS: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
};

const CIPHERS_OF_TLS13 = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
] as const;

/** The names allowed in `cipher_suites`. */
export const CIPHER_SUITES = [...CIPHERS_OF_TLS13, ...Object.keys(CIPHERS)];

/**
 * OpenSSL's cipher list for Go's names. As in Go, the suites of TLS 1.3 are always enabled: the list selects among the older
 * ones.
 */
export function opensslCiphers(names: readonly string[]): string {
  return [...CIPHERS_OF_TLS13, ...names.flatMap((name) => CIPHERS[name] ?? [])].join(':');
}

/** Node's default list without static RSA, with which a key stolen later would decrypt earlier recordings. */
export const DEFAULT_CIPHER_LIST = `${DEFAULT_CIPHERS}:!kRSA`;

const CURVE_NAMES = {
  X25519: 'X25519',
  CurveP256: 'P-256',
  CurveP384: 'P-384',
  CurveP521: 'P-521',
} as const;

type Curve = keyof typeof CURVE_NAMES;

/** The names allowed in `curve_preferences`. */
export const CURVES = Object.keys(CURVE_NAMES) as readonly Curve[];

/** OpenSSL's list of curves, in the same order. */
export function opensslCurves(names: readonly Curve[]): string {
  return names.map((name) => CURVE_NAMES[name]).join(':');
}

/** Oldest first. */
export const TLS_VERSIONS = ['TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;
type TlsVersion = (typeof TLS_VERSIONS)[number];

/** Node's name for a version. Versions before 1.2 are never used, because OpenSSL rejects their signatures. */
export function nodeTlsVersion(version: TlsVersion): 'TLSv1.2' | 'TLSv1.3' {
  return version === 'TLS13' ? 'TLSv1.3' : 'TLSv1.2';
}

/** Go's names for `client_auth_type`; the last is an old name of the third. */
const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
  'RequireClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];

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
