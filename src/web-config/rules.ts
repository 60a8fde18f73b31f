import type { Finding } from '../config/rules.ts';
import { isTreeMap, type Path, type Tree, type TreeMap, textIn } from '../config/tree.ts';
import { parseGoDuration } from './go-duration.ts';
import { TLS_VERSIONS } from './tls-names.ts';

const TLS: Path = ['tls_server_config'];

/** Types that ask for a certificate that somebody vouches for. */
const VERIFIED: ReadonlySet<string | undefined> = new Set([
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
]);

/** What is wrong between the settings of a tree without blanks; passes over what has not the expected shape. */
export function checkWebRules(tree: Tree): readonly Finding[] {
  if (!isTreeMap(tree)) return [];
  const { tls_server_config: tls, basic_auth_users: users, rate_limit: rate } = tree;
  return [
    ...(isTreeMap(tls) ? [...checkMaterial(tls), ...checkClients(tls), ...checkVersions(tls)] : []),
    ...(isTreeMap(users) ? checkUsers(users) : []),
    ...(isTreeMap(rate) ? checkRate(rate) : []),
  ];
}

function checkMaterial(tls: TreeMap): readonly Finding[] {
  const pairs = [
    { inline: 'cert', file: 'cert_file', needed: "the server's certificate, or cert with it in PEM" },
    { inline: 'key', file: 'key_file', needed: "the certificate's private key, or key with it in PEM" },
    { inline: 'client_ca', file: 'client_ca_file', needed: undefined },
  ];
  return pairs.flatMap(({ inline, file, needed }): Finding[] => {
    if (inline in tls && file in tls) {
      return [
        { path: [...TLS, inline], message: `expected either ${inline} or ${file}, got both`, at: 'key' },
      ];
    }
    if (inline in tls || file in tls || needed === undefined) return [];
    return [{ path: [...TLS, file], message: `expected the file with ${needed}`, at: 'value' }];
  });
}

function checkClients(tls: TreeMap): readonly Finding[] {
  const type = textIn(tls, 'client_auth_type');
  const ca = ['client_ca', 'client_ca_file'].filter((key) => key in tls);
  const asksNobody = type === undefined || type === 'NoClientCert';
  const needsType = asksNobody
    ? [...ca, ...('client_allowed_sans' in tls ? ['client_allowed_sans'] : [])]
    : [];
  const findings = needsType.map((key): Finding => {
    const message =
      'expected client_auth_type beside it, such as RequireAndVerifyClientCert: as it is, no client is asked for a certificate';
    return { path: [...TLS, key], message, at: 'key' };
  });
  if (!VERIFIED.has(type) || ca.length > 0) return findings;
  // Go would take the public authorities here, and so let in whoever has a certificate of any web site.
  const message =
    'expected client_ca_file or client_ca beside it: who signs the certificates of your clients';
  return [...findings, { path: [...TLS, 'client_auth_type'], message, at: 'value' }];
}

function checkVersions(tls: TreeMap): readonly Finding[] {
  const ageOf = (key: string, otherwise: string) =>
    TLS_VERSIONS.findIndex((version) => version === (textIn(tls, key) ?? otherwise));
  const [min, max] = [ageOf('min_version', 'TLS12'), ageOf('max_version', 'TLS13')];
  if (max < 0) return [];
  const path = [...TLS, 'max_version'];
  if (max < TLS_VERSIONS.indexOf('TLS12')) {
    return [{ path, message: 'expected TLS12 or TLS13: older versions are not served', at: 'value' }];
  }
  return max < min
    ? [{ path, message: 'expected a version that is not below min_version', at: 'value' }]
    : [];
}

function checkUsers(users: TreeMap): readonly Finding[] {
  return Object.keys(users)
    .filter((name) => name.includes(':'))
    .map((name) => ({
      path: ['basic_auth_users', name],
      message: 'expected a user name without a colon, which ends the name where a client sends it',
      at: 'key',
    }));
}

function checkRate(rate: TreeMap): readonly Finding[] {
  const interval = parseGoDuration(textIn(rate, 'interval') ?? '0') ?? 0;
  if (interval === 0 || !/^0*$/.test(textIn(rate, 'burst') ?? '')) return [];
  const message = 'expected at least 1 where there is an interval: no request would ever be answered';
  return [{ path: ['rate_limit', 'burst'], message, at: 'value' }];
}
