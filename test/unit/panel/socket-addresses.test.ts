import { describe, expect, it } from 'vitest';
import { SocketAddresses } from '../../../src/panel/socket-addresses.ts';

const FIRST = 'wss://node.example.com:8080/api/servers/a/ws';

describe("the address of a node's sockets", () => {
  it.each([
    ['another server of the node', 'wss://node.example.com:8080/api/servers/b/ws', false],
    ['another port', 'wss://node.example.com:443/api/servers/a/ws', true],
    ['another host', 'wss://other.example.com:8080/api/servers/a/ws', true],
    ['another scheme', 'ws://node.example.com:8080/api/servers/a/ws', true],
    ['no address at all', 'none', false],
  ])('changes, or not, with %s', (_what, url, isChanged) => {
    const addresses = new SocketAddresses();
    expect(addresses.note('node', FIRST)).toBeUndefined();
    expect(addresses.note('node', url)).toBe(isChanged ? 'wss://node.example.com:8080' : undefined);
    expect(addresses.isCurrent('node', FIRST)).toBe(!isChanged);
  });

  it('is current as long as nothing else is known', () => {
    const addresses = new SocketAddresses();
    expect(addresses.note(undefined, FIRST)).toBeUndefined();
    expect([addresses.isCurrent(undefined, FIRST), addresses.isCurrent('node', FIRST)]).toEqual([true, true]);
  });

  it('is the one at which a server of the node streams, unless the panel gave another', () => {
    const [addresses, other] = [new SocketAddresses(), 'wss://other.example.com/ws'];
    addresses.streams(undefined, FIRST);
    addresses.streams('node', FIRST);
    expect([addresses.isCurrent('node', FIRST), addresses.isCurrent('node', other)]).toEqual([true, false]);
    expect(addresses.note('node', other)).toBe('wss://node.example.com:8080');
    addresses.streams('node', FIRST);
    expect([addresses.isCurrent('node', FIRST), addresses.isCurrent('node', other)]).toEqual([false, true]);
  });

  it('is forgotten with its node', () => {
    const addresses = new SocketAddresses();
    addresses.note('node', FIRST);
    addresses.note('gone', FIRST);
    addresses.keep(new Set(['node']));
    const other = 'wss://other.example.com/ws';
    expect([addresses.isCurrent('node', other), addresses.isCurrent('gone', other)]).toEqual([false, true]);
  });
});
