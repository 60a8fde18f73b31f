import { describe, expect, it } from 'vitest';
import { PanelError, type PanelErrorFacts, type PanelErrorKind } from '../../../src/panel/errors.ts';
import { addressFailure, tokenFailure, upgradeFailure } from '../../../src/session/trouble.ts';

const panelError = (kind: PanelErrorKind, facts: PanelErrorFacts = {}) =>
  new PanelError(kind, 'the panel says no', facts);
const TRANSIENT = { reason: 'no_token', trouble: 'the panel says no', pollable: true };

describe('tokenFailure', () => {
  it.each<[PanelErrorKind, string | undefined, object]>([
    ['network', undefined, TRANSIENT],
    ['timeout', undefined, TRANSIENT],
    ['redirect', undefined, TRANSIENT],
    ['server_error', undefined, TRANSIENT],
    ['node_unreachable', undefined, TRANSIENT],
    ['bad_answer', undefined, TRANSIENT],
    ['unauthorized', undefined, { ...TRANSIENT, lasting: 'unauthorized', pollable: true }],
    ['forbidden', undefined, { ...TRANSIENT, lasting: 'forbidden', pollable: true }],
    ['not_found', undefined, { ...TRANSIENT, lasting: 'not_found', pollable: false }],
    ['conflict', 'This server is suspended', { ...TRANSIENT, lasting: 'suspended', pollable: false }],
    [
      'conflict',
      'The server is being transferred',
      { ...TRANSIENT, lasting: 'transferring', pollable: false },
    ],
    ['conflict', 'Node is under maintenance', { ...TRANSIENT, lasting: 'maintenance', pollable: false }],
  ])('%s (%s)', (kind, detail, failure) => {
    expect(tokenFailure(panelError(kind, detail === undefined ? {} : { detail }))).toEqual(failure);
  });

  it('waits as long as a rate limit asks for', () => {
    const error = panelError('rate_limited', { status: 429, retryAfterMs: 47_000 });
    expect(tokenFailure(error)).toEqual({ ...TRANSIENT, retryAfterMs: 47_000 });
  });

  it('takes what is no error of the panel as passing', () => {
    expect(tokenFailure(new TypeError('a\nb'))).toEqual({ ...TRANSIENT, trouble: 'a b' });
    expect(tokenFailure('odd')).toEqual({ ...TRANSIENT, trouble: 'the call for credentials failed' });
  });
});

it('addressFailure rests slowly and leaves polling open', () => {
  expect(addressFailure('socket address "ws://x": plain ws is refused')).toEqual({
    reason: 'no_token',
    trouble: 'socket address "ws://x": plain ws is refused',
    lasting: 'forbidden',
    pollable: true,
  });
});

describe('upgradeFailure', () => {
  const ORIGIN = 'https://panel.example.com';
  const refused = (status: number) => upgradeFailure({ status, error: new Error('closed') }, ORIGIN);

  it('names the Origin for a 403, the most common mistake, and rests slowly', () => {
    const failure = refused(403);
    expect(failure).toMatchObject({ reason: 'upgrade_refused', lasting: 'forbidden', pollable: true });
    expect(failure.trouble).toContain('(403)');
    expect(failure.trouble).toContain(`another Origin than "${ORIGIN}"`);
    expect(failure.trouble).toContain('letter for letter');
  });

  it('knows a full socket table, and keeps the token for the next attempt', () => {
    const failure = refused(400);
    expect(failure.trouble).toBe(
      "the node refused the socket's upgrade (400): it holds too many sockets of this server already",
    );
    expect(failure.lasting).toBeUndefined();
    expect(failure.dropToken).not.toBe(true);
  });

  it.each([301, 302, 308])('follows no redirect (%i)', (status) => {
    expect(refused(status)).toEqual({
      reason: 'upgrade_refused',
      trouble: `the node refused the socket's upgrade (${status}): it redirects, which is not followed`,
      pollable: true,
      dropToken: true,
    });
  });

  it.each([
    [401, true],
    [404, true],
    [429, true],
    [500, false],
    [502, false],
    [503, false],
  ])('retries after a %i; drops the token: %s', (status, dropToken) => {
    expect(refused(status)).toEqual({
      reason: 'upgrade_refused',
      trouble: `the node refused the socket's upgrade (${status})`,
      pollable: true,
      dropToken,
    });
  });

  const failed = (code: string | undefined, message: string) =>
    upgradeFailure({ error: Object.assign(new Error(message), { code }) }, ORIGIN);

  it.each([
    ['ECONNREFUSED', 'connect ECONNREFUSED 203.0.113.7:8080', 'nothing listens there'],
    ['ECONNRESET', 'read ECONNRESET', 'the connection was cut'],
    ['ENOTFOUND', 'getaddrinfo ENOTFOUND node', 'does not resolve'],
    ['EMFILE', 'socket EMFILE', 'LimitNOFILE'],
    ['CERT_HAS_EXPIRED', 'certificate has expired', 'has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'tls_config.ca_file'],
  ])('says in words what %s means, and what was said', (code, message, words) => {
    const failure = failed(code, message);
    expect(failure).toMatchObject({ reason: 'connect_failed', pollable: true });
    expect(failure.lasting).toBeUndefined();
    expect(failure.trouble).toContain(words);
    expect(failure.trouble).toContain(`(${message})`);
  });

  it('gives the words of an error that it does not know, on one line', () => {
    expect(failed(undefined, 'odd\r\nthing').trouble).toBe('the node could not be reached: odd thing');
  });

  // Node bundles the errors of a name with several addresses into one that has a code but no words.
  it.each(['ECONNREFUSED', 'EPROTO'])(
    'finds words for a name none of whose addresses answers (%s)',
    (code) => {
      const each = ['203.0.113.7', '2001:db8::7'].map((host) =>
        Object.assign(new Error(`connect ${code} ${host}:8080`), { code }),
      );
      const error = Object.assign(new AggregateError(each, ''), { code });
      expect(upgradeFailure({ error }, ORIGIN).trouble).toContain(`connect ${code} 203.0.113.7:8080`);
    },
  );
});
