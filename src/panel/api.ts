import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { ListingType } from '../domain/discovery.ts';
import { printable } from '../domain/printable.ts';
import type { ApiEndpoint, PanelTelemetry } from '../domain/telemetry.ts';
import { type Credentials, decodeCredentials, decodeResources, type Resources } from './decode.ts';
import { type BackupsPage, decodeBackupsPage } from './decode-backups.ts';
import { decodeListingPage, type ListingPage } from './decode-listing.ts';
import { type ConnectionOptions, createDispatcher, MAX_BODY_BYTES } from './dispatcher.ts';
import { PanelError } from './errors.ts';
import { exchange, type Reply } from './exchange.ts';
import { refusalError, transportError } from './failure.ts';
import { ShapeError } from './fields.ts';
import { limitPerMinute, remainingCalls } from './rate-headers.ts';

/** A decoded answer, and what its headers say of the rate limit. */
export interface Answer<T> {
  readonly value: T;
  readonly limitPerMinute?: number;
  readonly remaining?: number;
}

/** Which page of the listing is wanted, and of whose servers. */
export interface ListingQuery {
  readonly page: number;
  /** At most 100. */
  readonly perPage: number;
  readonly type?: ListingType;
}

/** Panels give no more on one page. */
const BACKUPS_PER_PAGE = 50;

export interface PanelApiOptions extends ConnectionOptions {
  /** Asked at every call, so that a key that was changed in its file is used at once. */
  readonly apiKey: () => string;
  readonly userAgent: string;
  readonly telemetry: PanelTelemetry;
  readonly clock: Clock;
}

interface Endpoint<T> {
  readonly name: ApiEndpoint;
  readonly path: string;
  readonly maxBytes: number;
  readonly decode: (body: unknown) => T;
}

/** One server's answer is a few hundred bytes. */
const MAX_SMALL_BODY_BYTES = 1_048_576;

/**
 * The panel's client API: one method an endpoint. Each makes one call, and rejects with a `PanelError`, or with
 * the signal's reason when that aborts.
 */
export class PanelApi {
  readonly #options: PanelApiOptions;
  readonly #url: URL;
  readonly #dispatcher: Dispatcher;

  constructor(options: PanelApiOptions) {
    this.#options = options;
    this.#url = new URL(options.baseUrl);
    this.#dispatcher = createDispatcher(options);
  }

  /** A token for the server's console socket, and where that socket is. */
  credentials(server: string, signal: AbortSignal): Promise<Answer<Credentials>> {
    return this.#get(
      {
        name: 'websocket',
        path: `/api/client/servers/${segment(server)}/websocket`,
        maxBytes: MAX_SMALL_BODY_BYTES,
        decode: decodeCredentials,
      },
      signal,
    );
  }

  /** The server's state and use of resources, up to 20 s old. */
  resources(server: string, signal: AbortSignal): Promise<Answer<Resources>> {
    return this.#get(
      {
        name: 'resources',
        path: `/api/client/servers/${segment(server)}/resources`,
        maxBytes: MAX_SMALL_BODY_BYTES,
        decode: decodeResources,
      },
      signal,
    );
  }

  /** One page of the servers that the key's account can see, with their eggs. */
  listing({ page, perPage, type }: ListingQuery, signal: AbortSignal): Promise<Answer<ListingPage>> {
    const query = new URLSearchParams({ page: String(page), per_page: String(perPage), include: 'egg' });
    if (type !== undefined) query.set('type', type);
    return this.#get(
      {
        name: 'listing',
        path: `/api/client?${query.toString()}`,
        maxBytes: MAX_BODY_BYTES,
        decode: decodeListingPage,
      },
      signal,
    );
  }

  /** One page of the server's backups; pages count from 1. */
  backups(server: string, page: number, signal: AbortSignal): Promise<Answer<BackupsPage>> {
    return this.#get(
      {
        name: 'backups',
        path: `/api/client/servers/${segment(server)}/backups?page=${page}&per_page=${BACKUPS_PER_PAGE}`,
        maxBytes: MAX_SMALL_BODY_BYTES,
        decode: decodeBackupsPage,
      },
      signal,
    );
  }

  /** Drops every connection; calls that run are rejected. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #get<T>(endpoint: Endpoint<T>, signal: AbortSignal): Promise<Answer<T>> {
    const { clock, telemetry } = this.#options;
    const startedAt = clock.now();
    let outcome = 'aborted';
    try {
      const reply = await this.#exchange(endpoint, signal);
      outcome = String(reply.status);
      return this.#read(endpoint, reply);
    } catch (error) {
      if (error instanceof PanelError) outcome = String(error.status ?? error.kind);
      throw error;
    } finally {
      telemetry.request(endpoint.name, outcome, (clock.now() - startedAt) / 1_000);
    }
  }

  async #exchange(endpoint: Endpoint<unknown>, signal: AbortSignal): Promise<Reply> {
    const { clock, requestTimeoutMs, telemetry } = this.#options;
    try {
      return await exchange(this.#dispatcher, {
        origin: this.#url.origin,
        path: this.#url.pathname.replace(/\/+$/, '') + endpoint.path,
        headers: this.#headers(),
        deadlineMs: requestTimeoutMs,
        maxBytes: endpoint.maxBytes,
        signal,
        clock,
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = transportError(
        { request: `GET ${endpoint.path}`, host: this.#url.host, timeoutMs: requestTimeoutMs },
        error,
      );
      if (failure.kind === 'bad_answer') telemetry.badMessage('oversize');
      throw failure;
    }
  }

  // No Origin, Referer or cookie: with one, panels take the call for a browser's and want a CSRF token.
  #headers(): Record<string, string> {
    return {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      Authorization: `Bearer ${this.#options.apiKey()}`,
      'User-Agent': this.#options.userAgent,
    };
  }

  #read<T>({ path, decode }: Endpoint<T>, reply: Reply): Answer<T> {
    const { apiKey, clock, telemetry } = this.#options;
    const request = `GET ${path}`;
    if (reply.status < 200 || reply.status >= 300) {
      const nowUnixMs = clock.toUnixMs(clock.now());
      throw refusalError({ ...reply, request, apiKey: apiKey(), nowUnixMs });
    }
    try {
      const value = decode(parseBody(reply));
      const limit = limitPerMinute(reply.rate);
      const remaining = remainingCalls(reply.rate);
      return {
        value,
        ...(limit !== undefined && { limitPerMinute: limit }),
        ...(remaining !== undefined && { remaining }),
      };
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      telemetry.badMessage(error instanceof NotJsonError ? 'not_json' : 'bad_shape');
      const message = `${request} answered ${reply.status}, but not as a panel would: ${error.message}`;
      throw new PanelError('bad_answer', message, { status: reply.status, cause: error });
    }
  }
}

class NotJsonError extends ShapeError {}

// We ask for no compression. Unpacking what comes compressed all the same would let a few kilobytes fill the
// memory, and no panel sends it.
function parseBody({ contentEncoding, text }: Reply): unknown {
  if (contentEncoding !== '' && contentEncoding !== 'identity') {
    throw new NotJsonError(`it is compressed (${printable(contentEncoding)}), which was not asked for`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJsonError(
      /^\s*</.test(text)
        ? "it is a page and not JSON: check that the panel's url is right, and what stands before the panel"
        : 'it is not JSON',
    );
  }
}

/** Dots are encoded too, so that no id can climb out of its place in the path. */
function segment(server: string): string {
  return encodeURIComponent(server).replaceAll('.', '%2E');
}
