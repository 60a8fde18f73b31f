import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  clockFinding,
  clockSkewMs,
  type ListingSelection,
  limitFinding,
  listingFinding,
} from '../../../src/doctor/panel-steps.ts';
import { listed } from '../../support/listed.ts';

describe("the panel's limit", () => {
  const short = { cause: 'budget_too_small', detail: 'its 9 servers need 99 calls' } as const;
  const learned = {
    known: 240,
    pinned: undefined,
    perMinute: 192,
    throttled: undefined,
    shortfall: undefined,
  };

  it.each([
    [{}, 'ok', undefined, /^240 calls .* at most 192$/],
    [{ shortfall: short }, 'warning', 'budget_too_small', /^240 calls .* at most 192; its 9 servers need 99/],
    [{ pinned: 20, perMinute: 20 }, 'ok', undefined, /^20 calls .*requests_per_minute/],
    [{ pinned: 20, perMinute: 20, shortfall: short }, 'warning', 'budget_too_small', /^20 .*; its 9 servers/],
    [{ pinned: 300, shortfall: short }, 'warning', 'pinned_too_high', /300, but the panel allows 240$/],
    [{ known: undefined, perMinute: 60 }, 'warning', 'limit_unknown', /at most 60/],
    [{ known: undefined, shortfall: short }, 'warning', 'limit_unknown', /; its 9 servers need 99/],
    [{ throttled: 'no calls for 5 s', shortfall: short }, 'warning', 'rate_limited', /^no calls for 5 s$/],
  ] as const)('with %j: %s, %s', (facts, result, cause, detail) => {
    const finding = limitFinding({ ...learned, ...facts });
    expect(finding).toMatchObject({ result, detail: expect.stringMatching(detail) as string });
    expect(finding.cause).toBe(cause);
  });
});

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
  ])('with a token issued at %i is off by %i ms', async (issuedAt, skew) => {
    expect(clockSkewMs(await token(issuedAt), span)).toBe(skew);
  });

  it.each(['opaque', 'a.b.c', ''])('is unknown if the token is "%s"', (text) => {
    expect(clockSkewMs(text, span)).toBeUndefined();
  });

  it.each([
    [undefined, 'skipped', /not compared/],
    [30_000, 'ok', /^within 30 s of the panel's clock$/],
    [-30_000, 'ok', /^within 30 s of the panel's clock$/],
    [31_000, 'warning', /31 s ahead of/],
    [-90_000, 'warning', /90 s behind/],
  ] as const)('with a skew of %s ms: %s', (skew, result, words) => {
    expect(clockFinding(skew)).toMatchObject({ result, detail: expect.stringMatching(words) as string });
  });
});

describe('the server list of which one server is sought', () => {
  const selection: ListingSelection = { targets: [], sought: 'lobby' };
  const walk = {
    complete: true,
    surplusEntries: 0,
    unreadable: new Set<string>(),
    pages: 1,
    problem: undefined,
    failure: undefined,
  };

  it('has no problem if it does not contain that server', () => {
    const found = listingFinding({ ...walk, servers: [listed(1)] }, selection);
    expect(found).toMatchObject({ result: 'ok', detail: '1 server listed, none is "lobby"' });
  });

  it('has a problem if it is empty', () => {
    const found = listingFinding({ ...walk, servers: [] }, selection);
    expect(found).toMatchObject({ result: 'failed', cause: 'nothing_listed' });
  });
});
