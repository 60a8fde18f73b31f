import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { KNOWN_SECRETS } from '../../domain/known-secrets.ts';
import { type Environment, formatPath, type Path } from '../../yaml/document.ts';
import { type ConfigIssue, toIssue } from '../../yaml/issues.ts';
import { quote } from '../../yaml/scalars.ts';
import {
  loadSettings,
  type ParsedSettings,
  parseSettings,
  type SecretFile,
  type SettingsFormat,
  secretFiles,
} from '../../yaml/settings-file.ts';
import { TLS_FILE } from '../../yaml/text-file.ts';
import type { ClientCertificates, TlsSettings, WebSettings } from '../web-settings.ts';
import { checkWebRules, warningsOf } from './rules.ts';
import {
  type ClientAuthType,
  DEFAULT_CIPHER_LIST,
  nodeTlsVersion,
  opensslCiphers,
  opensslCurves,
  type ServerTlsShape,
  type WebConfigShape,
  webConfigSchema,
  withoutBlanks,
} from './schema.ts';

/** Valid settings, or all problems with the file. */
export type WebConfigResult = { readonly files: readonly string[] } & (
  | {
      readonly ok: true;
      readonly settings: WebSettings;
      readonly warnings: readonly ConfigIssue[];
      /** The files that contain the private key. */
      readonly secretFiles: readonly SecretFile[];
    }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] }
);

/**
 * Reads a web configuration and the files that it refers to, whose relative paths are resolved against its directory. Invalid input
 * is returned as issues.
 */
export async function loadWebConfig(file: string, env: Environment): Promise<WebConfigResult> {
  const { parsed, issues, contents, files } = await loadSettings(file, {
    parse: (text) => parseWebConfig(text, file, env),
    kindOf: () => TLS_FILE,
    advice: 'correct --web.config.file',
  });
  if (parsed?.shape === undefined || issues.length > 0) return { ok: false, files, issues };
  const settings = resolveWebConfig(parsed.shape, contents);
  const problem = settings.tls === undefined ? undefined : materialProblem(settings.tls);
  if (problem !== undefined)
    return { ok: false, files, issues: [materialIssue(problem, parsed, parsed.shape)] };
  const { warnings, inlineKey } = parsed;
  const named = parsed.files.filter(({ path }) => path.endsWith('.key_file'));
  return { ok: true, files, settings, warnings, secretFiles: secretFiles(file, named, inlineKey) };
}

/** The contents of a web configuration, whether or not it is valid. */
interface ParsedWebConfig extends ParsedSettings<WebConfigShape> {
  readonly warnings: readonly ConfigIssue[];
  /** The path of the private key, if it is written in the file. */
  readonly inlineKey: string | undefined;
  /** An issue about a setting, with its position in the file. */
  readonly issueAt: (path: Path, message: string) => ConfigIssue;
}

const KEY: Path = ['tls_server_config', 'key'];

const FORMAT: SettingsFormat<WebConfigShape> = {
  schema: webConfigSchema,
  rules: checkWebRules,
  isSecret: ([section, key]) =>
    section === 'basic_auth_users' ? key !== undefined : section === 'tls_server_config' && key === 'key',
  filePaths: () => ['cert_file', 'key_file', 'client_ca_file'].map((key) => ['tls_server_config', key]),
  prepare: (tree) => withoutBlanks(tree ?? {}),
};

/** Parses the text of a web configuration; `file` is its name in the issues. */
export function parseWebConfig(text: string, file: string, env: Environment): ParsedWebConfig {
  const { source, ...parsed } = parseSettings(text, file, env, FORMAT);
  const issueAt = (path: Path, message: string) =>
    toIssue({ path, message, at: source.document.placeOf(path) }, source);
  const found = parsed.shape === undefined ? [] : warningsOf(parsed.shape);
  const isInline =
    parsed.shape?.tls_server_config?.key !== undefined && source.document.templateOf(KEY) === undefined;
  return {
    ...parsed,
    warnings: found.map(({ path, message }) => issueAt(path, message)),
    inlineKey: isInline ? formatPath(KEY) : undefined,
    issueAt,
  };
}

const CLIENTS: Readonly<Record<ClientAuthType, Pick<ClientCertificates, 'asked' | 'verified'>>> = {
  NoClientCert: { asked: 'no', verified: false },
  RequestClientCert: { asked: 'optional', verified: false },
  RequireAnyClientCert: { asked: 'required', verified: false },
  RequireClientCert: { asked: 'required', verified: false },
  VerifyClientCertIfGiven: { asked: 'optional', verified: true },
  RequireAndVerifyClientCert: { asked: 'required', verified: true },
};

/**
 * The settings of a valid configuration. `contents` holds every file that it refers to, keyed by the setting, such as
 * `tls_server_config.cert_file`.
 */
export function resolveWebConfig(shape: WebConfigShape, contents: ReadonlyMap<string, string>): WebSettings {
  const {
    tls_server_config: tls,
    http_server_config: http,
    basic_auth_users: users,
    rate_limit: rate,
  } = shape;
  for (const hash of Object.values(users)) KNOWN_SECRETS.add(hash);
  return {
    tls: tls && resolveTls(tls, contents),
    users: new Map(Object.entries(users)),
    headers: http.headers,
    rateLimit: rate.interval > 0 ? { intervalMs: rate.interval, burst: rate.burst } : undefined,
  };
}

function resolveTls(tls: ServerTlsShape, contents: ReadonlyMap<string, string>): TlsSettings {
  const { cipher_suites: ciphers, curve_preferences: curves } = tls;
  const context: SecureContextOptions = {
    cert: tls.cert ?? contents.get('tls_server_config.cert_file'),
    key: tls.key ?? contents.get('tls_server_config.key_file'),
    ca: tls.client_ca ?? contents.get('tls_server_config.client_ca_file'),
    minVersion: nodeTlsVersion(tls.min_version),
    maxVersion: nodeTlsVersion(tls.max_version),
    honorCipherOrder: tls.prefer_server_cipher_suites,
    ciphers: ciphers === undefined ? DEFAULT_CIPHER_LIST : opensslCiphers(ciphers),
    ecdhCurve: curves && opensslCurves(curves),
  };
  return { context, clients: { ...CLIENTS[tls.client_auth_type], allowedSans: tls.client_allowed_sans } };
}

function materialIssue(
  { key, message }: MaterialProblem,
  { issueAt }: ParsedWebConfig,
  { tls_server_config: tls }: WebConfigShape,
): ConfigIssue {
  const named = tls?.[`${key}_file`];
  if (named === undefined) return issueAt(['tls_server_config', key], message);
  return issueAt(['tls_server_config', `${key}_file`], `the file ${quote(named)}: ${message}`);
}

/** A problem with the TLS files, and the setting that it belongs to. */
interface MaterialProblem {
  readonly key: 'cert' | 'key' | 'client_ca';
  readonly message: string;
}

/** The first problem with the certificate, key and authorities; undefined if there is none. */
function materialProblem({ context }: TlsSettings): MaterialProblem | undefined {
  const { cert, key, ca } = context;
  if (!isCertificate(cert)) return { key: 'cert', message: 'expected a certificate in PEM' };
  if (!works({ key })) return { key: 'key', message: 'expected a private key in PEM, without a passphrase' };
  if (!works({ cert, key }))
    return { key: 'key', message: 'expected the private key that belongs to the certificate' };
  if (ca !== undefined && !isCertificate(ca))
    return { key: 'client_ca', message: 'expected certificates in PEM' };
  return works(context)
    ? undefined
    : { key: 'cert', message: 'expected a certificate and key that TLS accepts' };
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
