import { problemOfBlamed } from '../diagnosis/outcome.ts';
import { OWN_CODES, type PanelWay, panelTransportCause, readTransportError } from '../diagnosis/transport.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import { hasPrefix, printable } from '../domain/secrets.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { ErrorBody } from './dialect.ts';
import { refusalCause } from './dialects/pterodactyl/refusals.ts';
import { decodeErrorBody } from './dialects/pterodactyl.ts';
import { rateFacts, retryAfterMs } from './rate-limit.ts';
import type { Reply } from './transport.ts';

/** A failed call to the panel; the message is the problem's detail: one line without secrets. */
export class PanelError extends Error {
  override readonly name = 'PanelError';
  readonly problem: Problem;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Whether the panel itself responded, in one of its JSON forms, and not a proxy in front of it. */
  readonly fromPanel: boolean;
  /** The `X-RateLimit-Limit` of the response, in calls per minute. */
  readonly limitPerMinute: number | undefined;

  constructor(problem: Problem, facts: Partial<PanelErrorFacts> & ErrorOptions = {}) {
    super(problem.detail, facts);
    this.problem = problem;
    this.status = facts.status;
    this.fromPanel = facts.fromPanel ?? false;
    this.limitPerMinute = facts.limitPerMinute;
  }
}

type PanelErrorFacts = Pick<PanelError, 'status' | 'fromPanel' | 'limitPerMinute'>;

/** The problem behind any rejection of a call. */
export function problemOf(error: unknown): Problem {
  if (error instanceof PanelError) return error.problem;
  const words = error instanceof Error ? error.message : String(error);
  return { cause: 'unexpected', detail: printable(words) };
}

/** A response other than success, with what is needed to explain it. */
export interface HttpRefusal extends Omit<Reply, 'contentEncoding'> {
  readonly endpoint: ApiEndpoint;
  /** Method and path, such as `GET /api/client`. */
  readonly request: string;
  /** Never shown: its prefix identifies an application key. */
  readonly apiKey: string;
  /** The panel's address. */
  readonly url: string;
  readonly nowUnixMs: number;
}

/** The error for a response other than success. */
export function refusalError(refusal: HttpRefusal): PanelError {
  const { request, status, rate, location, apiKey } = refusal;
  const body = decodeErrorBody(refusal.text, refusal.contentType, apiKey);
  const { form, detail, needsDaemon } = body;
  const target = status < 400 && `redirect to ${redirectTarget(location)}`;
  const advice = needsDaemon === true && 'the path needs the daemon, see the setting `daemon`';
  const parts = [`${request} returned ${status}`, detail && `"${detail}"`, target, advice];
  const words = parts.filter(Boolean).join(': ');
  const problem: Problem = {
    cause: causeOf(refusal, body),
    detail: words,
    retryAfterMs: status === 429 ? retryAfterMs(rate, detail, refusal.nowUnixMs) : undefined,
  };
  return new PanelError(problem, { status, fromPanel: form !== 'foreign', ...rateFacts(rate) });
}

/** Only a response in the panel's own form shows anything about a server. */
function causeOf(refusal: HttpRefusal, body: ErrorBody): CauseCode {
  const { endpoint, status, apiKey } = refusal;
  const isForeign = body.form === 'foreign';
  if (body.isUnsupported === true && isForeign && status !== 429) return 'unsupported_panel';
  if (status >= 300 && status < 400) return isToHttps(refusal) ? 'https_needed' : 'redirect';
  const cause = isForeign
    ? foreignCause(status, body.detail)
    : refusalCause({ ...body, endpoint, status, isApplicationKey: hasPrefix(apiKey, 'application') });
  return timeoutCause(cause, endpoint);
}

/** Words that occur in the titles and messages of bot checks and firewalls. */
const CHALLENGE =
  /just a moment|attention required|checking your browser|captcha|challenge|are you (?:a )?human|\bbots?\b|ddos|access denied|been blocked|firewall|cloudflare/i;

/** What statuses of something in front of the panel mean. */
const FOREIGN: Readonly<Partial<Record<number, CauseCode>>> = {
  401: 'login_page',
  403: 'challenge_page',
  407: 'proxy',
  429: 'rate_limited',
  502: 'panel_down',
  503: 'panel_down',
  504: 'timeout',
  524: 'timeout',
};

/** Why something in front of the panel refused a call; it shows nothing about a server. */
function foreignCause(status: number, detail = ''): CauseCode {
  // nginx; Go's net/http, as in Caddy and Traefik.
  if (/HTTP request (?:was sent to HTTPS port|to an HTTPS server)/i.test(detail)) return 'https_needed';
  if (/SSL certificate (?:was sent|error)/i.test(detail)) return 'tls_client_certificate';
  if (CHALLENGE.test(detail)) return 'challenge_page';
  const isOfProxy = status >= 520 && status <= 530;
  return FOREIGN[status] ?? (status < 500 ? 'not_a_panel' : isOfProxy ? 'panel_down' : 'panel_error');
}

/** Does the redirect lead to the same host over TLS? */
function isToHttps({ url, location = '' }: Pick<HttpRefusal, 'url' | 'location'>): boolean {
  if (!URL.canParse(location)) return false;
  const [from, to] = [new URL(url), new URL(location)];
  return from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname;
}

/** The redirect's address without its query, which may contain secrets. */
function redirectTarget(location: string | undefined): string {
  const address = printable(location?.split(/[?#]/, 1)[0] ?? '');
  return address === '' ? 'no address' : address;
}

/** The error for a response with a success status that can't be used. */
export function unreadableError(
  { request, status }: { readonly request: string; readonly status: number },
  problem: Error,
  body: Partial<ErrorBody> & { readonly isPage: boolean },
): PanelError {
  const quoted = body.detail === undefined ? '' : `: "${body.detail}"`;
  const detail = `${request} returned ${status}: ${problem.message}${quoted}`;
  let cause: CauseCode = body.isPage ? 'login_page' : 'bad_answer';
  if (CHALLENGE.test(body.detail ?? '')) cause = 'challenge_page';
  if (body.isUnsupported === true) cause = 'unsupported_panel';
  return new PanelError({ cause, detail }, { status, cause: problem });
}

/**
 * The cause of a timeout. A call for resources waits for the server's node, so a timeout shows more about the node than
 * about the panel.
 */
function timeoutCause(cause: CauseCode, endpoint: ApiEndpoint): CauseCode {
  return cause === 'timeout' && endpoint === 'resources' ? 'node_silent' : cause;
}

/** Where a call went, for error messages. */
export interface Destination extends PanelWay {
  readonly endpoint: ApiEndpoint;
  readonly request: string;
  readonly host: string;
  readonly timeoutMs: number;
}

/** The error for a call that ended without a response. */
export function transportError(destination: Destination, error: unknown): PanelError {
  const { request, host, timeoutMs } = destination;
  const { kind, code, message, hostname } = readTransportError(error);
  const cause = timeoutCause(panelTransportCause(kind, destination), destination.endpoint);
  const named = code === 'unknown' || message.includes(code) ? message : `${message} (${code})`;
  const words = (): string => {
    if (kind === 'proxy' || kind === 'oversize') return message;
    if (kind === 'dns') return `resolving ${hostname ?? host} failed (${code})`;
    if (kind === 'timeout')
      return code === OWN_CODES.deadline
        ? `no response from ${host} within ${timeoutMs / 1_000} s`
        : `no response from ${host}: ${named}`;
    if (kind === 'protocol') return `the response of ${host} can't be read: ${named}`;
    // It may have been open for long, and part of the response may have arrived.
    if (kind === 'cut') return `the connection to ${host} was closed (${code})`;
    if (kind === 'refused') return named;
    return `${kind.startsWith('tls') ? 'TLS with' : 'connecting to'} ${host} failed: ${named}`;
  };
  return new PanelError({ cause, detail: `${request}: ${words()}` }, { cause: error });
}

/** The `status` label for a call without a response. */
export function statusLabel(cause: CauseCode): string {
  if (cause === 'node_silent') return 'timeout';
  if (cause === 'dns' || cause === 'timeout' || cause === 'bad_answer') return cause;
  return cause.startsWith('tls') ? 'tls' : 'network';
}

/** A 404 before any success: the address is wrong, and not the server unknown. */
export function problemOfAddress(error: unknown): unknown {
  if (!(error instanceof PanelError) || error.problem.cause !== 'not_found') return error;
  return new PanelError(problemOfBlamed('panel', error.problem), { cause: error });
}
