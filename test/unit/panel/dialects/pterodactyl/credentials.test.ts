import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeCredentials,
  readPermissions,
} from '../../../../../src/panel/dialects/pterodactyl/credentials.ts';

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (claims: unknown) => `${base64({ alg: 'HS256' })}.${base64(claims)}.c2ln`;

describe('decodeCredentials', () => {
  const socket = 'wss://node.example.com:8080/api/servers/1/ws';
  const lifetimeOf = (token: string) => decodeCredentials({ data: { token, socket } }).lifetimeMs;

  it.each([
    ['exp − iat', jwt({ iat: 1_700_000_000, exp: 1_700_000_900 }), 900_000],
    [
      '10 min without iat, since exp alone would depend on the wall clock',
      jwt({ exp: 1_700_000_900 }),
      600_000,
    ],
    ['10 min for claims in the wrong order', jwt({ iat: 5, exp: 5 }), 600_000],
    ['10 min for claims that are not numbers', jwt({ iat: '1', exp: '2' }), 600_000],
    ['10 min for claims that are not an object', jwt(7), 600_000],
    ['10 min for a token that is not a JWT', 'opaque', 600_000],
    ['10 min for a damaged JWT', 'a.%%%.c', 600_000],
    ['at most a day', jwt({ iat: 0, exp: 1e12 }), 86_400_000],
  ])('calculates a lifetime of %s', (_name, token, lifetimeMs) => {
    expect(lifetimeOf(token)).toBe(lifetimeMs);
  });

  it('calculates a lifetime between 0 and a day for any token', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ minLength: 1 }), fc.jsonValue().map(jwt)), (token) => {
        expect(lifetimeOf(token)).toBeGreaterThan(0);
        expect(lifetimeOf(token)).toBeLessThanOrEqual(86_400_000);
      }),
    );
  });

  it.each([
    [{}],
    [null],
    [{ data: { token: '', socket } }],
    [{ data: { token: 'abc' } }],
    [{ data: { token: 1, socket } }],
  ])('rejects %j without repeating it', (answer) => {
    expect(() => decodeCredentials(answer)).toThrow('expected "token" and "socket" in "data"');
  });
});

it('a socket address of more than 2 KiB is rejected', () => {
  const body = (length: number) => ({ data: { token: 'a', socket: 'wss://a/'.padEnd(length, 'x') } });
  expect(decodeCredentials(body(2_048)).socketUrl).toHaveLength(2_048);
  expect(() => decodeCredentials(body(2_049))).toThrow(
    'expected a socket address of at most 2048 characters, got 2049',
  );
});

it('a token that is too long for an auth frame is rejected', () => {
  const body = (length: number) => ({ data: { token: 'x'.repeat(length), socket: 'wss://node/ws' } });
  expect(decodeCredentials(body(3_900)).token).toHaveLength(3_900);
  expect(() => decodeCredentials(body(4_001))).toThrow('expected a token of at most 4000 bytes');
});

describe('readPermissions', () => {
  it.each([
    ['lists permissions', jwt({ permissions: ['*'], exp: 1 }), ['*']],
    [
      'lists permissions with other values',
      jwt({ permissions: ['websocket.connect', 7, null] }),
      ['websocket.connect'],
    ],
    ['lists no permissions', jwt({ permissions: [] }), []],
    ['has no list', jwt({ permissions: 'websocket.connect' }), undefined],
    ['has no permissions claim', jwt({ exp: 1 }), undefined],
    ['contains no object', jwt(['a']), undefined],
    ['is not a token', 'a.b.c', undefined],
    ['is empty', '', undefined],
  ])('of a token that %s', (_, value, permissions) => {
    expect(readPermissions(value)).toEqual(permissions);
  });
});
