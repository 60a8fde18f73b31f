import type { Path } from '../config/tree.ts';
import { bcryptCost, type TlsShape, type WebConfigShape } from './schema.ts';

/** Something that is not as the file says, or less safe than its writer may think. */
export interface Warning {
  readonly path: Path;
  readonly message: string;
}

/** Above this a password takes seconds to check. */
const HIGH_COST = 14;

/** What to tell of a file that is valid. */
export function warningsOf(shape: WebConfigShape): readonly Warning[] {
  const { tls_server_config: tls, http_server_config: http, basic_auth_users: users } = shape;
  const warnings = [...(tls === undefined ? [] : tlsWarnings(tls)), ...costWarnings(users)];
  if (tls === undefined && Object.keys(users).length > 0) {
    const message = 'passwords cross the network in clear text, since there is no tls_server_config';
    warnings.push({ path: ['basic_auth_users'], message });
  }
  if (http.http2 === true) {
    const message = 'HTTP/2 is not served: clients use HTTP/1.1';
    warnings.push({ path: ['http_server_config', 'http2'], message });
  }
  if (http.headers['X-Frame-Options'] === 'sameorigin') {
    const message = 'not applied: the pages here may not be put in a frame at all';
    warnings.push({ path: ['http_server_config', 'headers', 'X-Frame-Options'], message });
  }
  return warnings;
}

function tlsWarnings(tls: TlsShape): Warning[] {
  const warnings: Warning[] = [];
  const warn = (key: keyof TlsShape, message: string) =>
    warnings.push({ path: ['tls_server_config', key], message });
  if (tls.min_version === 'TLS10' || tls.min_version === 'TLS11') {
    warn('min_version', 'versions older than TLS12 are not served: clients that know no other are refused');
  }
  if (tls.client_auth_type === 'RequireAnyClientCert' || tls.client_auth_type === 'RequireClientCert') {
    warn(
      'client_auth_type',
      'anybody can make a certificate that this accepts; RequireAndVerifyClientCert checks it',
    );
  }
  if (tls.client_auth_type === 'RequestClientCert') {
    warn('client_auth_type', 'this keeps nobody out; RequireAndVerifyClientCert does');
  }
  return warnings;
}

function costWarnings(users: WebConfigShape['basic_auth_users']): Warning[] {
  return Object.entries(users)
    .filter(([, hash]) => bcryptCost(hash) > HIGH_COST)
    .map(([name, hash]) => ({
      path: ['basic_auth_users', name],
      message: `a hash of cost ${bcryptCost(hash)} takes many seconds to check at the first request; 10 to 12 is usual`,
    }));
}
