import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { closeFailure, daemonFailure, jwtFailure, upgradeFailure } from '../../../src/session/failure.ts';
import { type LastingRefusal, lastingRefusal } from '../../../src/session/lasting-refusal.ts';

const NODE = PTERODACTYL.socket;

describe('upgradeFailure', () => {
  const ORIGIN = 'https://panel.example.com';
  const DIRECT = { ...NODE, origin: ORIGIN, proxied: false };
  const refused = (status: number, body?: string) =>
    upgradeFailure({ response: { status, body }, error: new Error('Unexpected server response') }, DIRECT);

  it.each<[status: number, cause: CauseCode, dropToken: boolean, refusal?: LastingRefusal]>([
    [301, 'upgrade_redirected', true],
    [308, 'upgrade_redirected', true],
    [400, 'upgrade_headers', false],
    [401, 'upgrade_refused', true],
    [403, 'origin', false, { reason: undefined, pollable: true }],
    [404, 'upgrade_refused', true],
    [407, 'node_proxy', true],
    [502, 'upgrade_error', false],
  ])('classifies a %i as %s; drops the token: %s; lasts: %o', (status, cause, dropToken, refusal) => {
    const failure = refused(status);
    const origin = cause === 'origin' ? `; Origin sent: ${ORIGIN}` : '';
    expect(failure).toMatchObject({
      reason: 'upgrade_refused',
      problem: { cause, detail: `the node rejected the socket upgrade (${status})${origin}` },
    });
    expect(failure.dropToken ?? false).toBe(dropToken);
    expect(lastingRefusal(failure.problem)).toEqual(refusal);
  });

  it.each([
    ['what the response says', 400, 'Bad Request\n', '(400): "Bad Request"'],
    ['a title', 403, '<title>403 Forbidden</title>', '(403): "403 Forbidden"'],
    ['what the status means', 521, '', '(521): the server behind Cloudflare refuses connections'],
  ])('quotes %s', (_what, status, body, detail) => {
    expect(refused(status, body).problem.detail).toBe(`the node rejected the socket upgrade ${detail}`);
  });

  const failed = (code: string | undefined, message: string, proxied = false) =>
    upgradeFailure({ error: Object.assign(new Error(message), { code }) }, { ...DIRECT, proxied });

  it.each([
    [
      'ECONNREFUSED',
      'connect ECONNREFUSED 203.0.113.7:8080',
      'connection to 203.0.113.7:8080 refused (ECONNREFUSED)',
      'node_proxy',
    ],
    ['ECONNRESET', 'socket hang up', 'the node closed the connection (ECONNRESET)', 'node_connection'],
  ])('describes %s in plain words', (code, message, detail, throughProxy) => {
    expect(failed(code, message).problem).toEqual({ cause: 'node_connection', detail });
    expect(failed(code, message, true).problem.cause).toBe(throughProxy);
  });

  it.each<[string, string, CauseCode, CauseCode]>([
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND node', 'node_dns', 'node_proxy'],
    ['ETIMEDOUT', 'connect ETIMEDOUT 203.0.113.7:8080', 'node_timeout', 'node_timeout'],
  ])('recognizes the cause of %s, and repeats the message', (code, message, cause, throughProxy) => {
    const failure = failed(code, message);
    const named = message.includes(code) ? message : `${message} (${code})`;
    expect(failure).toEqual({
      reason: 'connect_failed',
      problem: { cause, detail: `connecting to the node failed: ${named}` },
    });
    expect(failed(code, message, true).problem.cause).toBe(throughProxy);
  });

  it('shows the message of an unknown error in one line', () => {
    expect(failed('EODD', 'odd\r\nthing').problem).toEqual({
      cause: 'node_connection',
      detail: 'connecting to the node failed: odd thing (EODD)',
    });
  });

  it.each([
    ['is not of a WebSocket', undefined, 'Invalid Sec-WebSocket-Accept header'],
    ["isn't HTTP", 'HPE_INVALID_CONSTANT', 'Parse Error (HPE_INVALID_CONSTANT)'],
  ])("doesn't call a node unreachable whose response %s", (_what, code, message) => {
    expect(failed(code, message).problem).toEqual({
      cause: 'upgrade_refused',
      detail: `the node's response can't be read: ${message}`,
    });
  });

  // If a name has several addresses, Node.js combines their errors into one with a code but no
  // message.
  it.each([
    ['ECONNREFUSED', 'connection to 203.0.113.7:8080 refused (ECONNREFUSED)'],
    ['EPROTO', 'connecting to the node failed: connect EPROTO 203.0.113.7:8080'],
  ])("has a message if none of a name's addresses responds (%s)", (code, detail) => {
    const each = ['203.0.113.7', '2001:db8::7'].map((host) =>
      Object.assign(new Error(`connect ${code} ${host}:8080`), { code }),
    );
    const error = Object.assign(new AggregateError(each, ''), { code });
    expect(upgradeFailure({ error }, DIRECT).problem.detail).toBe(detail);
  });
});

describe('closeFailure', () => {
  it.each<[number, string, CauseCode, string]>([
    [1000, '', 'closed', 'socket closed (code 1000)'],
    [1006, 'a\r\nb', 'closed', 'socket closed (code 1006): "a b"'],
    [4400, '', 'closed_for_good', 'socket closed (code 4400)'],
    [4409, 'server is suspended', 'suspended', 'socket closed (code 4409): "server is suspended"'],
  ])('classifies %i "%s"', (code, text, cause, detail) => {
    expect(closeFailure({ code, text }, NODE)).toEqual({ reason: 'closed', problem: { cause, detail } });
  });
});

describe('jwtFailure', () => {
  const token = (...permissions: string[]) =>
    `e30.${Buffer.from(JSON.stringify({ permissions })).toString('base64url')}.c2lnbmF0dXJl`;
  const CONSOLE = token('websocket.connect', 'control.start');

  it.each<[string, string | undefined, CauseCode]>([
    ['jwt: exp claim is invalid', CONSOLE, 'token_clock'],
    ['jwt: missing connect permission', CONSOLE, 'token_version'],
    ['jwt: missing connect permission', token('*'), 'token_version'],
    ['jwt: missing connect permission', token('control.start'), 'no_console_permission'],
    ['jwt: missing connect permission', undefined, 'no_console_permission'],
    ['jwt: something new', CONSOLE, 'token_refused'],
  ])('classifies %s (%s)', (text, sent, cause) => {
    expect(jwtFailure(text, NODE, sent)).toEqual({
      reason: 'auth_refused',
      problem: { cause, detail: `the node rejected the token: "${text}"` },
      dropToken: true,
    });
  });
});

it('daemonFailure means that node and panel have different tokens, which is a lasting problem', () => {
  const failure = daemonFailure('an unexpected error was encountered while handling this request');
  expect(failure).toEqual({
    reason: 'auth_refused',
    problem: {
      cause: 'node_token_mismatch',
      detail:
        'the node could not verify the token: "an unexpected error was encountered while handling this request"',
    },
    dropToken: true,
  });
  expect(lastingRefusal(failure.problem)).toEqual({ reason: undefined, pollable: true });
});
