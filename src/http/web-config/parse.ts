import type { SecureContextOptions } from 'node:tls';
import { KNOWN_SECRETS } from '../../domain/known-secrets.ts';
import { type ConfigIssue, toIssue } from '../../yaml/issues.ts';
import { type ParsedSettings, parseSettings, type SettingsFormat } from '../../yaml/settings-file.ts';
import { formatPath, type Path } from '../../yaml/tree.ts';
import type { Environment } from '../../yaml/variables.ts';
import type { ClientCertificates, TlsSettings, WebSettings } from '../web-settings.ts';
import {
  type ClientAuthType,
  DEFAULT_CIPHER_LIST,
  nodeTlsVersion,
  opensslCiphers,
  opensslCurves,
} from './go-values.ts';
import { checkWebRules, warningsOf } from './rules.ts';
import { type ServerTlsShape, type WebConfigShape, webConfigSchema, withoutBlanks } from './schema.ts';

/** The contents of a web configuration, whether or not it is valid. */
export interface ParsedWebConfig extends ParsedSettings<WebConfigShape> {
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
