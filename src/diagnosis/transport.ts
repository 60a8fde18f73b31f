import { printable } from '../domain/printable.ts';
import type { CauseCode } from '../domain/problem.ts';

/**
 * Codes of errors that the exporter itself raises, in addition to those of Node, undici and OpenSSL: a call's own timeout, a
 * response that is too long, a proxy that failed, a socket address that isn't allowed, and a name that wasn't resolved in time.
 */
export const OWN_CODES = {
  deadline: 'DEADLINE',
  oversize: 'OVERSIZE',
  proxy: 'ERR_PROXY',
  address: 'ERR_SOCKET_ADDRESS',
  lookupTimeout: 'LOOKUP_TIMEOUT',
} as const;

/** An error that the exporter itself raises; its code is used like those of Node and undici. */
export class CodedError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What ended a connection or a call before there was a response. */
export type TransportKind =
  | 'dns'
  | 'timeout'
  | 'proxy'
  | 'address'
  | 'oversize'
  | 'descriptors'
  | 'cut'
  | 'protocol'
  | 'refused'
  | 'connection'
  | TlsKind;

const TLS_KINDS = [
  'tls_expired',
  'tls_not_yet_valid',
  'tls_wrong_name',
  'tls_client_certificate',
  'tls_plain_port',
  'tls_unknown_ca',
  'tls',
] as const;
type TlsKind = (typeof TLS_KINDS)[number];

/** A decoded error of Node, undici or OpenSSL. */
export interface TransportError {
  readonly kind: TransportKind;
  /** `unknown` if the error has none. */
  readonly code: string;
  readonly hostname: string | undefined;
  /** On one line and safe to show. */
  readonly message: string;
}

/** Errors are wrapped a few times at most; a cycle of causes must not hang the program. */
const MAX_DEPTH = 8;

/** Codes by meaning; the first match in the error and its chain of causes decides. */
const SIGNS: readonly (readonly [RegExp, TransportKind])[] = [
  [/^ERR_SOCKET_ADDRESS$/, 'address'],
  [/^(?:EMFILE|ENFILE)$/, 'descriptors'],
  [/^(?:ERR_PROXY$|UND_ERR_PRX)/, 'proxy'],
  [/^(?:OVERSIZE|UND_ERR_RES_EXCEEDED_MAX_SIZE)$/, 'oversize'],
  [/^CERT_HAS_EXPIRED$/, 'tls_expired'],
  [/^CERT_NOT_YET_VALID$/, 'tls_not_yet_valid'],
  [/^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'tls_wrong_name'],
  [
    /^ERR_SSL_.*(?:CERTIFICATE_REQUIRED|ALERT_(?:BAD|UNKNOWN|UNSUPPORTED|NO)_CERT|ALERT_(?:UNKNOWN_CA|CERTIFICATE_))/,
    'tls_client_certificate',
  ],
  [/^ERR_SSL_.*(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)/, 'tls_plain_port'],
  [
    /SELF_SIGNED|^UNABLE_TO_(?:GET|VERIFY)|^INVALID_CA|^CERT_UNTRUSTED|^CERT_CHAIN_TOO_LONG/,
    'tls_unknown_ca',
  ],
  [/^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|INVALID_PURPOSE|PATH_LENGTH_|UNABLE_TO_|EPROTO$)/, 'tls'],
  [/^(?:ENOTFOUND|EAI_\w+|LOOKUP_TIMEOUT)$/, 'dns'],
  [/^(?:DEADLINE|ETIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'timeout'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'cut'],
  [/^HPE_/, 'protocol'],
];

/** OpenSSL's messages, for errors whose code only shows that the handshake failed. */
const SENTENCES: readonly (readonly [RegExp, TransportKind])[] = [
  [
    /alert (?:(?:bad|unknown|unsupported|no) certificate|certificate (?:required|expired|revoked|unknown)|unknown ca)/i,
    'tls_client_certificate',
  ],
  [/wrong version number/i, 'tls_plain_port'],
];

/** An entry of OpenSSL's error queue, such as `…:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:…`. */
const OPENSSL_ENTRY = /\berror:[0-9A-F]{8}:[^:]*:[^:]*:(?<reason>[^:]*)/i;

/** What OpenSSL's reasons mean; the first match decides. */
const OPENSSL_REASONS: readonly (readonly [RegExp, string])[] = [
  [/wrong version number|packet length too long|http request/i, "the port doesn't use TLS"],
  [/protocol version|unsupported protocol|no protocols available|version too low/i, 'no common TLS version'],
  [/shared cipher|no cipher|cipher match|insufficient security/i, 'no common cipher suite'],
  [/handshake failure/i, 'no common cipher suite, or a client certificate is required'],
  [/certificate required/i, 'a client certificate is required'],
  [/alert .*(?:certificate|unknown ca)/i, 'the client certificate was rejected'],
  [/(?:key|md|digest) too (?:small|weak)/i, 'a key or signature of the certificate is too weak'],
  [/unrecognized name/i, 'the host name is unknown there'],
  [/unexpected eof/i, 'the connection was closed'],
];

/** OpenSSL's entries are for programmers: their meaning is shown instead, and the error's code beside it. */
function withoutOpenSslWords(message: string): string {
  const reason = OPENSSL_ENTRY.exec(message)?.groups?.['reason'];
  if (reason === undefined) return message;
  return OPENSSL_REASONS.find(([sign]) => sign.test(reason))?.[1] ?? 'the handshake failed';
}

/** Reads the error of a connection or a call; never throws. */
export function readTransportError(error: unknown): TransportError {
  const errors = withCauses(error);
  const codes = errors.map(codeOf).filter((code) => code !== undefined);
  // undici and ws give a code to every error of a connection, but none if the response isn't HTTP or no WebSocket begins.
  const byDefault = errors.length > 0 && codes.length === 0 ? 'protocol' : 'connection';
  const byCode = SIGNS.find(([sign]) => codes.some((code) => sign.test(code)))?.[1] ?? byDefault;
  // Only the text of a TLS error is evaluated: any other text may contain words from the far end.
  const bySentence =
    byCode === 'tls' && SENTENCES.find(([sign]) => errors.some(({ message }) => sign.test(message)))?.[1];
  const hostname = errors.map((one) => (one as { hostname?: unknown }).hostname).find(isText);
  // For a name with several addresses, the error is an aggregate without a message of its own.
  const words = errors
    .map(({ message }) => withoutOpenSslWords(printable(message)))
    .find((message) => message !== '');
  return {
    kind: bySentence || byCode,
    code: codes[0] ?? 'unknown',
    hostname,
    message: words ?? 'unknown error',
  };
}

/** How a panel is reached, as far as it helps to distinguish causes. */
export interface PanelWay {
  /** `https:` or `http:`. */
  readonly protocol: string;
  readonly proxied: boolean;
  /** The panel has responded before, in its own form. */
  readonly hasAnswered: boolean;
}

/** Why a call to the panel ended without a response. */
export function panelTransportCause({ kind }: TransportError, way: PanelWay): CauseCode {
  switch (kind) {
    case 'cut':
      // A TLS port closes a plain HTTP connection, usually without a message.
      return way.protocol === 'http:' && !way.hasAnswered ? 'https_needed' : 'connection_cut';
    case 'refused':
      // Through a proxy, the failed connection is the one to the proxy.
      return way.proxied ? 'proxy' : 'connection';
    case 'dns':
      return way.proxied ? 'proxy' : 'dns';
    case 'oversize':
    case 'protocol':
      return 'bad_answer';
    case 'address':
    case 'connection':
      return 'connection';
    default:
      return kind;
  }
}

/** Why a node's socket could not be opened. */
export function nodeTransportCause({ kind }: TransportError, proxied: boolean): CauseCode {
  switch (kind) {
    case 'address':
      return 'socket_address_local';
    case 'descriptors':
      return kind;
    case 'dns':
    case 'refused':
      return proxied ? 'node_proxy' : kind === 'dns' ? 'node_dns' : 'node_connection';
    case 'protocol':
      return 'upgrade_refused';
    case 'cut':
    case 'connection':
    case 'oversize':
      return 'node_connection';
    default:
      return `node_${kind}`;
  }
}

function withCauses(error: unknown): readonly Error[] {
  const found: Error[] = [];
  let layer: readonly unknown[] = [error];
  for (let depth = 0; depth < MAX_DEPTH && layer.length > 0; depth += 1) {
    const errors = layer.filter((one) => one instanceof Error);
    found.push(...errors);
    layer = errors.flatMap(innerErrors);
  }
  return found;
}

function innerErrors(error: Error): readonly unknown[] {
  const bundled = error instanceof AggregateError ? (error.errors as readonly unknown[]) : [];
  return bundled.concat(error.cause);
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return isText(code) ? code : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';
