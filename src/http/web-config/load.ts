import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { ConfigIssue } from '../../yaml/issues.ts';
import { quote } from '../../yaml/quoting.ts';
import { loadSettings, type SecretFile, secretFiles } from '../../yaml/settings-file.ts';
import { TLS_FILE } from '../../yaml/text-file.ts';
import type { Environment } from '../../yaml/variables.ts';
import type { TlsSettings, WebSettings } from '../web-settings.ts';
import { type ParsedWebConfig, parseWebConfig, resolveWebConfig } from './parse.ts';
import type { WebConfigShape } from './schema.ts';

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
