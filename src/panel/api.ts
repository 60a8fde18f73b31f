/**
 * The client API of one panel: makes a call and decodes its response, or finds the cause of its
 * failure.
 */
import { cloudflareMeaning, foreignPanelCause, pageCause } from '../diagnosis/foreign-responses.ts';
import { blamedProblem } from '../diagnosis/outcome.ts';
import {
  OWN_CODES,
  type PanelWay,
  panelTransportCause,
  readTransportError,
  withCode,
} from '../diagnosis/transport.ts';
import { hasPrefix } from '../domain/api-keys.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import { printable } from '../domain/secrets.ts';
import { MIB } from '../domain/server.ts';
import type { ApiEndpoint, PanelTelemetry } from '../domain/telemetry.ts';
import {
  type Dialect,
  type ErrorBody,
  type PanelAnswerText,
  type PanelRequest,
  type Requested,
  type Resources,
  type Responses,
  ShapeError,
} from './dialect.ts';
import { rateFacts, retryAfterMs } from './rate-headers.ts';
import type { RateFacts } from './scheduler/rate-limit.ts';
import { SpokenDialect } from './spoken-dialect.ts';
import { type ConnectionOptions, Connections, MAX_BODY_BYTES, type Reply } from './transport.ts';

/** A decoded response, and what its headers show about the rate limit. */
export interface PanelAnswer<T> extends RateFacts {
  readonly value: T;
}

export interface PanelApiOptions extends ConnectionOptions {
  /** The panel's name. */
  readonly panel: string;
  /** Called for every request, so that an API key changed in its file is used at once. */
  readonly apiKey: () => string;
  readonly userAgent: string;
  readonly telemetry: PanelTelemetry;
  /** What the panel speaks; its own, from key and responses, if absent. */
  readonly dialect?: SpokenDialect;
}

/** A request, as a dialect makes it. */
type RequestIn<T> = (dialect: Dialect) => PanelRequest<T>;

/** One server's response is a few hundred bytes, and so is a server's part of its node's list. */
const MAX_SMALL_BODY_BYTES = MIB;

/**
 * The most members, objects or arrays in a response. The longest response could have half a million
 * members with keys of their own, or two million nested arrays, which take more than a second to
 * parse. A full page of servers with a hundred variables each has fewer.
 */
const MAX_PARTS = 200_000;

/** No longer response is parsed again for the panel's message. */
const MAX_QUOTED_LENGTH = 65_536;

/** The panel's client API. */
export class PanelApi {
  readonly #options: PanelApiOptions;
  readonly #url: URL;
  readonly #dialect: SpokenDialect;
  #connections: Connections;
  /** The panel has responded before, in its own form. */
  #hasAnswered = false;

  constructor(options: PanelApiOptions) {
    this.#options = options;
    this.#dialect = options.dialect ?? new SpokenDialect(options);
    this.#url = new URL(options.baseUrl);
    this.#connections = new Connections(options);
  }

  /** Makes the next calls over these connections; calls in progress end on those before. */
  use(connections: Connections): void {
    void this.#connections.drain();
    this.#connections = connections;
  }

  /** Closes all connections; calls in progress are rejected. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Makes one call; rejects with a `PanelError`, or with the signal's reason if that aborts. */
  async get<Endpoint extends ApiEndpoint>(
    endpoint: Endpoint,
    what: Requested,
    signal: AbortSignal,
  ): Promise<PanelAnswer<Responses[Endpoint]>> {
    const request: RequestIn<Responses[Endpoint]> = ({ requests }) => requests[endpoint](what);
    try {
      return await this.#ask(this.#dialect.current, endpoint, request, signal);
    } catch (error) {
      if (!(error instanceof OtherDialect)) throw error;
      return this.#ask(error.dialect, endpoint, request, signal);
    }
  }

  /** The limit in calls per minute of a panel that reports none, if it is known. */
  get defaultPerMinute(): number | undefined {
    return this.#dialect.current.rate.defaultPerMinute;
  }

  /** Does the panel list the resources of all of a node's servers? */
  get hasResourcesOfNode(): boolean {
    return this.#dialect.current.resourcesOfNode !== undefined;
  }

  /** Gets such a list; rejects as `get` does, or with an `Error` if the panel has none. */
  resourcesOfNode(nodeId: string, signal: AbortSignal): Promise<PanelAnswer<ReadonlyMap<string, Resources>>> {
    const request: RequestIn<ReadonlyMap<string, Resources>> = ({ name, resourcesOfNode }) => {
      if (resourcesOfNode === undefined) throw new Error(`${name} lists no resources of nodes`);
      return resourcesOfNode(nodeId);
    };
    return this.#ask(this.#dialect.current, 'resources', request, signal);
  }

  /**
   * Makes the call in this dialect; rejects with an `OtherDialect` if the panel speaks another one.
   */
  async #ask<T>(
    dialect: Dialect,
    endpoint: ApiEndpoint,
    request: RequestIn<T>,
    signal: AbortSignal,
  ): Promise<PanelAnswer<T>> {
    const { clock, telemetry } = this.#options;
    const { path } = request(dialect);
    const startedAt = clock.now();
    let outcome = 'aborted';
    try {
      const reply = await this.#exchange(endpoint, path, signal);
      outcome = String(reply.status);
      return {
        value: this.#read(dialect, endpoint, request, reply),
        ...rateFacts(reply.rate, dialect.rate.windowMs),
      };
    } catch (error) {
      if (error instanceof PanelError) outcome = String(error.status ?? statusLabel(error.problem.cause));
      throw error;
    } finally {
      telemetry.request?.(endpoint, outcome, (clock.now() - startedAt) / 1_000);
    }
  }

  async #exchange(endpoint: ApiEndpoint, path: string, signal: AbortSignal): Promise<Reply> {
    const { apiKey, clock, telemetry, userAgent } = this.#options;
    const { host, origin, pathname, protocol } = this.#url;
    const connections = this.#connections;
    try {
      return await connections.exchange({
        origin,
        path: pathname.replace(/\/+$/, '') + path,
        // With Origin, Referer or a cookie, panels take a call for a browser's and require a CSRF
        // token.
        headers: {
          Accept: 'application/json',
          'Content-Type': 'application/json',
          Authorization: `Bearer ${apiKey()}`,
          'User-Agent': userAgent,
        },
        maxBytes: endpoint === 'listing' || endpoint === 'nodes' ? MAX_BODY_BYTES : MAX_SMALL_BODY_BYTES,
        signal,
        clock,
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (readTransportError(error).kind === 'oversize') telemetry.badMessage?.('oversize');
      const { isProxied: proxied, requestTimeoutMs: timeoutMs } = connections;
      const way = { endpoint, protocol, proxied, hasAnswered: this.#hasAnswered };
      throw transportError({ request: `GET ${path}`, host, timeoutMs, ...way }, error);
    }
  }

  #read<T>(asked: Dialect, endpoint: ApiEndpoint, requestIn: RequestIn<T>, reply: Reply): T {
    const { baseUrl: url, clock, telemetry } = this.#options;
    const apiKey = this.#options.apiKey();
    const request = `GET ${requestIn(asked).path}`;
    if (reply.status < 200 || reply.status >= 300) {
      const dialect = this.#dialectOf({ status: reply.status, body: refusalBody(reply) }, asked, requestIn);
      const nowUnixMs = clock.toUnixMs(clock.now());
      const error = refusalError({ ...reply, dialect, endpoint, request, url, apiKey, nowUnixMs });
      this.#hasAnswered ||= error.fromPanel;
      throw error;
    }
    try {
      const body = parseBody(reply);
      const dialect = this.#dialectOf({ status: reply.status, body }, asked, requestIn);
      const value = requestIn(dialect).decode(body);
      this.#hasAnswered = true;
      return value;
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      telemetry.badMessage?.(error instanceof NotJsonError ? 'not_json' : 'bad_shape');
      throw unreadableError(request, reply, error, asked);
    }
  }

  /**
   * The dialect in which to read the response; throws an `OtherDialect` if that has another path.
   */
  #dialectOf(answer: PanelAnswerText, asked: Dialect, requestIn: RequestIn<unknown>): Dialect {
    const other = this.#dialect.hears(answer);
    if (other === undefined) return asked;
    if (requestIn(other).path === requestIn(asked).path) return other;
    throw new OtherDialect(other);
  }
}

/** The panel speaks another dialect, in which the call has to be made again. */
class OtherDialect extends Error {
  override readonly name = 'OtherDialect';
  readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    super(`the panel speaks ${dialect.name}`);
    this.dialect = dialect;
  }
}

/** The body of a refused call, if it is JSON. */
function refusalBody({ text }: Reply): unknown {
  if (text.length > MAX_QUOTED_LENGTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

class NotJsonError extends ShapeError {}

// The exporter doesn't request compression, and no panel uses it. Decompressing would let a few
// kilobytes fill the memory.
function parseBody({ contentEncoding, text }: Reply): unknown {
  if (contentEncoding !== '' && contentEncoding !== 'identity') {
    throw new NotJsonError(
      `the body is compressed (${printable(contentEncoding)}), although compression was not requested`,
    );
  }
  if (hasTooManyParts(text)) {
    throw new ShapeError(`expected a response with at most ${MAX_PARTS} members, objects or arrays`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJsonError(isMarkup(text) ? 'the body is a page, not JSON' : 'the body is not JSON');
  }
}

const isMarkup = (text: string) => /^\s*</.test(text);

/** What PHP prints in front of a response, without HTML: never a token. */
const PHP_MESSAGE = /^\s*(?:PHP )?(?:Deprecated|Fatal error|Notice|Parse error|Strict Standards|Warning): /;

/** Counts the characters with which each kind begins, those in texts too. */
function hasTooManyParts(text: string): boolean {
  return [':', '{', '['].some((sign) => {
    let parts = 0;
    for (let at = text.indexOf(sign); at >= 0 && parts <= MAX_PARTS; at = text.indexOf(sign, at + 1))
      parts += 1;
    return parts > MAX_PARTS;
  });
}

/** A failed call to the panel; the message is the problem's detail: one line without secrets. */
export class PanelError extends Error {
  override readonly name = 'PanelError';
  readonly problem: Problem;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Whether the panel itself responded, in a JSON form of its own, and no proxy in front of it. */
  readonly fromPanel: boolean;
  /** The `X-RateLimit-Limit` of the response, in calls per minute. */
  readonly limitPerMinute: number | undefined;
  /** The permission that the refused call requires, as the panel names it. */
  readonly permission: string | undefined;

  constructor(problem: Problem, facts: Partial<PanelErrorFacts> & ErrorOptions = {}) {
    super(problem.detail, facts);
    this.problem = problem;
    this.status = facts.status;
    this.fromPanel = facts.fromPanel ?? false;
    this.limitPerMinute = facts.limitPerMinute;
    this.permission = facts.permission;
  }
}

/** Does the panel, or something in front of it, demand a pause? A challenge demands a browser. */
export function isThrottled(error: unknown): error is PanelError {
  if (!(error instanceof PanelError) || error.status !== 429) return false;
  return error.problem.cause === 'rate_limited' || error.problem.cause === 'console_limit';
}

type PanelErrorFacts = Pick<PanelError, 'status' | 'fromPanel' | 'limitPerMinute' | 'permission'>;

/** The problem behind any rejection of a call. */
export function toProblem(error: unknown): Problem {
  if (error instanceof PanelError) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return { cause: 'unexpected', detail: printable(message) };
}

/** A response other than success, with what is needed to explain it. */
export interface HttpRefusal extends Omit<Reply, 'contentEncoding'> {
  readonly endpoint: ApiEndpoint;
  /** In which it is read. */
  readonly dialect: Pick<Dialect, 'refusals' | 'rate' | 'permissions'>;
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

/** Only a response in the panel's own form shows anything about a server. */
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

/** The redirect's address without its query, which may contain secrets. */
function redirectTarget(location: string | undefined): string {
  const address = printable(location?.split(/[?#]/, 1)[0] ?? '');
  return address === '' ? 'no address' : address;
}

/** The error for a response with a success status that can't be used. */
function unreadableError(
  request: string,
  { status, text, contentType, isChallenge }: Reply,
  problem: ShapeError,
  { refusals }: Pick<Dialect, 'refusals'>,
): PanelError {
  const isPage = isMarkup(text) || PHP_MESSAGE.test(text);
  // The text of any other body isn't quoted: it may be a token.
  const isObject = text.length <= MAX_QUOTED_LENGTH && /^\s*\{/.test(text);
  const isQuoted = isPage || (!(problem instanceof NotJsonError) && isObject);
  const body = isQuoted ? refusals.read(text, contentType) : undefined;
  const quoted = body?.detail === undefined ? '' : `: "${body.detail}"`;
  const detail = `${request} returned ${status}: ${problem.message}${quoted}`;
  const cause = pageCause(isPage ? text : '', { message: body?.detail, isChallenge });
  return new PanelError({ cause, detail }, { status, cause: problem });
}

/**
 * The cause of a timeout. A call for resources waits for the node, so it is usually the node that
 * is silent.
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
  const read = readTransportError(error);
  const { kind, code, message, hostname } = read;
  const cause = timeoutCause(panelTransportCause(kind, destination), destination.endpoint);
  const named = withCode(read);
  const describe = (): string => {
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
  return new PanelError({ cause, detail: `${request}: ${describe()}` }, { cause: error });
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
  return new PanelError(blamedProblem('panel', error.problem), { cause: error });
}
