import type { HttpBindings } from '@hono/node-server';
import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { basicCredentials, CHECK_LIMIT, type Passwords } from './passwords.ts';
import { clientOf, RequestRates } from './request-rates.ts';
import type { WebSettingsSource } from './web-settings.ts';

/** What accompanies a request. */
export type Served = Pick<HttpBindings, 'outgoing'>;

/** Anything that responds to requests. */
export interface Routes {
  fetch(request: Request, served: Served): Response | Promise<Response>;
}

interface GuardOptions {
  readonly settings: WebSettingsSource;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The policy can only get stricter: a second header is added, and browsers enforce both. */
const ADDED = 'content-security-policy';
/** The exporter's value forbids every frame, and no other value is stricter. */
const OURS = 'x-frame-options';

/** How a password that isn't found right is logged and reported to the client. */
const REJECTED = {
  wrong: { message: 'wrong username or password', response: unauthorized },
  limited: { message: 'too many wrong passwords from this client', response: tooManyWrong },
  busy: { message: 'too many pending password checks', response: busy },
} as const;

/** Runs before every route: authentication and rate limits; also adds the configured headers to every response. */
export class Guard implements Routes {
  readonly #routes: Routes;
  readonly #options: GuardOptions;
  readonly #rates: RequestRates;

  constructor(routes: Routes, options: GuardOptions) {
    this.#routes = routes;
    this.#options = options;
    this.#rates = new RequestRates(options.clock);
  }

  async fetch(request: Request, served: Served): Promise<Response> {
    const { headers } = this.#options.settings.current;
    const client = clientOf(served.outgoing.socket?.remoteAddress);
    const response =
      (await this.#refusal(request.headers.get('Authorization') ?? undefined, client)) ??
      (await this.#routes.fetch(request, served));
    return withHeaders(response, headers);
  }

  async #refusal(authorization: string | undefined, client: string): Promise<Response | undefined> {
    const { users, rateLimit } = this.#options.settings.current;
    const refused = users.size === 0 ? undefined : await this.#refusalWithoutPassword(authorization, client);
    return refused ?? (this.#rates.takeAdmitted(rateLimit) ? undefined : tooMany());
  }

  /** The response to a request without a valid password; it counts against its client's own rate limit only. */
  async #refusalWithoutPassword(
    authorization: string | undefined,
    client: string,
  ): Promise<Response | undefined> {
    const { settings, passwords, logger } = this.#options;
    const { users, rateLimit } = settings.current;
    const credentials = basicCredentials(authorization);
    if (credentials !== undefined && passwords.remembers(credentials, users)) return undefined;
    if (!this.#rates.takeUnauthenticated(rateLimit, client)) return tooMany();
    if (credentials === undefined) return unauthorized();
    try {
      const verdict = await passwords.check(credentials, users, client);
      if (verdict === 'right') return undefined;
      // Doesn't log the name, because people type passwords into that field.
      logger.debug({ client }, REJECTED[verdict].message);
      return REJECTED[verdict].response();
    } catch (err) {
      logger.error({ err, cause: 'unexpected' }, 'password check failed');
      return plain(500, 'Internal error: see the log.\n');
    }
  }
}

function tooMany(): Response {
  return plain(429, 'Too many requests: rate_limit of the web configuration exceeded.\n');
}

function unauthorized(): Response {
  const challenge = 'Basic realm="gameserver-exporter", charset="UTF-8"';
  return plain(401, 'Unauthorized.\n', { 'WWW-Authenticate': challenge });
}

function tooManyWrong(): Response {
  const seconds = CHECK_LIMIT.intervalMs / 1_000;
  return plain(429, 'Too many wrong passwords from your address: try again later.\n', {
    'Retry-After': String(seconds),
  });
}

function busy(): Response {
  return plain(503, 'Too many pending password checks: try again.\n', { 'Retry-After': '1' });
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=UTF-8',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      ...headers,
    },
  });
}

function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (lower === ADDED) response.headers.append(name, value);
    else if (lower !== OURS || !response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}
