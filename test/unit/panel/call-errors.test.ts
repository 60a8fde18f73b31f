import { describe, expect, it } from 'vitest';
import {
  type HttpRefusal,
  refusalError,
  statusLabel,
  transportError,
} from '../../../src/panel/call-errors.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import type { PanelError } from '../../../src/panel/panel-error.ts';

const KEY = 'ptlc_0123456789abcdef';
const envelope = (detail: string, code = 'HttpException') =>
  JSON.stringify({ errors: [{ code, status: '4xx', detail }] });
const message = (text: string) => JSON.stringify({ error: 'Trouble', message: text });
/** A response of a gateway or a bot check. */
const bare = (text: string) => JSON.stringify({ message: text });
const PAGE = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

function refuse(status: number, text: string, more: Partial<HttpRefusal> = {}): PanelError {
  const contentType = text.startsWith('<') ? 'text/html' : 'application/json';
  const refusal: HttpRefusal = {
    endpoint: 'resources',
    dialect: PTERODACTYL,
    request: 'GET /api/client/servers/ab/resources',
    status,
    contentType,
    rate: {},
    text,
    apiKey: KEY,
    url: 'https://panel.example.com',
    nowUnixMs: 0,
    ...more,
  };
  return refusalError(refusal);
}

describe('refusalError', () => {
  it.each<[number, string, string]>([
    [403, 'Attention Required! | Cloudflare', 'challenge_page'],
    [403, '403 Forbidden', 'access_rule'],
    [503, 'Just a moment...', 'challenge_page'],
    [404, '404 page not found', 'not_a_panel'],
    [401, '401 Authorization Required', 'login_page'],
    [407, '', 'proxy'],
    [429, 'Too Many Requests', 'rate_limited'],
    [500, 'Server Error', 'panel_error'],
    [502, '502 Bad Gateway', 'panel_down'],
    [504, '504 Gateway Time-out', 'timeout'],
    [521, 'Web server is down', 'cloudflare'],
    [400, 'The plain HTTP request was sent to HTTPS port', 'https_needed'],
    [400, 'Client sent an HTTP request to an HTTPS server.', 'https_needed'],
    [400, '400 No required SSL certificate was sent', 'tls_client_certificate'],
    [418, "I'm a teapot", 'not_a_panel'],
    [401, 'The required authorization heads were not present in the request.', 'url_of_node'],
    [403, 'Access denied by Imunify360 bot-protection.', 'challenge_page'],
    [406, 'Bots are not welcome', 'challenge_page'],
    [503, 'Sorry, you have been blocked', 'challenge_page'],
    [404, 'no Route matched with those Values', 'not_a_panel'],
    [401, 'No API key found in request', 'login_page'],
    [404, 'The robotics shop has moved', 'not_a_panel'],
  ])('classifies %i with "%s" in a foreign form as %s, which concerns no server', (status, text, cause) => {
    for (const body of [bare(text), `<title>${text}</title>`]) {
      const error = refuse(status, body, { endpoint: 'listing' });
      expect(error).toMatchObject({ fromPanel: false, problem: { cause } });
    }
  });

  it.each([
    [refuse(401, envelope('Unauthenticated.', 'AuthenticationException')), '"Unauthenticated."'],
    [refuse(403, PAGE), '"502 Bad Gateway"'],
    [
      refuse(301, '', { location: 'https://www.example.com/login?ticket=s3cret' }),
      'redirect to https://www.example.com/login',
    ],
    [refuse(302, ''), 'redirect to no address'],
  ])('quotes the response: %s', (error, words) => {
    expect(error.message).toContain(words);
    expect(error.message).toMatch(/^GET \/api\/client\/servers\/ab\/resources returned \d{3}[^\n]*$/);
    expect(error.message).toBe(error.problem.detail);
  });

  it.each([
    [521, 'the server behind Cloudflare refuses connections'],
    [530, "the server behind Cloudflare can't be found: its DNS record or its tunnel is missing or down"],
  ])("says what Cloudflare's %i means", (status, words) => {
    const { message } = refuse(status, '<title>panel.example.com</title>');
    expect(message).toMatch(new RegExp(`returned ${status}: "panel\\.example\\.com": ${words}$`));
  });

  it("doesn't repeat the key or the query string of a redirect", () => {
    const echo = refuse(401, envelope(`Bad key ${KEY}, ${KEY}`));
    const redirect = refuse(302, '', { location: '/login?ticket=s3cret' });
    expect(echo.message).toContain('Bad key <secret>, <secret>');
    expect(redirect.message).not.toContain('s3cret');
  });

  it('includes the rate limit of a 429', () => {
    const error = refuse(429, message('Retry after 7 seconds.'), { rate: { limit: '240' } });
    expect(error).toMatchObject({ limitPerMinute: 240, fromPanel: true, problem: { retryAfterMs: 7_000 } });
    expect(refuse(500, PAGE).problem.retryAfterMs).toBeUndefined();
  });
});

describe('transportError', () => {
  const destination = {
    endpoint: 'listing',
    request: 'GET /api/client',
    host: 'panel.example.com',
    timeoutMs: 25_000,
    protocol: 'https:',
    proxied: false,
    hasAnswered: false,
  } as const;
  const failure = (code: string, more: object = {}) =>
    Object.assign(new Error('it failed'), { code, ...more });

  it.each([
    ['ENOTFOUND', 'dns', 'dns'],
    ['CERT_HAS_EXPIRED', 'tls_expired', 'tls'],
    ['ETIMEDOUT', 'timeout', 'timeout'],
    ['ECONNREFUSED', 'connection', 'network'],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'bad_answer', 'bad_answer'],
  ] as const)('classifies %s as %s, with the status label %s', (code, expected, label) => {
    const cause = failure(code);
    const error = transportError(destination, cause);
    expect(error.problem.cause).toBe(expected);
    expect(error.cause).toBe(cause);
    expect(error.status).toBeUndefined();
    expect(statusLabel(error.problem.cause)).toBe(label);
  });

  it('contains the name that could not be resolved', () => {
    const error = transportError(destination, failure('ENOTFOUND', { hostname: 'proxy.example.com' }));
    expect(error.message).toContain('resolving proxy.example.com failed (ENOTFOUND)');
  });

  it.each([
    [
      'ECONNREFUSED',
      'connect ECONNREFUSED 203.0.113.7:443',
      'connection to 203.0.113.7:443 refused (ECONNREFUSED)',
    ],
    [
      'UND_ERR_SOCKET',
      'other side closed',
      'the connection to panel.example.com was closed (UND_ERR_SOCKET)',
    ],
    ['EHOSTUNREACH', 'connect EHOSTUNREACH', 'connecting to panel.example.com failed: connect EHOSTUNREACH'],
  ])('tells a connection that was not opened from one that was closed: %s', (code, message, words) => {
    const error = Object.assign(new Error(message), { code });
    expect(transportError(destination, error).message).toBe(`GET /api/client: ${words}`);
  });
});
