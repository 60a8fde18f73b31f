import { describe, expect, it } from 'vitest';
import { checkToken, DENYLISTED_TEXT, EXPIRED_TEXT, signToken } from '../../../src/simulator/tokens.ts';

describe('tokens', () => {
  const key = new Uint8Array(32).fill(7);
  const claims = { serverUuid: 'a', issuedAtMs: 1_700_000_000_500, expiresAtMs: 1_700_000_002_500 };
  const check = async (change: Partial<Parameters<typeof checkToken>[2]>, withKey = key) =>
    checkToken(withKey, await signToken(key, claims, 'id'), {
      nowMs: claims.issuedAtMs + 1_999,
      validSinceMs: 0,
      ...change,
    });

  it('are accepted until they expire, to the millisecond', async () => {
    await expect(check({})).resolves.toEqual({ ok: true, claims, permissions: ['*'] });
    await expect(check({ nowMs: claims.expiresAtMs })).resolves.toEqual({
      ok: false,
      event: 'jwt error',
      text: EXPIRED_TEXT,
    });
    await expect(check({ nowMs: claims.expiresAtMs + 5_000 })).resolves.toEqual({
      ok: false,
      event: 'jwt error',
      text: EXPIRED_TEXT,
    });
  });

  it('are rejected after a restart of the node, and if forged', async () => {
    await expect(check({ validSinceMs: claims.issuedAtMs + 1 })).resolves.toEqual({
      ok: false,
      event: 'jwt error',
      text: DENYLISTED_TEXT,
    });
    await expect(check({}, new Uint8Array(32))).resolves.toMatchObject({ ok: false, event: 'daemon error' });
  });
});
