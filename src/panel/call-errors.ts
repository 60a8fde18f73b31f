/** Errors of calls: rejected, unreadable, or without a response. */
import { cloudflareMeaning, foreignPanelCause, pageCause } from '../diagnosis/foreign-responses.ts';
import {
  messageWithCode,
  OWN_CODES,
  type PanelRoute,
  panelTransportCause,
  readTransportError,
} from '../diagnosis/transport-errors.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { hasPrefix } from '../text/api-keys.ts';
import { printable } from '../text/printable.ts';
import type { Dialect, ErrorBody } from './dialect.ts';
import type { Reply } from './panel-connections.ts';
import { PanelError } from './panel-error.ts';
import { rateFacts, retryAfterMs } from './rate-headers.ts';
import { isMarkup, MAX_QUOTED_LENGTH, NotJsonError, PHP_MESSAGE } from './response-body.ts';
import type { ShapeError } from './responses.ts';

/** An unsuccessful response, with the facts that explain it. */
export interface HttpRefusal extends Omit<Reply, 'contentEncoding'> {
  readonly endpoint: ApiEndpoint;
  /** The dialect that reads the response. */
  readonly dialect: Pick<Dialect, 'refusals' | 'rate' | 'permissions'>;
  /** Method and path, such as `GET /api/client`. */
  readonly request: string;
  /** Never shown. Its prefix identifies an application key. */
  readonly apiKey: string;
  /** The panel's address. */
  readonly url: string;
  readonly nowUnixMs: number;
}

/** The error for an unsuccessful response. */
export function refusalError(refusal: HttpRefusal): PanelError {
  const { request, status, rate, location, dialect } = refusal;
  const body = dialect.refusals.read(refusal.text, refusal.contentType);
  const { form, detail } = body;
  const target = status < 400 && `redirect to ${redirectTarget(location)}`;
  const parts = [
    `${request} returned ${status}`,
    detail && `"${detail}"`,
    target,
    form === 'foreign' && cloudflareMeaning(status),
  ];
  const problem: Problem = {
    cause: refusalCause(refusal, body),
    detail: parts.filter(Boolean).join(': '),
    retryAfterMs: status === 429 ? retryAfterMs(rate, detail, refusal.nowUnixMs) : undefined,
  };
  return new PanelError(problem, {
    status,
    fromPanel: form !== 'foreign',
    permission: dialect.permissions[refusal.endpoint],
    ...rateFacts(rate, dialect.rate.windowMs),
  });
}

/** Only a response in the panel's own form is evidence about a server. */
function refusalCause(refusal: HttpRefusal, body: ErrorBody): CauseCode {
  const { endpoint, status, apiKey, dialect } = refusal;
  const isForeign = body.form === 'foreign';
  if (status >= 300 && status < 400) return isToHttps(refusal) ? 'https_needed' : 'redirect';
  const cause = isForeign
    ? foreignPanelCause({ status, message: body.detail, isChallenge: refusal.isChallenge })
    : dialect.refusals.cause({
        ...body,
        endpoint,
        status,
        isApplicationKey: hasPrefix(apiKey, 'application'),
      });
  return timeoutCause(cause, endpoint);
}

/** Does the redirect lead to the same host over TLS? */
function isToHttps({ url, location = '' }: Pick<HttpRefusal, 'url' | 'location'>): boolean {
  if (!URL.canParse(location)) return false;
  const [from, to] = [new URL(url), new URL(location)];
  return from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname;
}

/** The address of the redirect without its query, which may contain secrets. */
function redirectTarget(location: string | undefined): string {
  const address = printable(location?.split(/[?#]/, 1)[0] ?? '');
  return address === '' ? 'no address' : address;
}

/** The error for a successful response that is unusable. */
export function unreadableError(
  request: string,
  { status, text, contentType, isChallenge }: Reply,
  problem: ShapeError,
  { refusals }: Pick<Dialect, 'refusals'>,
): PanelError {
  const isPage = isMarkup(text) || PHP_MESSAGE.test(text);
  // Any other body isn't quoted, because it may be a token.
  const isObject = text.length <= MAX_QUOTED_LENGTH && /^\s*\{/.test(text);
  const isQuoted = isPage || (!(problem instanceof NotJsonError) && isObject);
  const body = isQuoted ? refusals.read(text, contentType) : undefined;
  const quoted = body?.detail === undefined ? '' : `: "${body.detail}"`;
  const detail = `${request} returned ${status}: ${problem.message}${quoted}`;
  const cause = pageCause(isPage ? text : '', { message: body?.detail, isChallenge });
  return new PanelError({ cause, detail }, { status, cause: problem });
}

/**
 * The cause of a timeout. A call for resources waits for the node, so usually the node caused it.
 */
function timeoutCause(cause: CauseCode, endpoint: ApiEndpoint): CauseCode {
  return cause === 'timeout' && endpoint === 'resources' ? 'node_silent' : cause;
}

/** The destination of a call, for error messages. */
export interface Destination extends PanelRoute {
  readonly endpoint: ApiEndpoint;
  readonly request: string;
  readonly host: string;
  readonly timeoutMs: number;
}

/** The error for a call that ended without a response. */
export function transportError(destination: Destination, error: unknown): PanelError {
  const { request, host, timeoutMs } = destination;
  const read = readTransportError(error);
  const { kind, code, message, hostname } = read;
  const cause = timeoutCause(panelTransportCause(kind, destination), destination.endpoint);
  const named = messageWithCode(read);
  const describe = (): string => {
    if (kind === 'proxy' || kind === 'oversize') return message;
    if (kind === 'dns') return `resolving ${hostname ?? host} failed (${code})`;
    if (kind === 'timeout')
      return code === OWN_CODES.deadline
        ? `no response from ${host} within ${timeoutMs / 1_000} s`
        : `no response from ${host}: ${named}`;
    if (kind === 'protocol') return `the response from ${host} can't be read: ${named}`;
    // The connection may be old, and part of the response may have arrived.
    if (kind === 'cut') return `the connection to ${host} was closed (${code})`;
    if (kind === 'refused') return named;
    return `${kind.startsWith('tls') ? 'TLS with' : 'connecting to'} ${host} failed: ${named}`;
  };
  return new PanelError({ cause, detail: `${request}: ${describe()}` }, { cause: error });
}

/** The `status` label for a call without a response. */
export function statusLabel(cause: CauseCode): string {
  if (cause === 'node_silent') return 'timeout';
  if (cause === 'dns' || cause === 'timeout' || cause === 'bad_answer') return cause;
  return cause.startsWith('tls') ? 'tls' : 'network';
}
