import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { clockFinding, clockSkewMs } from '../../../src/doctor/panel-steps.ts';

describe("the panel's clock", () => {
  const key = new TextEncoder().encode('x'.repeat(32));
  const token = (issuedAtMs: number) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuedAt(issuedAtMs / 1_000)
      .sign(key);
  const span = { from: 1_700_000_000_000, to: 1_700_000_003_000 };

  it.each([
    [1_700_000_002_000, 0],
    [1_700_000_063_000, 60_000],
    [1_699_999_940_000, -60_000],
  ])('a token of %i is off by %i ms', async (issuedAt, skew) => {
    expect(clockSkewMs(await token(issuedAt), span)).toBe(skew);
  });

  it.each(['opaque', 'a.b.c', ''])('is unknown if the token is "%s"', (text) => {
    expect(clockSkewMs(text, span)).toBeUndefined();
  });

  it.each([
    [undefined, 'skipped', /unknown/],
    [30_000, 'ok', /^within 30 s of the panel's clock$/],
    [-30_000, 'ok', /^within 30 s of the panel's clock$/],
    [31_000, 'warning', /31 s ahead of/],
    [-90_000, 'warning', /90 s behind/],
  ] as const)('with a skew of %s ms: %s', (skew, result, words) => {
    expect(clockFinding(skew)).toMatchObject({ result, detail: expect.stringMatching(words) as string });
  });
});
