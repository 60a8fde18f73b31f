import { readTransportError } from '../diagnosis/transport.ts';
import { printable } from '../domain/secrets.ts';
import { MIB } from '../domain/server.ts';
import type { ApiEndpoint, PanelTelemetry } from '../domain/telemetry.ts';
import { type PanelRequest, type Requested, type Responses, ShapeError } from './dialect.ts';
import { decodeErrorBody, PTERODACTYL } from './dialects/pterodactyl.ts';
import { PanelError, refusalError, statusLabel, transportError, unreadableError } from './errors.ts';
import { type RateFacts, rateFacts } from './rate-limit.ts';
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
}

/** One server's response is a few hundred bytes. */
const MAX_SMALL_BODY_BYTES = MIB;

/**
 * The most members, objects or arrays in a response: half a million members with keys of their own, or two million arrays in each
 * other, fit into the longest response, and would take longer than a second to parse. A full page of servers with a hundred variables
 * each has fewer.
 */
const MAX_PARTS = 200_000;

/** No longer response is parsed again for the panel's words. */
const MAX_QUOTED_LENGTH = 65_536;

/** The panel's client API. */
export class PanelApi {
  readonly #options: PanelApiOptions;
  readonly #url: URL;
  #connections: Connections;
  /** The panel has responded before, in its own form. */
  #hasAnswered = false;

  constructor(options: PanelApiOptions) {
    this.#options = options;
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
    const { clock, telemetry } = this.#options;
    const { path, decode }: PanelRequest<unknown> = PTERODACTYL.requests[endpoint](what);
    const startedAt = clock.now();
    let outcome = 'aborted';
    try {
      const reply = await this.#exchange(endpoint, path, signal);
      outcome = String(reply.status);
      const value = this.#read(endpoint, { path, decode }, reply) as Responses[Endpoint];
      return { value, ...rateFacts(reply.rate) };
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
        // No Origin, Referer or cookie: with any of them, panels treat the call as a browser's and require a CSRF token.
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

  #read<T>(endpoint: ApiEndpoint, { path, decode }: PanelRequest<T>, reply: Reply): T {
    const { baseUrl: url, clock, telemetry } = this.#options;
    const apiKey = this.#options.apiKey();
    const request = `GET ${path}`;
    if (reply.status < 200 || reply.status >= 300) {
      const nowUnixMs = clock.toUnixMs(clock.now());
      const error = refusalError({ ...reply, endpoint, request, url, apiKey, nowUnixMs });
      this.#hasAnswered ||= error.fromPanel;
      throw error;
    }
    try {
      const value = decode(parseBody(reply));
      this.#hasAnswered = true;
      return value;
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      telemetry.badMessage?.(error instanceof NotJsonError ? 'not_json' : 'bad_shape');
      const isPage = /^\s*</.test(reply.text);
      // The text of any other body isn't quoted: it may be a token.
      const isObject = reply.text.length <= MAX_QUOTED_LENGTH && /^\s*\{/.test(reply.text);
      const isQuoted = isPage || (!(error instanceof NotJsonError) && isObject);
      const body = isQuoted ? decodeErrorBody(reply.text, reply.contentType, apiKey) : {};
      throw unreadableError({ request, status: reply.status }, error, { isPage, ...body });
    }
  }
}

class NotJsonError extends ShapeError {}

// The exporter doesn't request compression, and no panel compresses anyway. Decompressing would let a few kilobytes fill the
// memory.
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
    throw new NotJsonError(/^\s*</.test(text) ? 'the body is a page, not JSON' : 'the body is not JSON');
  }
}

/** Counts the characters with which each kind begins, those in texts too. */
function hasTooManyParts(text: string): boolean {
  return [':', '{', '['].some((sign) => {
    let parts = 0;
    for (let at = text.indexOf(sign); at >= 0 && parts <= MAX_PARTS; at = text.indexOf(sign, at + 1))
      parts += 1;
    return parts > MAX_PARTS;
  });
}
