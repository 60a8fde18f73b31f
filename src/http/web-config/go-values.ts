import { DEFAULT_CIPHERS } from 'node:tls';

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

export type Curve = keyof typeof CURVE_NAMES;

/** The names allowed in `curve_preferences`. */
export const CURVES = Object.keys(CURVE_NAMES) as readonly Curve[];

/** OpenSSL's list of curves, in the same order. */
export function opensslCurves(names: readonly Curve[]): string {
  return names.map((name) => CURVE_NAMES[name]).join(':');
}

/** Oldest first. */
export const TLS_VERSIONS = ['TLS10', 'TLS11', 'TLS12', 'TLS13'] as const;
export type TlsVersion = (typeof TLS_VERSIONS)[number];

/** Node's name for a version. Versions before 1.2 are never used, because OpenSSL rejects their signatures. */
export function nodeTlsVersion(version: TlsVersion): 'TLSv1.2' | 'TLSv1.3' {
  return version === 'TLS13' ? 'TLSv1.3' : 'TLSv1.2';
}

/** Go's names for `client_auth_type`; the last is an old name of the third. */
export const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
  'RequireClientCert',
] as const;
export type ClientAuthType = (typeof CLIENT_AUTH_TYPES)[number];
