// A list of IP addresses, with a memory of its last results.

import { type BlockList, isIP, isIPv6 } from 'node:net';
import { remembered } from './remembered.ts';

/**
 * Results are cached: a lookup in Node's BlockList makes two objects outside the heap, and the
 * collector frees those of thousands of connects at once.
 */
export class AddressList {
  readonly #isListed: (address: string) => boolean;

  constructor(list: BlockList) {
    this.#isListed = remembered(
      (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'),
      (address) => address,
    );
  }

  /** Is it one of these addresses, also as IPv4 mapped to IPv6? False for a name. */
  has(address: string): boolean {
    return isIP(address) !== 0 && this.#isListed(address);
  }
}
