import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatEndpoint, parseEndpoint } from '../../../src/addresses/hosts.ts';

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
