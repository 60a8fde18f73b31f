import { printable } from '../domain/printable.ts';

/** What can go wrong on the way to an answer. */
export type TransportKind = 'dns' | 'tls' | 'timeout' | 'bad_answer' | 'network';

/** An error of Node's, undici's or OpenSSL's, read. */
export interface TransportTrouble {
  readonly kind: TransportKind;
  /** `unknown` where the error carries none. */
  readonly code: string;
  readonly hostname: string | undefined;
  /** In one line that can be shown. */
  readonly message: string;
}

/** The code of a call's own deadline, beside those of the parts of a call. */
export const DEADLINE = 'DEADLINE';

const DNS_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);

const TIMEOUT_CODES = new Set([
  DEADLINE,
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** OpenSSL's names for what is wrong with a certificate, and Node's for what is wrong with the handshake. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_|EPROTO$)/;

const BAD_ANSWER_CODES = new Set(['OVERSIZE', 'UND_ERR_RES_EXCEEDED_MAX_SIZE']);

function kindOfCode(code: string): TransportKind {
  if (DNS_CODES.has(code)) return 'dns';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (TLS_CODE.test(code)) return 'tls';
  return BAD_ANSWER_CODES.has(code) ? 'bad_answer' : 'network';
}

/** What an error says of the way to an answer. */
export function transportTrouble(cause: unknown): TransportTrouble {
  // Where a name has several addresses, the error of a refused connect is a bundle without words of its own.
  const error: unknown = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause;
  if (!(error instanceof Error)) {
    return { kind: 'network', code: 'unknown', hostname: undefined, message: 'unknown trouble' };
  }
  const { code, hostname } = error as { readonly code?: unknown; readonly hostname?: unknown };
  const name = typeof code === 'string' ? code : 'unknown';
  return {
    kind: kindOfCode(name),
    code: name,
    hostname: typeof hostname === 'string' ? hostname : undefined,
    message: printable(error.message),
  };
}

/** OpenSSL's names for the alerts of a peer that misses our certificate, or doesn't take it. */
const CLIENT_CERTIFICATE =
  /^ERR_SSL_.*(?:CERTIFICATE_REQUIRED|ALERT_(?:BAD|NO|UNSUPPORTED)_CERTIFICATE|ALERT_UNKNOWN_CA)$/;

/** Did the far end end the handshake for want of a client certificate that it takes? */
export function wantsClientCertificate(code: string): boolean {
  return CLIENT_CERTIFICATE.test(code);
}
