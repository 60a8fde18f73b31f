import { printable } from '../domain/printable.ts';
import { decodeErrorBody } from './error-body.ts';
import { PanelError, type PanelErrorFacts, type PanelErrorKind } from './errors.ts';
import { limitPerMinute, type RateHeaders, retryAfterMs } from './rate-headers.ts';

/** An answer that is not a success, with what is needed to say why. */
export interface Refusal {
  /** Method and path, as `GET /api/client`. */
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly location?: string;
  readonly rate: RateHeaders;
  readonly text: string;
  /** Never shown; its prefix tells an application key, and it is struck out should the panel repeat it. */
  readonly apiKey: string;
  readonly nowUnixMs: number;
}

/** The error that an answer other than a success stands for. */
export function refusalError(refusal: Refusal): PanelError {
  const text = refusal.apiKey === '' ? refusal.text : refusal.text.replaceAll(refusal.apiKey, '***');
  const { form, detail } = decodeErrorBody(text, refusal.contentType);
  const kind = kindOfStatus(refusal.status, form === 'envelope');
  const fromPanel = form !== 'other';
  const limit = limitPerMinute(refusal.rate);
  const facts: PanelErrorFacts = {
    status: refusal.status,
    fromPanel,
    ...(detail !== undefined && { detail }),
    ...(limit !== undefined && { limitPerMinute: limit }),
    ...(kind === 'rate_limited' && {
      retryAfterMs: retryAfterMs(refusal.rate, detail, refusal.nowUnixMs),
    }),
  };
  const advice = adviceOn(kind, refusal, fromPanel);
  const parts = [`${refusal.request} answered ${refusal.status}`, detail && `"${detail}"`, advice];
  return new PanelError(kind, parts.filter(Boolean).join(': '), facts);
}

/** An error status that belongs to Cloudflare: it says that the panel behind it can't be reached. */
const isEdgeStatus = (status: number) => status >= 520 && status <= 530;

const KIND_OF_STATUS: Readonly<Record<number, PanelErrorKind>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limited',
  502: 'panel_unavailable',
  503: 'panel_unavailable',
};

function kindOfStatus(status: number, hasEnvelope: boolean): PanelErrorKind {
  if (status < 400) return 'redirect';
  // The panel wraps its node's silence in its envelope; a bare 504 is a proxy's, about the panel.
  if (status === 504) return hasEnvelope ? 'node_unreachable' : 'panel_unavailable';
  if (isEdgeStatus(status)) return 'panel_unavailable';
  return KIND_OF_STATUS[status] ?? (status >= 500 ? 'server_error' : 'bad_request');
}

const ADVICE: Partial<Record<PanelErrorKind, string>> = {
  unauthorized: 'the API key is refused: check api_key or api_key_file',
  forbidden: "the key's account lacks the permission for this server",
  not_found: "no such server, or the key's account may no longer see it",
  panel_unavailable: "the panel is down, or the proxy before it can't reach it",
  node_unreachable: "the panel can't reach the server's node",
};

const NOT_IN_ITS_WORDS: Partial<Record<PanelErrorKind, string>> = {
  unauthorized: "not in the words of a panel: check the panel's url, and what stands before the panel",
  forbidden: 'not in the words of a panel: a proxy or firewall before it may be refusing',
  not_found: "not in the words of a panel: check the panel's url",
};

const APPLICATION_KEY =
  'the key is one of the application API: use a client API key (ptlc_… or pacc_…) of an account that sees the servers';

function adviceOn(kind: PanelErrorKind, refusal: Refusal, fromPanel: boolean): string {
  if (kind === 'redirect') {
    return `it redirects to ${redirectTarget(refusal)}; redirects are not followed: check the panel's url`;
  }
  if (kind === 'forbidden' && /^(ptla|papp)_/.test(refusal.apiKey)) return APPLICATION_KEY;
  return (fromPanel ? undefined : NOT_IN_ITS_WORDS[kind]) ?? ADVICE[kind] ?? '';
}

/** The redirect's address without its query, which may carry what isn't for logs. */
function redirectTarget({ location }: Refusal): string {
  const address = printable(location?.split(/[?#]/, 1)[0] ?? '');
  return address === '' ? 'no address' : address;
}

/** The code of a call's own deadline, beside those of the parts of a call. */
const DEADLINE = 'DEADLINE';

/** Where a call went, for the words of an error. */
export interface Destination {
  readonly request: string;
  readonly host: string;
  readonly timeoutMs: number;
}

/** The error of a call that ended without an answer. */
export function transportError({ request, host, timeoutMs }: Destination, cause: unknown): PanelError {
  const { code, hostname, message } = describe(cause);
  const kind = kindOfCode(code);
  const words = {
    dns: `the name ${hostname ?? host} can't be resolved (${code}): check the panel's url, and DNS on this machine`,
    tls: `TLS with ${host} failed (${code}): ${message}: check the certificate, and tls_config (ca_file, server_name)`,
    timeout: `no answer from ${host}${code === DEADLINE ? ` within ${timeoutMs / 1_000} s` : `: ${message}`}`,
    bad_answer: message,
    network: OUT_OF_DESCRIPTORS.has(code)
      ? `no connection to ${host} (${code}): this process is out of file descriptors; raise its limit (ulimit -n, LimitNOFILE)`
      : `${host} can't be reached: ${message}: check the panel's url, and that this machine may connect to it`,
  };
  return new PanelError(kind, `${request}: ${words[kind]}`, { cause });
}

const DNS_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);

/** Nothing is wrong with the panel or the network then. */
const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE']);

const TIMEOUT_CODES = new Set([
  DEADLINE,
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** OpenSSL's names for what is wrong with a certificate, and Node's for what is wrong with the handshake. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH|PATH_LENGTH_|EPROTO$|UND_ERR_PRX_TLS$)/;

const BAD_ANSWER_CODES = new Set(['OVERSIZE', 'UND_ERR_RES_EXCEEDED_MAX_SIZE']);

function kindOfCode(code: string): 'dns' | 'tls' | 'timeout' | 'bad_answer' | 'network' {
  if (DNS_CODES.has(code)) return 'dns';
  if (TIMEOUT_CODES.has(code)) return 'timeout';
  if (TLS_CODE.test(code)) return 'tls';
  return BAD_ANSWER_CODES.has(code) ? 'bad_answer' : 'network';
}

interface Description {
  readonly code: string;
  readonly hostname: string | undefined;
  readonly message: string;
}

// Where a name has several addresses, the error of a refused connect is a bundle without words of its own.
function describe(cause: unknown): Description {
  const error: unknown = cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause;
  if (!(error instanceof Error)) return { code: 'unknown', hostname: undefined, message: 'unknown trouble' };
  const { code, hostname } = error as { readonly code?: unknown; readonly hostname?: unknown };
  return {
    code: typeof code === 'string' ? code : 'unknown',
    hostname: typeof hostname === 'string' ? hostname : undefined,
    message: printable(error.message),
  };
}
