import { problemOfBlamed } from '../diagnosis/outcome.ts';
import {
  foreignCause,
  redirectCause,
  timeoutCause,
  type UnreadableBody,
  unreadableCause,
} from '../diagnosis/panel-answer.ts';
import { OWN_CODES, type PanelWay, panelTransportCause, readTransportError } from '../diagnosis/transport.ts';
import { printable } from '../domain/printable.ts';
import type { CauseCode, Problem } from '../domain/problem.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { ErrorBody, PanelDialect } from './dialect.ts';
import { limitPerMinute, type RateHeaders, retryAfterMs } from './rate-limit.ts';

/** What is known about a failed call besides its problem; a key is absent if unknown. */
export interface PanelErrorFacts {
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** Whether the panel itself responded, in one of its JSON forms, and not a proxy in front of it. */
  readonly fromPanel?: boolean;
  /** The `X-RateLimit-Limit` of the response, in calls per minute. */
  readonly limitPerMinute?: number;
  /** The path is below the name of this daemon. */
  readonly daemon?: string;
  readonly cause?: unknown;
}

/** A failed call to the panel; the message is the problem's detail: one line without secrets. */
export class PanelError extends Error {
  override readonly name = 'PanelError';
  readonly problem: Problem;
  readonly status: number | undefined;
  readonly fromPanel: boolean;
  readonly limitPerMinute: number | undefined;
  readonly daemon: string | undefined;

  constructor(problem: Problem, facts: PanelErrorFacts = {}) {
    super(problem.detail, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.problem = problem;
    this.status = facts.status;
    this.fromPanel = facts.fromPanel ?? false;
    this.limitPerMinute = facts.limitPerMinute;
    this.daemon = facts.daemon;
  }
}

/** The problem behind any rejection of a call. */
export function problemOf(error: unknown): Problem {
  if (error instanceof PanelError) return error.problem;
  const words = error instanceof Error ? error.message : String(error);
  return { cause: 'unexpected', detail: printable(words) };
}

/** A response other than success, with what is needed to explain it. */
export interface HttpRefusal {
  readonly endpoint: ApiEndpoint;
  /** Method and path, such as `GET /api/client`. */
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly location?: string;
  readonly rate: RateHeaders;
  readonly text: string;
  /** Never shown: its prefix identifies an application key. */
  readonly apiKey: string;
  /** The panel's address. */
  readonly url: string;
  readonly nowUnixMs: number;
}

/** The parts of the panel's dialect that are needed to read a refusal. */
type ErrorDialect = Pick<PanelDialect, 'apiKeys' | 'decodeErrorBody' | 'refusalCause'>;

/** The error for a response other than success. */
export function refusalError(refusal: HttpRefusal, dialect: ErrorDialect): PanelError {
  const { request, status, rate, location } = refusal;
  const body = dialect.decodeErrorBody(refusal.text, refusal.contentType);
  const { form, detail, daemon } = body;
  const cause = causeOf(refusal, body, dialect);
  const target = status < 400 ? `redirect to ${redirectTarget(location)}` : undefined;
  const words = [`${request} returned ${status}`, detail && `"${detail}"`, target].filter(Boolean).join(': ');
  const problem: Problem = {
    cause,
    detail: words,
    retryAfterMs: status === 429 ? retryAfterMs(rate, detail, refusal.nowUnixMs) : undefined,
  };
  return new PanelError(problem, {
    status,
    fromPanel: form !== 'foreign',
    limitPerMinute: limitPerMinute(rate),
    daemon,
  });
}

/** Only a response in the panel's own form shows anything about a server. */
function causeOf(refusal: HttpRefusal, body: ErrorBody, { apiKeys, refusalCause }: ErrorDialect): CauseCode {
  const { endpoint, status, apiKey } = refusal;
  if (body.isUnsupported === true && body.form === 'foreign' && status !== 429) return 'unsupported_panel';
  if (status >= 300 && status < 400) return redirectCause(refusal);
  const cause =
    body.form === 'foreign'
      ? foreignCause(status, body.detail)
      : refusalCause({ ...body, endpoint, status, isApplicationKey: apiKeys.isApplicationKey(apiKey) });
  return timeoutCause(cause, endpoint);
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
  body: UnreadableBody,
): PanelError {
  const quoted = body.words === undefined ? '' : `: "${body.words}"`;
  const detail = `${request} returned ${status}: ${problem.message}${quoted}`;
  return new PanelError({ cause: unreadableCause(body), detail }, { status, cause: problem });
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
  const read = readTransportError(error);
  const { code, message, hostname } = read;
  const cause = timeoutCause(panelTransportCause(read, destination), destination.endpoint);
  const named = code === 'unknown' || message.includes(code) ? message : `${message} (${code})`;
  const words = (): string => {
    if (read.kind === 'proxy') return message;
    if (read.kind === 'dns') return `resolving ${hostname ?? host} failed (${code})`;
    if (read.kind === 'timeout')
      return code === OWN_CODES.deadline
        ? `no response from ${host} within ${timeoutMs / 1_000} s`
        : `no response from ${host}: ${named}`;
    if (read.kind === 'oversize') return message;
    if (read.kind === 'protocol') return `the response of ${host} can't be read: ${named}`;
    // It may have been open for long, and part of the response may have arrived.
    if (read.kind === 'cut') return `the connection to ${host} was closed: ${named}`;
    return read.kind.startsWith('tls')
      ? `TLS with ${host} failed: ${named}`
      : `connecting to ${host} failed: ${named}`;
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
