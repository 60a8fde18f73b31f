import { printable } from '../domain/printable.ts';
import { decodeErrorBody } from './error-body.ts';
import { PanelError, type PanelErrorFacts, type PanelErrorKind } from './errors.ts';
import { ProxyError } from './proxy.ts';
import { limitPerMinute, type RateHeaders, retryAfterMs } from './rate-headers.ts';
import { DEADLINE, transportTrouble, wantsClientCertificate } from './transport-trouble.ts';

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
  // No panel says this: it is the proxy that calls in clear text go through.
  407: 'network',
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
  network: 'the proxy wants a user name and password: check them in proxy_url (or HTTP_PROXY)',
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

/** Where a call went, for the words of an error. */
export interface Destination {
  readonly request: string;
  readonly host: string;
  readonly timeoutMs: number;
}

/** The error of a call that ended without an answer. */
export function transportError({ request, host, timeoutMs }: Destination, cause: unknown): PanelError {
  if (cause instanceof ProxyError) {
    return new PanelError(transportTrouble(cause.cause).kind, `${request}: ${cause.message}`, { cause });
  }
  const { kind, code, hostname, message } = transportTrouble(cause);
  const check = wantsClientCertificate(code)
    ? 'it wants a client certificate that it knows: check tls_config (cert_file, key_file)'
    : 'check the certificate, and tls_config (ca_file, server_name)';
  const words = {
    dns: `the name ${hostname ?? host} can't be resolved (${code}): check the panel's url, and DNS on this machine`,
    tls: `TLS with ${host} failed (${code}): ${message}: ${check}`,
    timeout: `no answer from ${host}${code === DEADLINE ? ` within ${timeoutMs / 1_000} s` : `: ${message}`}`,
    bad_answer: message,
    network: OUT_OF_DESCRIPTORS.has(code)
      ? `no connection to ${host} (${code}): this process is out of file descriptors; raise its limit (ulimit -n, LimitNOFILE)`
      : `${host} can't be reached: ${message}: check the panel's url, and that this machine may connect to it`,
  };
  return new PanelError(kind, `${request}: ${words[kind]}`, { cause });
}

/** Nothing is wrong with the panel or the network then. */
const OUT_OF_DESCRIPTORS = new Set(['EMFILE', 'ENFILE']);
