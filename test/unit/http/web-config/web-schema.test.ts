import { describe, expect, it } from 'vitest';
import {
  isEmptyMap,
  rejectionReason,
  webConfigSchema,
  withoutBlanks,
} from '../../../../src/http/web-config/web-schema.ts';

const HASH = `$2y$10$${'a'.repeat(53)}`;

/** The paths of the problems in a tree. */
const problems = (tree: unknown) =>
  (webConfigSchema.safeParse(tree).error?.issues ?? []).map(({ path }) => path.join('.'));

describe('the hash of a password', () => {
  it.each<[string, boolean]>([
    [HASH, true],
    [HASH.replace('2y', '2'), true],
    [HASH.replace('2y', '2b'), true],
    [HASH.replace('$10', '$04'), true],
    [HASH.replace('$10', '$31'), true],
    [HASH.replace('2y', '2x'), false],
    [HASH.replace('$10', '$03'), false],
    [HASH.replace('$10', '$32'), false],
    [HASH.slice(0, -1), false],
    [`${HASH}a`, false],
    [HASH.replace('aa', 'a-'), false],
    ['secret', false],
  ])('%s is one of bcrypt: %s', (text, isHash) => {
    expect(problems({ basic_auth_users: { alice: text } })).toEqual(isHash ? [] : ['basic_auth_users.alice']);
  });
});

describe('a header', () => {
  it.each<[string, string, boolean]>([
    ['Content-Security-Policy', "default-src 'self'\t\xff", true],
    ['Content-Security-Policy', 'a\r\nb', false],
    ['Strict-Transport-Security', '\u20ac', false],
    ['X-Content-Type-Options', 'nosniff', true],
    ['X-Content-Type-Options', 'sniff', false],
    ['X-Frame-Options', 'sameorigin', true],
    ['Server', 'mine', false],
  ])('%s: %j is allowed: %s', (name, value, isAllowed) => {
    expect(problems({ http_server_config: { headers: { [name]: value } } }).length === 0).toBe(isAllowed);
  });
});

it('what is missing has defaults', () => {
  expect(webConfigSchema.parse({})).toEqual({ http_server_config: { headers: {} }, basic_auth_users: {} });
});

describe('blank settings', () => {
  it.each<[string, unknown, unknown]>([
    ['are left out', { rate_limit: null, http_server_config: { http2: '' } }, { http_server_config: {} }],
    ['that are unknown are kept, because they are problems', { rate_limits: null }, { rate_limits: null }],
    ['of TLS are no TLS', { tls_server_config: { cert_file: '', key_file: null } }, {}],
    ['of users are no users, which is a problem', { basic_auth_users: null }, { basic_auth_users: {} }],
    [
      'of a user are kept, because they are problems',
      { basic_auth_users: { alice: '' } },
      { basic_auth_users: { alice: '' } },
    ],
    ['are none in other trees', 'a', 'a'],
  ])('%s', (_what, tree, kept) => {
    expect(withoutBlanks(tree)).toEqual(kept);
  });

  it.each([
    [{}, true],
    [{ a: 1 }, false],
    [[], false],
    [null, false],
  ])('%j is an empty map: %s', (tree, isEmpty) => {
    expect(isEmptyMap(tree)).toBe(isEmpty);
  });
});

it("why OpenSSL rejects something is its reason, or the error's absence of one", () => {
  const fail = (error: object) => () => {
    throw Object.assign(new Error('no'), error);
  };
  expect([
    rejectionReason(() => 1),
    rejectionReason(fail({ reason: 'bad' })),
    rejectionReason(fail({})),
  ]).toEqual([undefined, 'bad', 'invalid']);
});
