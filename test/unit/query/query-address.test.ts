import { describe, expect, it } from 'vitest';
import { queryAddress } from '../../../src/query/query-address.ts';

describe('the address to query', () => {
  /**
   * The target of a server with this configured address, address in the list, and default
   * allocation.
   */
  const target = ([configured, address, allocation]: readonly (string | undefined)[]) => ({
    query: {
      type: 'minecraft',
      intervalMs: 30_000,
      ...(configured !== undefined && { address: configured }),
    },
    ...(address !== undefined && { address }),
    ...(allocation !== undefined && { allocation }),
  });
  const none = undefined;

  it.each([
    ['the default allocation', [none, '203.0.113.7:25565'], '203.0.113.7', 25_565, false],
    ['an IPv6 allocation', [none, '[2001:db8::7]:25565'], '2001:db8::7', 25_565, false],
    ['the alias of the allocation', [none, 'play.example.com:25565'], 'play.example.com', 25_565, false],
    ["the node's address", [none, none, 'fra-1.example.com:25565'], 'fra-1.example.com', 25_565, false],
    ['a link-local allocation', [none, none, '169.254.7.7:25565'], '169.254.7.7', 25_565, false],
    ['the configured address', ['a.example.com:2457', '203.0.113.7:2456'], 'a.example.com', 2457, true],
    ['the configured host', ['a.example.com', '203.0.113.7:2456'], 'a.example.com', 2456, false],
    ['the configured host, with an allocation on 0.0.0.0', ['[::1]', none, ':2456'], '::1', 2456, false],
    ['the configured IPv6 address', ['[::1]:2457'], '::1', 2457, true],
  ])('is %s', (_, addresses, host, port, isQueryPort) => {
    expect(queryAddress(target(addresses))).toEqual({ host, port, isQueryPort });
  });

  it.each([
    ['there is no allocation', [], 'the server list has no default allocation'],
    [
      'the allocation is 0.0.0.0',
      [none, none, ':25565'],
      'the default allocation is 0.0.0.0 or ::, without an alias, and the server list has no address of the node',
    ],
    [
      'the configured address has no port, and there is no allocation',
      ['a.example.com'],
      'query.address has no port, and the server list has no default allocation',
    ],
  ])('is missing if %s', (_, addresses, detail) => {
    expect(queryAddress(target(addresses))).toEqual({ cause: 'query_address_missing', detail });
  });
});
