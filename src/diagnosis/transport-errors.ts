// The causes of errors that end a connection or a call before there is a response.
import type { CauseCode } from '../domain/problems.ts';
import { printable } from '../text/printable.ts';

/**
 * Codes of errors that the exporter itself raises, in addition to those of Node, undici and
 * OpenSSL: a call timed out, a response is too long, a proxy failed, a socket address isn't
 * allowed, a name wasn't resolved in time.
 */
export const OWN_CODES = {
  deadline: 'DEADLINE',
  oversize: 'OVERSIZE',
  proxy: 'ERR_PROXY',
  address: 'ERR_SOCKET_ADDRESS',
  lookupTimeout: 'LOOKUP_TIMEOUT',
} as const;

/** An error that the exporter itself raises. Its code is used like those of Node and undici. */
export class CodedError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The cause of each kind of error, for a panel and for a node. */
const CAUSES_OF = {
  address: ['connection', 'socket_address_local'],
  descriptors: ['descriptors', 'descriptors'],
  proxy: ['proxy', 'node_proxy'],
  oversize: ['bad_answer', 'node_connection'],
  tls_expired: ['tls_expired', 'node_tls_expired'],
  tls_not_yet_valid: ['tls_not_yet_valid', 'node_tls_not_yet_valid'],
  tls_wrong_name: ['tls_wrong_name', 'node_tls_wrong_name'],
  tls_client_certificate: ['tls_client_certificate', 'node_tls_client_certificate'],
  tls_plain_port: ['tls_plain_port', 'node_tls_plain_port'],
  tls_unknown_ca: ['tls_unknown_ca', 'node_tls_unknown_ca'],
  tls: ['tls', 'node_tls'],
  dns: ['dns', 'node_dns'],
  timeout: ['timeout', 'node_timeout'],
  refused: ['connection', 'node_connection'],
  cut: ['connection_cut', 'node_connection'],
  protocol: ['bad_answer', 'upgrade_refused'],
  connection: ['connection', 'node_connection'],
} as const satisfies Readonly<Record<string, readonly [panel: CauseCode, node: CauseCode]>>;

type TransportKind = keyof typeof CAUSES_OF;

/** Patterns of error codes. The first match in the error and its chain of causes applies. */
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
  [/^(?:DEADLINE|ETIMEDOUT)$/, 'timeout'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'cut'],
  [/^HPE_/, 'protocol'],
];

/** Patterns of OpenSSL's messages, for errors whose code shows only that the handshake failed. */
const SENTENCES: readonly (readonly [RegExp, TransportKind])[] = [
  [
    /alert (?:(?:bad|unknown|unsupported|no) certificate|certificate (?:required|expired|revoked|unknown)|unknown ca)/i,
    'tls_client_certificate',
  ],
  [/wrong version number/i, 'tls_plain_port'],
];

/**
 * An entry of OpenSSL's error queue, such as `…:error:0A00010B:SSL routines:ssl3_get_record:wrong
 * version number:…`.
 */
const OPENSSL_ENTRY = /\berror:[0-9A-F]{8}:[^:]*:[^:]*:(?<reason>[^:]*)/i;

/** The meanings of OpenSSL's reasons. The first match applies. */
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

/**
 * The meaning of an error, in place of OpenSSL's entries and names of system calls. The error's
 * code is shown beside it.
 */
function plainMessage(message: string): string {
  const [, refusedBy] = /^connect ECONNREFUSED (\S+)/.exec(message) ?? [];
  if (refusedBy !== undefined) return `connection to ${refusedBy} refused`;
  const reason = OPENSSL_ENTRY.exec(message)?.groups?.['reason'];
  if (reason === undefined) return message;
  return OPENSSL_REASONS.find(([sign]) => sign.test(reason))?.[1] ?? 'the handshake failed';
}

/** Classifies the error of a connection or a call; never throws. */
export function readTransportError(error: unknown) {
  const errors = withCauses(error);
  const collect = (key: 'code' | 'hostname') =>
    errors
      .map((one) => (one as Partial<Record<typeof key, unknown>>)[key])
      .filter((value) => typeof value === 'string');
  const codes = collect('code');
  // undici and ws give a code to every connection error. There is none if the response isn't HTTP
  // or the WebSocket handshake is invalid.
  const byDefault = errors.length > 0 && codes.length === 0 ? 'protocol' : 'connection';
  const byCode = SIGNS.find(([sign]) => codes.some((code) => sign.test(code)))?.[1] ?? byDefault;
  // Only the text of a TLS error is evaluated; any other text may come from the far end.
  const bySentence =
    byCode === 'tls' && SENTENCES.find(([sign]) => errors.some(({ message }) => sign.test(message)))?.[1];
  // If a name has several addresses, the error is an aggregate without a message of its own.
  const plain = errors
    .map(({ message }) => plainMessage(printable(message)))
    .find((message) => message !== '');
  return {
    kind: bySentence || byCode,
    /** `unknown` if the error has none. */
    code: codes[0] ?? 'unknown',
    hostname: collect('hostname')[0],
    /** On one line and without control characters. */
    message: plain ?? 'unknown error',
  };
}

/** The message of an error, followed by its code unless that is unknown or part of the message. */
export function messageWithCode({
  message,
  code,
}: Pick<ReturnType<typeof readTransportError>, 'message' | 'code'>): string {
  return code === 'unknown' || message.includes(code) ? message : `${message} (${code})`;
}

/** The access to a panel, as far as it distinguishes causes. */
export interface PanelRoute {
  /** `https:` or `http:`. */
  readonly protocol: string;
  readonly proxied: boolean;
  /** Whether the panel has responded before, in its own form. */
  readonly hasAnswered: boolean;
}

/** Why a call to the panel ended without a response. */
export function panelTransportCause(kind: TransportKind, route: PanelRoute): CauseCode {
  if (route.proxied && isOfFirstHop(kind)) return 'proxy';
  // A TLS port closes a plain HTTP connection, usually without a message.
  if (kind === 'cut' && route.protocol === 'http:' && !route.hasAnswered) return 'https_needed';
  return CAUSES_OF[kind][0];
}

/** Why a node's socket could not be opened. */
export function nodeTransportCause(kind: TransportKind, proxied: boolean): CauseCode {
  return proxied && isOfFirstHop(kind) ? 'node_proxy' : CAUSES_OF[kind][1];
}

/** With a proxy, a failed lookup or connection is that of the proxy. */
const isOfFirstHop = (kind: TransportKind) => kind === 'dns' || kind === 'refused';

/** The error and its causes, each once even if they form a cycle. */
function withCauses(error: unknown): readonly Error[] {
  const found = new Set([error]);
  for (const one of found) {
    const bundled = one instanceof AggregateError ? (one.errors as readonly unknown[]) : [];
    if (one instanceof Error) for (const inner of [...bundled, one.cause]) found.add(inner);
  }
  return [...found].filter((one) => one instanceof Error);
}
