import { BlockList, type SocketAddress } from 'node:net';
import { expect, it } from 'vitest';
import { AddressList } from '../../../src/addresses/address-list.ts';

/** A list that counts its lookups. */
class CountingList extends BlockList {
  looks = 0;

  override check(address: SocketAddress | string, family?: 'ipv4' | 'ipv6'): boolean {
    this.looks += 1;
    return typeof address === 'string' ? super.check(address, family) : super.check(address);
  }
}

it.each([
  ['127.0.0.1', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.1', false],
  ['localhost', false],
  ['', false],
])('%j is one of the addresses: %s', (address, isListed) => {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  expect(new AddressList(list).has(address)).toBe(isListed);
});

it('each address is looked up once, and no name is', () => {
  const list = new CountingList();
  list.addAddress('::1', 'ipv6');
  const addresses = new AddressList(list);
  const asked = ['::1', '10.0.0.1', '::1', '10.0.0.1', 'localhost'];
  expect(asked.map((address) => addresses.has(address))).toEqual([true, false, true, false, false]);
  expect(list.looks).toBe(2);
});
