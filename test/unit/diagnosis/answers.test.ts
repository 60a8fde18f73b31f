import { describe, expect, it } from 'vitest';
import {
  foreignCause,
  redirectCause,
  timeoutCause,
  unreadableCause,
} from '../../../src/diagnosis/panel-answer.ts';

describe('a response in a foreign form never concerns a server', () => {
  it.each<[number, string, string]>([
    [403, 'Attention Required! | Cloudflare', 'challenge_page'],
    [403, '403 Forbidden', 'challenge_page'],
    [503, 'Just a moment...', 'challenge_page'],
    [404, '404 page not found', 'not_a_panel'],
    [401, '401 Authorization Required', 'login_page'],
    [407, '', 'proxy'],
    [429, 'Too Many Requests', 'rate_limited'],
    [500, 'Server Error', 'panel_error'],
    [502, '502 Bad Gateway', 'panel_down'],
    [504, '504 Gateway Time-out', 'timeout'],
    [521, 'Web server is down', 'panel_down'],
    [524, 'A timeout occurred', 'timeout'],
    [400, 'The plain HTTP request was sent to HTTPS port', 'https_needed'],
    [400, 'Client sent an HTTP request to an HTTPS server.', 'https_needed'],
    [400, '400 No required SSL certificate was sent', 'tls_client_certificate'],
    [418, "I'm a teapot", 'not_a_panel'],
    [403, 'Access denied by Imunify360 bot-protection.', 'challenge_page'],
    [406, 'Bots are not welcome', 'challenge_page'],
    [503, 'Sorry, you have been blocked', 'challenge_page'],
    [404, 'no Route matched with those Values', 'not_a_panel'],
    [401, 'No API key found in request', 'login_page'],
    [404, 'The robotics shop has moved', 'not_a_panel'],
  ])('%d "%s" is %s', (status, detail, cause) => {
    expect(foreignCause(status, detail)).toBe(cause);
  });

  it('a redirect to the same host over TLS means that https is needed, any other is a redirect', () => {
    const redirect = (location?: string) => redirectCause('http://panel.example.com/base', location);
    expect(redirect('https://panel.example.com/auth/login')).toBe('https_needed');
    expect(redirect('https://other.example.com/')).toBe('redirect');
    expect(redirect('/auth/login')).toBe('redirect');
    expect(redirect()).toBe('redirect');
  });

  it.each([
    [{ isPage: false }, 'bad_answer'],
    [{ isPage: false, detail: 'pong' }, 'bad_answer'],
    [{ isPage: false, detail: 'Access denied by Imunify360 bot-protection.' }, 'challenge_page'],
    [{ isPage: true }, 'login_page'],
    [{ isPage: true, detail: 'Sign in' }, 'login_page'],
    [{ isPage: true, detail: 'Just a moment...' }, 'challenge_page'],
  ])('a success with %j instead of data is %s', (body, cause) => {
    expect(unreadableCause(body)).toBe(cause);
  });
});

it("a timeout of a call for resources, which waits for the server's node, is the node's", () => {
  expect(timeoutCause('timeout', 'resources')).toBe('node_silent');
  expect(timeoutCause('timeout', 'websocket')).toBe('timeout');
  expect(timeoutCause('panel_down', 'resources')).toBe('panel_down');
});
