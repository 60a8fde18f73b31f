// Loads the file of `--web.config.file`.
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import { KNOWN_SECRETS } from '../../text/redaction.ts';
import { checkSettings } from '../../yaml/check-settings.ts';
import type { ConfigIssue } from '../../yaml/issues.ts';
import type { ReadFile } from '../../yaml/named-files.ts';
import { type SecretFile, secretFiles } from '../../yaml/setting-types.ts';
import { loadSettings } from '../../yaml/text-file.ts';
import type { Environment } from '../../yaml/variables.ts';
import type { WebSettings } from '../web-settings.ts';
import { checkWebRules, findWarnings } from './web-rules.ts';
import { rejectionReason, type WebConfigShape, webConfigSchema, withoutBlanks } from './web-schema.ts';

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
 * Reads a web configuration and its files. Relative paths start from its directory. Invalid input
 * is returned as issues.
 */
export async function loadWebConfig(file: string, env: Environment): Promise<WebConfigResult> {
  const advice = 'correct --web.config.file';
  const loaded = await loadSettings(file, (text, read) => parseWebConfig(text, file, env, read), { advice });
  const { parsed, files } = loaded;
  if (parsed?.settings === undefined)
    return { ok: false, files, issues: parsed?.issues ?? loaded.issues ?? [] };
  const { document, warnings } = parsed;
  const settings = resolveWebConfig(parsed.settings);
  const path = ['tls_server_config', 'key_file'];
  const problem = settings.tls && rejectionReason(() => createSecureContext(settings.tls?.context));
  if (problem !== undefined) {
    const message = `can't be used with the certificate: ${problem}`;
    return {
      ok: false,
      files,
      issues: [{ file, ...document.findPosition(path), path: z.core.toDotPath(path), message }],
    };
  }
  return { ok: true, files, settings, warnings, secretFiles: secretFiles(file, document, [path]) };
}

/**
 * Parses the text of a web configuration. `file` is its name in the issues, and `read` reads the
 * files that it names.
 */
export async function parseWebConfig(text: string, file: string, env: Environment, read?: ReadFile) {
  const { document, settings, issues, toIssue } = await checkSettings(text, env, {
    file,
    schema: webConfigSchema,
    read,
    interpret: (tree) => withoutBlanks(tree ?? {}),
    rules: checkWebRules,
  });
  const warnings = settings === undefined ? [] : findWarnings(settings);
  return { document, settings, issues, warnings: warnings.map(toIssue) };
}

/** Node's default list without static RSA, with which a stolen key decrypts earlier recordings. */
export const CIPHER_LIST = `${DEFAULT_CIPHERS}:!kRSA`;

/** The settings of a valid configuration. */
export function resolveWebConfig(shape: WebConfigShape): WebSettings {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users } = shape;
  for (const hash of Object.values(users)) KNOWN_SECRETS.add(hash);
  const protection = { users: new Map(Object.entries(users)), headers: http.headers };
  if (tls === undefined) return protection;
  const context: SecureContextOptions = {
    cert: tls.cert_file,
    key: tls.key_file,
    ca: tls.client_ca_file,
    // Older versions can't be used, because OpenSSL rejects their signatures.
    minVersion: tls.min_version === 'TLS13' ? 'TLSv1.3' : 'TLSv1.2',
    maxVersion: tls.max_version === 'TLS12' ? 'TLSv1.2' : 'TLSv1.3',
    ciphers: CIPHER_LIST,
  };
  const type = tls.client_auth_type;
  const given = type.startsWith('Require') ? 'required' : 'optional';
  const clientCertificate = type === 'NoClientCert' ? 'no' : given;
  return { ...protection, tls: { context, clientCertificate, isVerified: type.includes('Verify') } };
}
