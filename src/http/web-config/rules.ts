import { isTreeMap, type Path, type SettingProblem, type Tree, valueAt } from '../../yaml/document.ts';
import { isEmptyMap } from './schema.ts';

const TLS: Path = ['tls_server_config'];
const USERS: Path = ['basic_auth_users'];

/** A message about a setting, if it is there and its value matches. */
interface Rule {
  readonly path: Path;
  readonly value?: RegExp;
  readonly message: string;
}

const NOT_IGNORED = 'not supported, and ignoring it would allow what it excludes';

/** Settings that restrict who is admitted, or how, and settings that must not be written in this file. */
const REJECTED: readonly Rule[] = [
  { path: [...TLS, 'cert'], message: 'not supported: name a file with the certificate in cert_file' },
  { path: [...TLS, 'key'], message: 'not supported: name a file with the private key in key_file' },
  { path: [...TLS, 'client_ca'], message: 'not supported: name a file with it in client_ca_file' },
  {
    path: [...TLS, 'client_allowed_sans'],
    message: `${NOT_IGNORED}: use a CA that signs only the clients of this exporter`,
  },
  {
    path: [...TLS, 'cipher_suites'],
    message: `${NOT_IGNORED}: remove it to use the suites of Node.js with forward secrecy, or set min_version: TLS13`,
  },
  { path: [...TLS, 'curve_preferences'], message: `${NOT_IGNORED}: remove it to use the curves of Node.js` },
];

const NO_EFFECT = 'has no effect';

/** Settings that aren't applied as written, or that are less safe than their author may expect. */
const DOUBTFUL: readonly Rule[] = [
  { path: ['rate_limit'], message: `${NO_EFFECT}: requests are not limited` },
  { path: ['http_server_config', 'http2'], message: `${NO_EFFECT}: clients use HTTP/1.1` },
  {
    path: [...TLS, 'prefer_server_cipher_suites'],
    message: `${NO_EFFECT}: Node.js chooses the cipher suite`,
  },
  {
    path: ['http_server_config', 'headers', 'X-Frame-Options'],
    value: /^sameorigin$/,
    message: `${NO_EFFECT}: the exporter never allows its pages in frames`,
  },
  {
    path: [...TLS, 'min_version'],
    value: /^TLS1[01]$/,
    message: 'versions older than TLS12 are not supported: clients that need them are rejected',
  },
  {
    path: [...TLS, 'client_auth_type'],
    value: /^Require(Any)?ClientCert$/,
    message:
      'accepts any certificate, including self-signed ones; to verify certificates, use RequireAndVerifyClientCert',
  },
  {
    path: [...TLS, 'client_auth_type'],
    value: /^RequestClientCert$/,
    message: 'accepts clients without a certificate; to require one, use RequireAndVerifyClientCert',
  },
];

const NO_USERS =
  'expected at least one username with a bcrypt hash: an empty section would disable authentication; to disable it on purpose, remove the section';
const NOTHING =
  'expected tls_server_config, basic_auth_users or other settings: an empty web configuration protects nothing; add settings, or start without --web.config.file';
const NO_TYPE =
  'expected client_auth_type as well, such as RequireAndVerifyClientCert: without it, clients are not asked for a certificate';
const COLON =
  'expected a username without a colon, because clients send a colon between username and password';
const CLEAR_TEXT = 'passwords are sent in clear text, because there is no tls_server_config';

/** Problems between the settings of a tree without blanks; ignores values that don't have the expected shape. */
export function checkWebRules(tree: Tree): readonly SettingProblem[] {
  if (!isTreeMap(tree)) return [];
  const problems = broken(REJECTED, tree);
  const add = (path: Path, message: string, at: 'key' | 'value' = 'key') =>
    problems.push({ path, message, at });
  const users = valueAt(tree, USERS);
  if (isEmptyMap(users)) add(USERS, NO_USERS);
  else if (Object.values(tree).every(isEmptyMap)) add([], NOTHING);
  for (const name of isTreeMap(users) ? Object.keys(users) : []) {
    if (name.includes(':')) add([...USERS, name], COLON);
  }
  const [type, min, max, ca] = ['client_auth_type', 'min_version', 'max_version', 'client_ca_file'].map(
    (key) => valueAt(tree, [...TLS, key]),
  );
  if (ca !== undefined && (type === undefined || type === 'NoClientCert')) {
    add([...TLS, 'client_ca_file'], NO_TYPE);
  }
  // Go would use the public authorities here, and so admit anyone with a certificate for any web site.
  if (ca === undefined && (type === 'VerifyClientCertIfGiven' || type === 'RequireAndVerifyClientCert')) {
    const message = "expected client_ca_file as well: the CA that signs your clients' certificates";
    add([...TLS, 'client_auth_type'], message, 'value');
  }
  if (min === 'TLS13' && max === 'TLS12') {
    add([...TLS, 'max_version'], 'expected min_version or a later version', 'value');
  }
  return problems;
}

/** Warnings about a valid tree. */
export function warningsOf(tree: Tree): readonly SettingProblem[] {
  const isClear = valueAt(tree, USERS) !== undefined && valueAt(tree, TLS) === undefined;
  const clear: SettingProblem = { path: USERS, message: CLEAR_TEXT, at: 'key' };
  return [...broken(DOUBTFUL, tree), ...(isClear ? [clear] : [])];
}

function broken(rules: readonly Rule[], tree: Tree): SettingProblem[] {
  const found = rules.filter(({ path, value }) => {
    const text = valueAt(tree, path);
    return text !== undefined && (value === undefined || (typeof text === 'string' && value.test(text)));
  });
  return found.map(({ path, message }) => ({ path, message, at: 'key' }));
}
