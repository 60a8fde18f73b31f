import { describe, expect, it } from 'vitest';
import { ListedPorts } from '../../../src/fleet/listed-ports.ts';
import type { ListedServer } from '../../../src/panel/dialect.ts';
import { listed } from '../../support/listed.ts';

const on = (uuid: string, node: string, place: Pick<ListedServer, 'address' | 'allocation'>) =>
  listed(0, { uuid, node, ...place });

const OURS = on('ours', 'fra-1', { address: '203.0.113.7:2456' });

const taken = (server: ListedServer, ...others: readonly ListedServer[]) =>
  new ListedPorts([server, ...others]).ofOthers(server);

describe('the ports of other servers', () => {
  it.each([
    ['at the same address', on('other', 'fra-1', { address: '203.0.113.7:2457' })],
    [
      'at the same address, of a node with another name',
      on('other', 'fra-2', { address: '203.0.113.7:2457' }),
    ],
    ['of the same node, listed with a name', on('other', 'fra-1', { address: 'play.example.com:2457' })],
    ['of the same node, listed without an address', on('other', 'fra-1', { allocation: ':2457' })],
  ])('include those %s', (_, other) => {
    expect(taken(OURS, other)).toEqual([2457]);
  });

  it.each([
    ['at another IP address of the node', on('other', 'fra-1', { address: '203.0.113.8:2457' })],
    ['of another node', on('other', 'fra-2', { address: 'play.example.com:2457' })],
    ['without an allocation', on('other', 'fra-1', {})],
    ["with the server's own port", on('other', 'fra-1', { address: 'play.example.com:2456' })],
  ])('exclude those %s', (_, other) => {
    expect(taken(OURS, other)).toEqual([]);
  });
});
