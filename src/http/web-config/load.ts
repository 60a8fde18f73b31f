import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { KNOWN_SECRETS } from '../../domain/known-secrets.ts';
import type { Environment } from '../../yaml/document.ts';
import { type ConfigIssue, toIssue } from '../../yaml/issues.ts';
import {
  type FileReference,
  loadSettings,
  parseSettings,
  type SecretFile,
  type SettingsFormat,
  secretFiles,
} from '../../yaml/settings-file.ts';
import { TLS_FILE } from '../../yaml/text-file.ts';
import type { WebSettings } from '../web-settings.ts';
import { checkWebRules, warningsOf } from './rules.ts';
import { type WebConfigShape, webConfigSchema, withoutBlanks } from './schema.ts';

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
    contentProblem,
    advice: 'correct --web.config.file',
  });
  if (parsed?.shape === undefined || issues.length > 0) return { ok: false, files, issues };
  const settings = resolveWebConfig(parsed.shape, contents);
  const keys = parsed.files.filter(isKeyFile);
  const problem = settings.tls && problemOf(() => createSecureContext(settings.tls?.context));
  if (problem !== undefined) {
    const message = `can't be used with the certificate: ${problem}`;
    return { ok: false, files, issues: keys.map((place) => ({ ...place, file, message })) };
  }
  const { warnings } = parsed;
  return { ok: true, files, settings, warnings, secretFiles: secretFiles(file, keys, undefined) };
}

const isKeyFile = ({ path }: FileReference) => path.endsWith('.key_file');

/** What is wrong with the content of a file that the configuration refers to. */
function contentProblem(reference: FileReference, content: string): string | undefined {
  return isKeyFile(reference)
    ? problemOf(() => createPrivateKey(content)) && 'is not a private key in PEM without a passphrase'
    : problemOf(() => new X509Certificate(content)) && 'is not a certificate in PEM';
}

/** Why OpenSSL rejects something; undefined if it doesn't. */
function problemOf(use: () => unknown): string | undefined {
  try {
    use();
    return undefined;
  } catch (error) {
    return (error as { readonly reason?: string }).reason ?? 'invalid';
  }
}

const FORMAT: SettingsFormat<WebConfigShape> = {
  schema: webConfigSchema,
  rules: checkWebRules,
  isSecret: ([section, key]) => key === 'key' || (section === 'basic_auth_users' && key !== undefined),
  filePaths: () => ['cert_file', 'key_file', 'client_ca_file'].map((key) => ['tls_server_config', key]),
  prepare: (tree) => withoutBlanks(tree ?? {}),
};

/** Parses the text of a web configuration; `file` is its name in the issues. */
export function parseWebConfig(text: string, file: string, env: Environment) {
  const { source, ...parsed } = parseSettings(text, file, env, FORMAT);
  const found = parsed.shape === undefined ? [] : warningsOf(parsed.shape);
  return { ...parsed, warnings: found.map((problem) => toIssue(problem, source)) };
}

/** Node's default list without static RSA, with which a key stolen later would decrypt earlier recordings. */
export const CIPHER_LIST = `${DEFAULT_CIPHERS}:!kRSA`;

/**
 * The settings of a valid configuration. `contents` holds every file that it refers to, keyed by the setting, such as
 * `tls_server_config.cert_file`.
 */
export function resolveWebConfig(shape: WebConfigShape, contents: ReadonlyMap<string, string>): WebSettings {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users } = shape;
  for (const hash of Object.values(users)) KNOWN_SECRETS.add(hash);
  const protection = { users: new Map(Object.entries(users)), headers: http.headers };
  if (tls === undefined) return protection;
  const context: SecureContextOptions = {
    cert: contents.get('tls_server_config.cert_file'),
    key: contents.get('tls_server_config.key_file'),
    ca: contents.get('tls_server_config.client_ca_file'),
    // Older versions are never used, because OpenSSL rejects their signatures.
    minVersion: tls.min_version === 'TLS13' ? 'TLSv1.3' : 'TLSv1.2',
    maxVersion: tls.max_version === 'TLS12' ? 'TLSv1.2' : 'TLSv1.3',
    ciphers: CIPHER_LIST,
  };
  const type = tls.client_auth_type;
  const given = type.startsWith('Require') ? 'required' : 'optional';
  const clientCertificate = type === 'NoClientCert' ? 'no' : given;
  return { ...protection, tls: { context, clientCertificate, isVerified: type.includes('Verify') } };
}
