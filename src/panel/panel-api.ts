/** The client API of one panel, with decoded responses. */
import { readTransportError } from '../diagnosis/transport-errors.ts';
import type { ApiEndpoint, PanelTelemetry } from '../domain/telemetry.ts';
import { MIB } from '../domain/units.ts';
import { refusalError, statusLabel, transportError, unreadableError } from './call-errors.ts';
import type { Dialect, PanelAnswerText } from './dialect.ts';
import { type ConnectionOptions, Connections, MAX_BODY_BYTES, type Reply } from './panel-connections.ts';
import { PanelError } from './panel-error.ts';
import { rateFacts } from './rate-headers.ts';
import type { PanelRequest, RequestArguments } from './requests.ts';
import { NotJsonError, parseBody, refusalBody } from './response-body.ts';
import { type Resources, type Responses, ShapeError } from './responses.ts';
import type { RateFacts } from './scheduler/rate-limit.ts';
import { SpokenDialect } from './spoken-dialect.ts';

/** A decoded response, and the rate limit in its headers. */
export interface PanelAnswer<T> extends RateFacts {
  readonly value: T;
}

export interface PanelApiOptions extends ConnectionOptions {
  /** The panel's name. */
  readonly panel: string;
  /** Called for every request, so that a key that changed in its file is used at once. */
  readonly apiKey: () => string;
  readonly userAgent: string;
  readonly telemetry: PanelTelemetry;
  /** The panel's dialect; if absent, it is recognized from the key and the responses. */
  readonly dialect?: SpokenDialect;
}

/** A request in a dialect. */
type RequestIn<T> = (dialect: Dialect) => PanelRequest<T>;

/**
 * The maximum size of small responses. One server's is a few hundred bytes, and so is its part of
 * its node's list.
 */
const MAX_SMALL_BODY_BYTES = MIB;

/** The panel's client API. */
export class PanelApi {
  readonly #options: PanelApiOptions;
  readonly #url: URL;
  readonly #dialect: SpokenDialect;
  #connections: Connections;
  /** Whether the panel has responded before, in its own form. */
  #hasAnswered = false;

  constructor(options: PanelApiOptions) {
    this.#options = options;
    this.#dialect = options.dialect ?? new SpokenDialect(options);
    this.#url = new URL(options.baseUrl);
    this.#connections = new Connections(options);
  }

  /** Makes the next calls over these connections. Calls in progress end on the previous ones. */
  use(connections: Connections): void {
    void this.#connections.drain();
    this.#connections = connections;
  }

  /** Closes all connections. Calls in progress are rejected. */
  close(): Promise<void> {
    return this.#connections.close();
  }

  /** Makes one call. Rejects with a `PanelError`, or with the signal's reason if it aborts. */
  async get<Endpoint extends ApiEndpoint>(
    endpoint: Endpoint,
    what: RequestArguments,
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

  /** The known limit in calls per minute of a panel that reports none. */
  get defaultPerMinute(): number | undefined {
    return this.#dialect.current.rate.defaultPerMinute;
  }

  /** Does the panel list the resources of all of a node's servers? */
  get hasResourcesOfNode(): boolean {
    return this.#dialect.current.resourcesOfNode !== undefined;
  }

  /**
   * The resources of all of a node's servers, by UUID. Rejects like `get`, or with an `Error` if
   * the panel has no such list.
   */
  resourcesOfNode(nodeId: string, signal: AbortSignal): Promise<PanelAnswer<ReadonlyMap<string, Resources>>> {
    const request: RequestIn<ReadonlyMap<string, Resources>> = ({ name, resourcesOfNode }) => {
      if (resourcesOfNode === undefined) throw new Error(`${name} lists no resources of nodes`);
      return resourcesOfNode(nodeId);
    };
    return this.#ask(this.#dialect.current, 'resources', request, signal);
  }

  /**
   * Makes the call in this dialect. Rejects with an `OtherDialect` if the panel has another one.
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
        // With Origin, Referer or a cookie, panels treat a call as a browser's and require a CSRF
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
      const dialect = this.#recognize({ status: reply.status, body: refusalBody(reply) }, asked, requestIn);
      const nowUnixMs = clock.toUnixMs(clock.now());
      const error = refusalError({ ...reply, dialect, endpoint, request, url, apiKey, nowUnixMs });
      this.#hasAnswered ||= error.fromPanel;
      throw error;
    }
    try {
      const body = parseBody(reply);
      const dialect = this.#recognize({ status: reply.status, body }, asked, requestIn);
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
   * The dialect for reading the response. Throws an `OtherDialect` if the call has another path in
   * it.
   */
  #recognize(answer: PanelAnswerText, asked: Dialect, requestIn: RequestIn<unknown>): Dialect {
    const other = this.#dialect.hears(answer);
    if (other === undefined) return asked;
    if (requestIn(other).path === requestIn(asked).path) return other;
    throw new OtherDialect(other);
  }
}

/** The panel has another dialect, in which the call must be repeated. */
class OtherDialect extends Error {
  override readonly name = 'OtherDialect';
  readonly dialect: Dialect;

  constructor(dialect: Dialect) {
    super(`the panel speaks ${dialect.name}`);
    this.dialect = dialect;
  }
}
