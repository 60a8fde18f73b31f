import { describe, expect, it } from 'vitest';
import { guarded } from '../../../src/http/guarded-routes.ts';
import { Passwords } from '../../../src/http/passwords.ts';
import type { WebSettings } from '../../../src/http/web-settings.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const USERS = new Map([['alice', `$2y$10$${'a'.repeat(53)}`]]);
const OWN_POLICY = "default-src 'self'";

/** Routes behind these settings, which record their users. The only correct password is `right`. */
function stage(settings: Partial<WebSettings>, compare = async (password: string) => password === 'right') {
  const log = collectingLogger();
  const served: string[] = [];
  const routes = {
    fetch: (request: Request) => {
      served.push(request.url);
      return new Response('served', {
        headers: { 'Content-Security-Policy': OWN_POLICY, 'X-Frame-Options': 'DENY' },
      });
    },
  };
  const current = { users: new Map<string, string>(), headers: {}, ...settings };
  const source = { current, onChange: () => () => undefined };
  const passwords = new Passwords(new ManualClock(), ({ password }) => compare(password));
  const guard = guarded(routes, source, passwords, log);
  const get = async (credentials?: string) => {
    const headers: Record<string, string> =
      credentials === undefined ? {} : { Authorization: basic(credentials) };
    const request = new Request('http://exporter/metrics', { headers });
    return guard.fetch(request, { outgoing: { socket: { remoteAddress: '192.0.2.1' } } as never });
  };
  return { get, served, log };
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

describe('with users', () => {
  it('serves a client with a right password', async () => {
    const { get, served, log } = stage({ users: USERS });
    const response = await get('alice:right');
    expect([response.status, await response.text()]).toEqual([200, 'served']);
    expect(served).toHaveLength(1);
    expect(log.lines).toEqual([]);
  });

  it.each([
    ['no credentials', undefined, []],
    ['a wrong password', 'alice:wrong', ['wrong username or password']],
    ['an unknown name', 'mallory:right', ['wrong username or password']],
  ])('asks a client with %s for a password, and logs no name', async (_what, credentials, lines) => {
    const { get, served, log } = stage({ users: USERS });
    const response = await get(credentials);
    expect([response.status, await response.text()]).toEqual([401, 'Unauthorized.\n']);
    expect(response.headers.get('WWW-Authenticate')).toContain('Basic realm=');
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(served).toEqual([]);
    expect(log.lines.map(({ message }) => message)).toEqual(lines);
    expect(JSON.stringify(log.lines)).not.toContain('alice');
  });

  it('refuses a client with too many wrong passwords for a while', async () => {
    const { get } = stage({ users: USERS });
    const statuses: number[] = [];
    for (let guess = 0; guess < 100 && statuses.at(-1) !== 429; guess += 1) {
      statuses.push((await get(`alice:guess ${guess}`)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    const refused = await get('alice:one more');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  });

  it('serves nobody whose password can not be checked', async () => {
    const { get, served, log } = stage({ users: USERS }, () => Promise.reject(new Error('no thread')));
    const response = await get('alice:right');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('no thread');
    expect(served).toEqual([]);
    expect(log.lines).toMatchObject([{ level: 'error', fields: { cause: 'unexpected' } }]);
  });
});

it('without users, everybody is served', async () => {
  const { get, served } = stage({});
  expect((await get()).status).toBe(200);
  expect(served).toHaveLength(1);
});

describe('configured headers', () => {
  const headers = { 'X-Site': 'own', 'X-Frame-Options': 'SAMEORIGIN', 'Content-Security-Policy': 'sandbox' };

  it('are in every response, and replace none of the exporter', async () => {
    const response = await stage({ headers }).get();
    expect(response.headers.get('X-Site')).toBe('own');
    expect(response.headers.get('X-Frame-Options')).toBe('DENY');
    // Browsers apply both policies.
    expect(response.headers.get('Content-Security-Policy')).toBe(`${OWN_POLICY}, sandbox`);
  });

  it('are in a refusal, too', async () => {
    const response = await stage({ headers, users: USERS }).get();
    expect([response.status, response.headers.get('X-Site')]).toEqual([401, 'own']);
  });
});
