import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatEndpoint, isHost, isPort, parseEndpoint } from '../../../src/addresses/hosts.ts';

it.each([
  ['play.example.com', { host: 'play.example.com' }],
  ['play.example.com:2457', { host: 'play.example.com', port: 2457 }],
  ['203.0.113.7:1', { host: '203.0.113.7', port: 1 }],
  ['[2001:db8::7]', { host: '2001:db8::7' }],
  ['[2001:db8::7]:65535', { host: '2001:db8::7', port: 65_535 }],
  [':25565', { host: '', port: 25_565 }],
])('%s is parsed', (text, endpoint) => {
  expect(parseEndpoint(text)).toEqual(endpoint);
  expect(formatEndpoint(endpoint)).toBe(text);
});

it.each(['', ':', 'a:0', 'a:65536', 'a:b', 'a:1:2', '2001:db8::7', '[::1', 'a:123456'])(
  '"%s" is not an endpoint',
  (text) => {
    expect(parseEndpoint(text)).toBeUndefined();
  },
);

it('an endpoint is parsed as it was formatted', () => {
  const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(host, fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }), (host, port) => {
      const endpoint = { host, ...(port !== undefined && { port }) };
      expect(parseEndpoint(formatEndpoint(endpoint))).toEqual(endpoint);
    }),
  );
});

it.each<[unknown, boolean]>([
  ['203.0.113.7', true],
  ['2001:db8::7', true],
  ['play.example.com', true],
  ['Survival_1', true],
  ['play.example.com.', false],
  ['-play.example.com', false],
  [`${'a'.repeat(63)}.example.com`, true],
  [`${'a'.repeat(64)}.example.com`, false],
  ['a.'.repeat(127).slice(0, -1), true],
  ['a.'.repeat(128).slice(0, -1), false],
  // Resolvers accept these as IPv4 addresses.
  ['203.0.113', false],
  ['play.0x', false],
  ['fe80::7%eth0', false],
  ['[2001:db8::7]', false],
  ['', false],
  [7, false],
  [undefined, false],
])('%j is a host: %s', (value, expected) => {
  expect(isHost(value)).toBe(expected);
});

it.each<[unknown, boolean]>([
  [1, true],
  [65_535, true],
  [0, false],
  [65_536, false],
  [80.5, false],
  [Number.NaN, false],
  ['25565', false],
])('%j is a port: %s', (value, expected) => {
  expect(isPort(value)).toBe(expected);
});
