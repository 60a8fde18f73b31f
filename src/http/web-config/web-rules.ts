// The rules of the web configuration that concern several settings.
import { isTreeMap, type KeyPath, type SettingProblem, type Tree, valueAt } from '../../yaml/tree.ts';
import { isEmptyMap, type WebConfigShape, webConfigSchema } from './web-schema.ts';

const TLS: KeyPath = ['tls_server_config'];
const HTTP: KeyPath = ['http_server_config'];
const USERS: KeyPath = ['basic_auth_users'];

const NOT_IGNORED = 'not supported, and ignoring it would be less secure';

/**
 * Rejected settings of `tls_server_config`: they restrict access, so they can't be ignored, or
 * their value belongs in a file.
 */
const REJECTED: Readonly<Record<string, string>> = {
  cert: 'not supported: name a file with the certificate in `cert_file`',
  key: 'not supported: name a file with the private key in `key_file`',
  client_ca: 'not supported: name a file with it in `client_ca_file`',
  client_allowed_sans: `${NOT_IGNORED}: use a CA that signs only the clients of this exporter`,
  cipher_suites: `${NOT_IGNORED}: remove it to use the suites of Node.js with forward secrecy, or set \`min_version: TLS13\``,
  curve_preferences: `${NOT_IGNORED}: remove it to use the curves of Node.js`,
};

const NO_USERS =
  'expected at least one username with a bcrypt hash: an empty section would disable authentication; to disable it on purpose, remove the section';
const NOTHING =
  'expected `tls_server_config`, `basic_auth_users` or other settings: an empty web configuration protects nothing; add settings, or start without --web.config.file';
const COLON =
  'expected a username without a colon, because clients send a colon between username and password';
const NO_TYPE =
  'expected `client_auth_type` as well, such as RequireAndVerifyClientCert: without it, clients are not asked for a certificate';

/**
 * Problems between settings of a tree without blanks. Values of an unexpected shape are ignored.
 */
export function checkWebRules(tree: Tree): readonly SettingProblem[] {
  if (!isTreeMap(tree)) return [];
  const problems: SettingProblem[] = [];
  const add = (path: KeyPath, message: string, at: 'key' | 'value' = 'key') =>
    problems.push({ path, message, at });
  const isEmptySection = ([key, value]: [string, Tree]) =>
    isEmptyMap(value) && Object.hasOwn(webConfigSchema.shape, key);
  const users = valueAt(tree, USERS);
  if (isEmptyMap(users)) add(USERS, NO_USERS);
  else if (Object.entries(tree).every(isEmptySection)) add([], NOTHING);
  for (const name of isTreeMap(users) ? Object.keys(users) : []) {
    if (name.includes(':')) add([...USERS, name], COLON);
  }
  const tls = valueAt(tree, TLS);
  if (!isTreeMap(tls)) return problems;
  for (const [key, message] of Object.entries(REJECTED)) if (key in tls) add([...TLS, key], message);
  const { client_auth_type: type = 'NoClientCert', client_ca_file: ca } = tls;
  if (ca !== undefined && type === 'NoClientCert') add([...TLS, 'client_ca_file'], NO_TYPE);
  // Go would verify clients against the public CAs, and therefore admit anyone with a certificate
  // for any web site.
  if (ca === undefined && (type === 'VerifyClientCertIfGiven' || type === 'RequireAndVerifyClientCert')) {
    const message = "expected `client_ca_file` as well, with the CA that signs your clients' certificates";
    add([...TLS, 'client_auth_type'], message, 'value');
  }
  if (tls['min_version'] === 'TLS13' && tls['max_version'] === 'TLS12') {
    add([...TLS, 'max_version'], 'expected `min_version` or a later version', 'value');
  }
  return problems;
}

/** Settings that aren't applied as written, or that are less secure than expected. */
export function findWarnings(shape: WebConfigShape): readonly SettingProblem[] {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users } = shape;
  const warnings: SettingProblem[] = [];
  const warn = (isTrue: boolean, path: KeyPath, message: string) => {
    if (isTrue) warnings.push({ path, message, at: 'key' });
  };
  warn(shape.rate_limit !== undefined, ['rate_limit'], 'has no effect: requests are not limited');
  warn(http.http2 !== undefined, [...HTTP, 'http2'], 'has no effect: clients use HTTP/1.1');
  warn(
    tls?.prefer_server_cipher_suites !== undefined,
    [...TLS, 'prefer_server_cipher_suites'],
    'has no effect: Node.js chooses the cipher suite',
  );
  warn(
    http.headers['X-Frame-Options'] === 'sameorigin',
    [...HTTP, 'headers', 'X-Frame-Options'],
    'has no effect: the exporter never allows its pages in frames',
  );
  warn(
    tls?.min_version === 'TLS10' || tls?.min_version === 'TLS11',
    [...TLS, 'min_version'],
    'versions older than TLS12 are not supported: clients that need them are rejected',
  );
  warn(
    tls?.client_auth_type === 'RequireAnyClientCert' || tls?.client_auth_type === 'RequireClientCert',
    [...TLS, 'client_auth_type'],
    'accepts any certificate, including self-signed ones; to verify certificates, use RequireAndVerifyClientCert',
  );
  warn(
    tls?.client_auth_type === 'RequestClientCert',
    [...TLS, 'client_auth_type'],
    'accepts clients without a certificate; to require one, use RequireAndVerifyClientCert',
  );
  warn(
    tls === undefined && Object.keys(users).length > 0,
    USERS,
    'passwords are sent in clear text, because there is no `tls_server_config`',
  );
  return warnings;
}
