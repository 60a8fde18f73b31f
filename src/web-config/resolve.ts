import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { ClientCertificates, TlsSettings, WebSettings } from '../http/web-settings.ts';
import type { TlsShape, WebConfigShape } from './schema.ts';
import { type ClientAuthType, nodeTlsVersion, opensslCiphers, opensslCurves } from './tls-names.ts';

/** What was in the files that the configuration names, by the key that names them. */
export type Material = Readonly<Record<string, string | undefined>>;

/** What is wrong with the TLS material, and with which key's. */
export interface MaterialProblem {
  readonly key: 'cert' | 'key' | 'client_ca';
  readonly message: string;
}

const CLIENTS: Readonly<Record<ClientAuthType, Pick<ClientCertificates, 'asked' | 'verified'>>> = {
  NoClientCert: { asked: 'no', verified: false },
  RequestClientCert: { asked: 'optional', verified: false },
  RequireAnyClientCert: { asked: 'required', verified: false },
  RequireClientCert: { asked: 'required', verified: false },
  VerifyClientCertIfGiven: { asked: 'optional', verified: true },
  RequireAndVerifyClientCert: { asked: 'required', verified: true },
};

/** The settings that a valid configuration asks for; every file that it names must be in the material. */
export function resolveWebConfig(shape: WebConfigShape, files: Material): WebSettings {
  const {
    tls_server_config: tls,
    http_server_config: http,
    basic_auth_users: users,
    rate_limit: rate,
  } = shape;
  const headers = Object.entries(http.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    ...(tls === undefined ? {} : { tls: resolveTls(tls, files) }),
    users: new Map(Object.entries(users)),
    headers: Object.fromEntries(headers),
    ...(rate.interval > 0 ? { rateLimit: { intervalMs: rate.interval, burst: rate.burst } } : {}),
  };
}

function resolveTls(tls: TlsShape, files: Material): TlsSettings {
  const ca = tls.client_ca ?? files['client_ca_file'];
  const { cipher_suites: ciphers, curve_preferences: curves, client_allowed_sans: allowedSans } = tls;
  const context: SecureContextOptions = {
    cert: tls.cert ?? files['cert_file'],
    key: tls.key ?? files['key_file'],
    ...(ca === undefined ? {} : { ca }),
    minVersion: nodeTlsVersion(tls.min_version),
    maxVersion: nodeTlsVersion(tls.max_version),
    honorCipherOrder: tls.prefer_server_cipher_suites,
    ...(ciphers === undefined ? {} : { ciphers: opensslCiphers(ciphers) }),
    ...(curves === undefined ? {} : { ecdhCurve: opensslCurves(curves) }),
  };
  const clients = { ...CLIENTS[tls.client_auth_type], ...(allowedSans === undefined ? {} : { allowedSans }) };
  return { context, clients };
}

/** What is wrong with certificate, key and authorities, the first that is; undefined if nothing is. */
export function materialProblem({ context }: TlsSettings): MaterialProblem | undefined {
  const { cert, key, ca } = context;
  if (!isCertificate(cert)) return { key: 'cert', message: 'expected a certificate in PEM' };
  if (!works({ key })) return { key: 'key', message: 'expected a private key in PEM, without a passphrase' };
  if (!works({ cert, key }))
    return { key: 'key', message: 'expected the private key of the certificate, not another' };
  if (ca !== undefined && !isCertificate(ca))
    return { key: 'client_ca', message: 'expected certificates in PEM' };
  return works(context) ? undefined : { key: 'cert', message: 'expected what TLS can be served with' };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

function isCertificate(pem: SecureContextOptions['cert']): boolean {
  const blocks = typeof pem === 'string' ? (pem.match(CERTIFICATE) ?? []) : [];
  try {
    return blocks.map((block) => new X509Certificate(block)).length > 0;
  } catch {
    return false;
  }
}

function works(options: SecureContextOptions): boolean {
  try {
    createSecureContext(options);
    return true;
  } catch {
    return false;
  }
}
