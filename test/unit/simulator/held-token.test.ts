import { describe, expect, it } from 'vitest';
import { HeldToken } from '../../../src/simulator/held-token.ts';

const SERVER = '1a7ce997-259b-452e-8b4e-cecc464142ca';
/** The Unix time at the clock's time 0. */
const EPOCH = 1_764_000_000_000;

function holding({ livesMs = 600_000, serverUuid = SERVER, permissions = ['*'], now = 0 } = {}): HeldToken {
  const token = new HeldToken(SERVER);
  const issuedAtMs = EPOCH + now;
  const claims = { serverUuid, issuedAtMs, expiresAtMs: issuedAtMs + livesMs };
  token.hold({ ok: true, claims, permissions }, now, issuedAtMs);
  return token;
}

it.each([
  [600_000, 0, 'fresh'],
  [600_000, 539_999, 'fresh'],
  [600_000, 540_000, 'expiring'],
  [600_000, 599_999, 'expiring'],
  [600_000, 600_000, 'expired'],
  [2_000, 1_799, 'fresh'],
  [2_000, 1_800, 'expiring'],
  [7_200_000, 7_139_999, 'fresh'],
])('a token of %i ms is, %i ms later, %s', (livesMs, now, stage) => {
  expect(holding({ livesMs }).stage(now)).toBe(stage);
});

describe('a token', () => {
  it('can not be used if there is none, if it has expired, or if it is of another server', () => {
    expect(new HeldToken(SERVER).error(0)).toBe('jwt: no jwt present');
    expect(holding().error(599_999)).toBeUndefined();
    expect(holding().error(600_000)).toBe('jwt: exp claim is invalid');
    expect(holding({ serverUuid: 'other' }).error(0)).toBe('jwt: server uuid mismatch');
  });

  it('that ends early has expired, but is still there until it is forgotten', () => {
    const token = holding();
    token.expire(1_000);
    expect([token.isAbsent, token.stage(1_000)]).toEqual([false, 'expired']);
    token.forget();
    expect([token.isAbsent, token.error(1_000)]).toEqual([true, 'jwt: no jwt present']);
  });

  it('is replaced by the next one', () => {
    const token = holding({ permissions: ['a'] });
    const claims = { serverUuid: SERVER, issuedAtMs: EPOCH + 5_000, expiresAtMs: EPOCH + 605_000 };
    token.hold({ ok: true, claims, permissions: ['b'] }, 5_000, EPOCH + 5_000);
    expect(token.stage(600_000)).toBe('expiring');
    expect([token.allows('a'), token.allows('b'), token.permissions]).toEqual([false, true, ['b']]);
  });

  it.each([
    [['control.console'], 'control.console', true],
    [['control.console'], 'control.stop', false],
    [['*'], 'control.stop', true],
    [[], 'control.stop', false],
  ])('with the permissions %j allows %s: %s', (permissions, needed, isAllowed) => {
    expect(holding({ permissions }).allows(needed)).toBe(isAllowed);
  });
});
