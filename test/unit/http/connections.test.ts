import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { identifyClient } from '../../../src/http/connections.ts';

describe('a client', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::192.0.2.1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ])('with address %s is %s', (address, client) => {
    expect(identifyClient(address)).toBe(client);
  });

  test('is exactly one IPv6 /64', () => {
    const group = fc.nat(0xffff).map((value) => value.toString(16));
    const half = fc.array(group, { minLength: 4, maxLength: 4 });
    const plain = (groups: readonly string[]) => groups.join(':');
    fc.assert(
      fc.property(half, half, half, half, (network, other, host, neighbor) => {
        const client = identifyClient(plain([...network, ...host]));
        expect(identifyClient(plain([...network, ...neighbor]))).toBe(client);
        expect(identifyClient(plain([...other, ...host])) === client).toBe(plain(other) === plain(network));
      }),
    );
  });
});
