import { describe, expect, it } from 'vitest';
import {
  allows,
  checkToken,
  DAEMON_ERROR_TEXT,
  DENYLISTED_TEXT,
  EXPIRED_TEXT,
  NO_CONNECT_TEXT,
  signToken,
} from '../../../src/simulator/tokens.ts';

const KEY = new TextEncoder().encode('a secret of thirty-two characters');
const NOW = 1_700_000_000_000;
const CLAIMS = { serverUuid: 'one', issuedAtMs: NOW - 60_000, expiresAtMs: NOW + 1_500 };
const expected = { nowMs: NOW, validSinceMs: NOW - 60_000 };

const check = async (token: Promise<string> | string, changes: Partial<typeof expected> = {}, key = KEY) =>
  checkToken(key, await token, { ...expected, ...changes });

describe('a token', () => {
  it('is good for its server, with its permissions', async () => {
    expect(await check(signToken(KEY, CLAIMS, 'id', ['websocket.connect']))).toEqual({
      ok: true,
      claims: CLAIMS,
      permissions: ['websocket.connect'],
    });
    expect(await check(signToken(KEY, CLAIMS, 'id'))).toMatchObject({ ok: true, permissions: ['*'] });
  });

  const rejected = (text: string) => ({ ok: false, event: 'jwt error', text });
  it.each<[string, () => Promise<string> | string, Partial<typeof expected>, object]>([
    [
      'that has expired within the second',
      () => signToken(KEY, CLAIMS, 'id'),
      { nowMs: NOW + 1_500 },
      rejected(EXPIRED_TEXT),
    ],
    [
      'that has expired long ago',
      () => signToken(KEY, CLAIMS, 'id'),
      { nowMs: NOW + 99_000 },
      rejected(EXPIRED_TEXT),
    ],
    [
      'from before the node started',
      () => signToken(KEY, CLAIMS, 'id'),
      { validSinceMs: NOW - 59_999 },
      rejected(DENYLISTED_TEXT),
    ],
    [
      'without the permission to connect',
      () => signToken(KEY, CLAIMS, 'id', ['control.console']),
      {},
      rejected(NO_CONNECT_TEXT),
    ],
    [
      'without a server',
      () => signToken(KEY, { ...CLAIMS, serverUuid: undefined as never }, 'id'),
      {},
      rejected(DENYLISTED_TEXT),
    ],
    ['that is none', () => 'a.b.c', {}, { ok: false, event: 'daemon error', text: DAEMON_ERROR_TEXT }],
  ])('%s is rejected', async (_what, sign, changes, verdict) => {
    expect(await check(sign(), changes)).toEqual(verdict);
  });

  it("of another panel is an error that the daemon doesn't explain", async () => {
    const other = new TextEncoder().encode('another secret of thirty-two chars');
    expect(await check(signToken(other, CLAIMS, 'id'))).toMatchObject({ event: 'daemon error' });
  });
});

it.each([
  [['*'], true],
  [['websocket.connect'], true],
  [['control.console'], false],
  [[], false],
])('the permissions %j allow to connect: %s', (permissions, isAllowed) => {
  expect(allows(permissions, 'websocket.connect')).toBe(isAllowed);
});
