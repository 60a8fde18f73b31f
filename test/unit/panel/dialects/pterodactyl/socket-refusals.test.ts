import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../../../src/domain/problems.ts';
import {
  readJwtError,
  readUpgradeRefusal,
  withoutIdentifier,
} from '../../../../../src/panel/dialects/pterodactyl/socket-refusals.ts';
import type { UpgradeRefusal } from '../../../../../src/panel/socket-codec.ts';

const DAEMON = 'application/json; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';
const HTML = 'text/html';
const pageOf = (title: string) => `<html><head><title>${title}</title></head></html>`;

describe('the response to an upgrade', () => {
  it.each<[refusal: UpgradeRefusal, cause: CauseCode]>([
    // Responses of the daemon itself.
    [
      { status: 400, contentType: DAEMON, body: '{"error":"Too many open websocket connections."}' },
      'too_many_sockets',
    ],
    [{ status: 403, contentType: TEXT, body: 'Forbidden\n' }, 'origin'],
    [{ status: 403 }, 'origin'],
    [
      {
        status: 404,
        contentType: DAEMON,
        body: '{"error":"The requested resource does not exist on this instance."}',
      },
      'server_not_on_node',
    ],
    // The daemon gets no upgrade, or HTTP without TLS.
    [{ status: 400, contentType: TEXT, body: 'Bad Request\n' }, 'upgrade_headers'],
    [{ status: 400, contentType: HTML, body: pageOf('400 Bad Request') }, 'upgrade_headers'],
    [{ status: 400 }, 'upgrade_headers'],
    [
      { status: 400, contentType: TEXT, body: 'Client sent an HTTP request to an HTTPS server.\n' },
      'node_https_needed',
    ],
    [
      { status: 400, contentType: HTML, body: pageOf('400 The plain HTTP request was sent to HTTPS port') },
      'node_https_needed',
    ],
    // Responses of a proxy in front of the daemon.
    [{ status: 403, contentType: HTML, body: pageOf('403 Forbidden') }, 'node_access_rule'],
    [
      { status: 403, contentType: HTML, body: pageOf('Just a moment...'), isChallenge: true },
      'node_challenge_page',
    ],
    [{ status: 403, contentType: TEXT, body: 'Forbidden', isChallenge: true }, 'node_challenge_page'],
    [
      { status: 503, contentType: HTML, body: pageOf('Attention Required! | Cloudflare') },
      'node_challenge_page',
    ],
    [{ status: 521, contentType: HTML, body: pageOf('521: Web server is down') }, 'node_cloudflare'],
    [{ status: 530, contentType: TEXT, body: 'error code: 1033' }, 'node_cloudflare'],
    [{ status: 302 }, 'upgrade_redirected'],
    [{ status: 401 }, 'upgrade_refused'],
    [{ status: 404, contentType: TEXT, body: '404 page not found' }, 'upgrade_refused'],
    [{ status: 407 }, 'node_proxy'],
    [{ status: 426 }, 'upgrade_refused'],
    [{ status: 404, contentType: HTML, body: pageOf('404 Not Found') }, 'upgrade_refused'],
    [{ status: 502, contentType: HTML, body: pageOf('502 Bad Gateway') }, 'upgrade_error'],
    [
      {
        status: 502,
        contentType: DAEMON,
        body: '{"error":"The requested resource does not exist on this instance."}',
      },
      'upgrade_error',
    ],
  ])('%j is %s', (refusal, cause) => {
    expect(readUpgradeRefusal(refusal).cause).toBe(cause);
  });
});

it('a node is quoted without the request identifier, which is different each time', () => {
  const text = 'Error Event [3a1ad8a2-5e34-4b7e-9bb0-0c1f0a3ad9ce]: jwt: missing connect permission';
  const message = 'jwt: missing connect permission';
  expect(readJwtError(text)).toEqual({ message, isFixable: false, answersToken: true });
  expect(readJwtError(message)).toEqual({ message, isFixable: false, answersToken: false });
  expect(withoutIdentifier(text)).toBe(message);
});

describe('a jwt error is fixed by a new token', () => {
  it.each([
    'jwt: token expired',
    'jwt: token has expired',
    'JWT is EXPIRED',
    'jwt: created too far in past (denylist)',
    'jwt: token is on the deny list',
    'token is not yet valid',
    'token was revoked',
    'jwt: exp claim is invalid',
    'jwt: iat claim is invalid',
    'jwt: nbf claim is invalid',
  ])('if it contains: %s', (text) => {
    expect(readJwtError(text).isFixable).toBe(true);
  });

  it.each([
    '',
    'jwt: no jwt present',
    'jwt: missing connect permission',
    'jwt: server uuid mismatch',
    'jwt: aud claim is invalid',
    'an unexpected error was encountered while handling this request',
  ])('but not if it contains: %s', (text) => {
    expect(readJwtError(text).isFixable).toBe(false);
  });
});
