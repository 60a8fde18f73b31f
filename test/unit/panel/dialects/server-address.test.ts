import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localAllocation, serverAddress } from '../../../../src/panel/dialects/server-address.ts';
import { KNOWN_SECRETS } from '../../../../src/text/redaction.ts';

describe('the address of a game server', () => {
  it.each([
    [['203.0.113.7'], '203.0.113.7:25565'],
    [['2001:db8::7'], '[2001:db8::7]:25565'],
    [['play.example.com'], 'play.example.com:25565'],
    [['Survival_1'], 'Survival_1:25565'],
    [['xn--mnchen-3ya.example'], 'xn--mnchen-3ya.example:25565'],
    [['play.example.com', '203.0.113.7'], 'play.example.com:25565'],
    // The game server may run on Prometheus' machine.
    [['127.0.0.1'], '127.0.0.1:25565'],
  ])('on %j is %s', (hosts, address) => {
    expect(serverAddress(hosts, 25_565)).toBe(address);
  });

  it.each<unknown>([
    undefined,
    null,
    '',
    7,
    {},
    'our main address',
    'https://play.example.com',
    'play.example.com:25565',
    'play.example.com.',
    'play..example.com',
    '-play.example.com',
    'play-.example.com',
    `${'a'.repeat(64)}.example.com`,
    'a.'.repeat(130).slice(0, -1),
    'münchen.example',
    'user@example.com',
    'play\u200b.example.com',
    '\u001b[31mplay',
    // Resolvers accept these as IPv4 addresses.
    '203.0.113',
    '0xcb007107',
    'play.0x',
    // Addresses at which no game server is reachable.
    '0.0.0.0',
    '::',
    '169.254.169.254',
    '2001:db8::7%eth0',
    '[2001:db8::7]',
  ])('uses the next host if the first is %j, and is unknown without another host', (host) => {
    expect(serverAddress([host, '203.0.113.7'], 1)).toBe('203.0.113.7:1');
    expect(serverAddress([host], 1)).toBeUndefined();
  });

  it.each([0, -1, 65_536, 80.5, Number.NaN, '25565', null, undefined])(
    'is unknown with the port %j',
    (port) => {
      expect(serverAddress(['203.0.113.7'], port)).toBeUndefined();
    },
  );

  it.each([1, 65_535])('can have the port %i', (port) => {
    expect(serverAddress(['203.0.113.7'], port)).toBe(`203.0.113.7:${port}`);
  });

  it('is a single line, and has the same host and port in a URL, whatever a panel sends', () => {
    const host = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.domain(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(
        fc.array(host, { maxLength: 3 }),
        fc.oneof(fc.nat(70_000), fc.jsonValue()),
        (hosts, port) => {
          const address = serverAddress(hosts, port);
          if (address === undefined) return;
          const url = new URL(`gs://${address}/`);
          expect(url.host).toBe(address.startsWith('[') ? url.host : address);
          expect([url.username, url.pathname, url.search, url.hash]).toEqual(['', '/', '', '']);
        },
      ),
    );
  });
});

describe('a secret', () => {
  const secret = 'correct-horse-battery';

  it.each([
    secret,
    `${secret}.example.com`,
    'ptlc_0123456789abcdef',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.sig',
  ])('is not accepted as a host: %s', (host) => {
    KNOWN_SECRETS.add(secret);
    expect(serverAddress([host, '203.0.113.7'], 1)).toBe('203.0.113.7:1');
  });
});

describe('an allocation without a usable address', () => {
  it.each<[string, unknown[], unknown, string | undefined]>([
    ['a link-local address', [null, '169.254.7.7'], 25_565, '169.254.7.7:25565'],
    ['an IPv6 link-local address', ['fe80::7'], 25_565, '[fe80::7]:25565'],
    ['a metadata address', ['169.254.169.254'], 80, '169.254.169.254:80'],
    ['the port with 0.0.0.0', [null, '0.0.0.0'], 25_565, ':25565'],
    ['the port with ::', [null, '::'], 25_565, ':25565'],
    ['the port without a host', [null, undefined], 25_565, ':25565'],
    ['the port with text as the host', ['our main address', '0.0.0.0'], 25_565, ':25565'],
    ['nothing without a port', ['169.254.7.7'], undefined, undefined],
    ['nothing with an invalid port', ['169.254.7.7'], 65_536, undefined],
  ])('is reduced to %s', (_, hosts, port, allocation) => {
    expect(serverAddress(hosts, port)).toBeUndefined();
    expect(localAllocation(hosts, port)).toBe(allocation);
  });
});
