// Puts the routes behind passwords, with the configured headers in every response.

import type { HttpBindings } from '@hono/node-server';
import { auth } from 'hono/utils/basic-auth';
import type { Logger } from '../domain/logger.ts';
import { identifyClient } from './connections.ts';
import { type Passwords, WRONG_WINDOW_MS } from './passwords.ts';
import type { WebSettingsSource } from './web-settings.ts';

/** Anything that responds to requests. */
export interface Routes {
  fetch(request: Request, served: Pick<HttpBindings, 'outgoing'>): Response | Promise<Response>;
}

const CHALLENGE = 'Basic realm="gameserver-exporter", charset="UTF-8"';

/** Puts the routes behind authentication, and adds the configured headers to every response. */
export function guarded(
  routes: Routes,
  settings: WebSettingsSource,
  passwords: Passwords,
  logger: Logger,
): Routes {
  return {
    async fetch(request, served) {
      const { users, headers } = settings.current;
      const client = identifyClient(served.outgoing.socket?.remoteAddress);
      const refused = users.size > 0 && (await refusal(request, client, users, passwords, logger));
      const response = refused || (await routes.fetch(request, served));
      for (const [name, value] of Object.entries(headers)) {
        // Browsers enforce both policies. For any other header, the exporter's own value is at
        // least as strict.
        const isAdded = name === 'Content-Security-Policy' || !response.headers.has(name);
        if (isAdded) response.headers.append(name, value);
      }
      return response;
    },
  };
}

/** The response to a request without valid credentials; undefined if the request is allowed. */
async function refusal(
  request: Request,
  client: string,
  users: ReadonlyMap<string, string>,
  passwords: Passwords,
  logger: Logger,
): Promise<Response | undefined> {
  const unauthorized = () => plain(401, 'Unauthorized.\n', { 'WWW-Authenticate': CHALLENGE });
  const credentials = auth(request);
  if (credentials === undefined) return unauthorized();
  try {
    const verdict = await passwords.check(credentials, users, client);
    if (verdict === 'right') return undefined;
    // The name isn't logged, because people type passwords into that field.
    logger.debug({ client }, verdict === 'wrong' ? 'wrong username or password' : 'too many wrong passwords');
    if (verdict === 'wrong') return unauthorized();
    const wait = { 'Retry-After': String(WRONG_WINDOW_MS / 1_000) };
    return plain(429, 'Too many wrong passwords: try again later.\n', wait);
  } catch (err) {
    logger.error({ err, cause: 'unexpected' }, 'password check failed');
    return plain(500, 'Internal error: see the log.\n');
  }
}

function plain(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  const common = { 'Content-Type': 'text/plain; charset=UTF-8', 'X-Content-Type-Options': 'nosniff' };
  return new Response(text, { status, headers: { ...common, 'Cache-Control': 'no-store', ...headers } });
}
