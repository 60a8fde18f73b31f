import {
  isTreeMap,
  type Path,
  type SettingProblem,
  type Tree,
  type TreeMap,
  textIn,
} from '../../yaml/document.ts';
import {
  bcryptCost,
  isEmptyMap,
  isSection,
  parseGoDuration,
  type ServerTlsShape,
  TLS_VERSIONS,
  type WebConfigShape,
} from './schema.ts';

const TLS: Path = ['tls_server_config'];

/** Types that require a certificate signed by an authority. */
const VERIFIED: ReadonlySet<string | undefined> = new Set([
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
]);

/** Problems between the settings of a tree without blanks; ignores values that don't have the expected shape. */
export function checkWebRules(tree: Tree): readonly SettingProblem[] {
  if (!isTreeMap(tree)) return [];
  const { tls_server_config: tls, basic_auth_users: users, rate_limit: rate } = tree;
  return [
    ...checkEmpty(tree),
    ...(isTreeMap(tls) ? [...checkMaterial(tls), ...checkClients(tls), ...checkVersions(tls)] : []),
    ...(isTreeMap(users) ? checkUsers(users) : []),
    ...(isTreeMap(rate) ? checkRate(rate) : []),
  ];
}

const NO_USERS =
  'expected at least one username with a bcrypt hash: an empty section would disable authentication; to disable it on purpose, remove the section';
const NOTHING =
  'expected tls_server_config, basic_auth_users or other settings: an empty web configuration protects nothing; add settings, or start without --web.config.file';

/** Protections that are named but empty, such as from a template whose variable is empty. */
function checkEmpty(tree: TreeMap): readonly SettingProblem[] {
  const { basic_auth_users: users } = tree;
  if (isEmptyMap(users)) return [{ path: ['basic_auth_users'], message: NO_USERS, at: 'key' }];
  const asksForNothing = Object.entries(tree).every(([key, value]) => isSection(key) && isEmptyMap(value));
  return asksForNothing ? [{ path: [], message: NOTHING, at: 'key' }] : [];
}

function checkMaterial(tls: TreeMap): readonly SettingProblem[] {
  const pairs = [
    {
      inline: 'cert',
      file: 'cert_file',
      needed: "the server's certificate, or the certificate itself in cert",
    },
    { inline: 'key', file: 'key_file', needed: "the certificate's private key, or the key itself in key" },
    { inline: 'client_ca', file: 'client_ca_file', needed: undefined },
  ];
  return pairs.flatMap(({ inline, file, needed }): SettingProblem[] => {
    if (inline in tls && file in tls) {
      return [
        { path: [...TLS, inline], message: `expected either ${inline} or ${file}, got both`, at: 'key' },
      ];
    }
    if (inline in tls || file in tls || needed === undefined) return [];
    return [{ path: [...TLS, file], message: `expected a file with ${needed}`, at: 'value' }];
  });
}

function checkClients(tls: TreeMap): readonly SettingProblem[] {
  const type = textIn(tls, 'client_auth_type');
  const ca = ['client_ca', 'client_ca_file'].filter((key) => key in tls);
  const asksNobody = type === undefined || type === 'NoClientCert';
  const needsType = asksNobody
    ? [...ca, ...('client_allowed_sans' in tls ? ['client_allowed_sans'] : [])]
    : [];
  const problems = needsType.map((key): SettingProblem => {
    const message =
      'expected client_auth_type as well, such as RequireAndVerifyClientCert: without it, clients are not asked for a certificate';
    return { path: [...TLS, key], message, at: 'key' };
  });
  if (!VERIFIED.has(type) || ca.length > 0) return problems;
  // Go would use the public authorities here, and so admit anyone with a certificate for any web site.
  const message =
    "expected client_ca_file or client_ca as well: the CA that signs your clients' certificates";
  return [...problems, { path: [...TLS, 'client_auth_type'], message, at: 'value' }];
}

function checkVersions(tls: TreeMap): readonly SettingProblem[] {
  const ageOf = (key: string, otherwise: string) =>
    TLS_VERSIONS.findIndex((version) => version === (textIn(tls, key) ?? otherwise));
  const [min, max] = [ageOf('min_version', 'TLS12'), ageOf('max_version', 'TLS13')];
  if (max < 0) return [];
  const path = [...TLS, 'max_version'];
  if (max < TLS_VERSIONS.indexOf('TLS12')) {
    return [{ path, message: 'expected TLS12 or TLS13: older versions are not supported', at: 'value' }];
  }
  return max < min ? [{ path, message: 'expected min_version or a later version', at: 'value' }] : [];
}

function checkUsers(users: TreeMap): readonly SettingProblem[] {
  return Object.keys(users)
    .filter((name) => name.includes(':'))
    .map((name) => ({
      path: ['basic_auth_users', name],
      message:
        'expected a username without a colon, because clients send a colon between username and password',
      at: 'key',
    }));
}

function checkRate(rate: TreeMap): readonly SettingProblem[] {
  const interval = parseGoDuration(textIn(rate, 'interval') ?? '0') ?? 0;
  if (interval === 0 || !/^0*$/.test(textIn(rate, 'burst') ?? '')) return [];
  const message = 'expected at least 1 if interval is set: with 0, every request would be rejected';
  return [{ path: ['rate_limit', 'burst'], message, at: 'value' }];
}

/** A setting that isn't applied as written, or that is less safe than its author may expect. */
export interface Warning {
  readonly path: Path;
  readonly message: string;
}

/** Above this cost, checking a password takes seconds. */
const HIGH_COST = 14;

/** Warnings about a valid file. */
export function warningsOf(shape: WebConfigShape): readonly Warning[] {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users } = shape;
  const warnings = [...(tls === undefined ? [] : tlsWarnings(tls)), ...costWarnings(users)];
  if (tls === undefined && Object.keys(users).length > 0) {
    const message = 'passwords are sent in clear text, because there is no tls_server_config';
    warnings.push({ path: ['basic_auth_users'], message });
  }
  if (http.http2 === true) {
    const message = 'not applied: HTTP/2 is not supported, so clients use HTTP/1.1';
    warnings.push({ path: ['http_server_config', 'http2'], message });
  }
  if (http.headers['X-Frame-Options'] === 'sameorigin') {
    const message = 'not applied: the exporter never allows its pages in frames';
    warnings.push({ path: ['http_server_config', 'headers', 'X-Frame-Options'], message });
  }
  return warnings;
}

function tlsWarnings(tls: ServerTlsShape): Warning[] {
  const warnings: Warning[] = [];
  const warn = (key: keyof ServerTlsShape, message: string) =>
    warnings.push({ path: ['tls_server_config', key], message });
  if (tls.min_version === 'TLS10' || tls.min_version === 'TLS11') {
    warn('min_version', 'versions older than TLS12 are not supported: clients that need them are rejected');
  }
  if (tls.client_auth_type === 'RequireAnyClientCert' || tls.client_auth_type === 'RequireClientCert') {
    warn(
      'client_auth_type',
      'accepts any certificate, including self-signed ones; to verify certificates, use RequireAndVerifyClientCert',
    );
  }
  if (tls.client_auth_type === 'RequestClientCert') {
    warn(
      'client_auth_type',
      'accepts clients without a certificate; to require one, use RequireAndVerifyClientCert',
    );
  }
  return warnings;
}

function costWarnings(users: WebConfigShape['basic_auth_users']): Warning[] {
  return Object.entries(users)
    .filter(([, hash]) => bcryptCost(hash) > HIGH_COST)
    .map(([name, hash]) => ({
      path: ['basic_auth_users', name],
      message: `a bcrypt cost of ${bcryptCost(hash)} makes the first request take many seconds; 10 to 12 is usual`,
    }));
}
