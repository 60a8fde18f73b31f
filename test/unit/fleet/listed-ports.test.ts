import { describe, expect, it } from 'vitest';
import { ListedPorts } from '../../../src/fleet/listed-ports.ts';
import type { ListedServer } from '../../../src/panel/dialect.ts';

const listed = (
  uuid: string,
  node: string,
  place: Pick<ListedServer, 'address' | 'allocation'>,
): ListedServer => ({
  identifier: uuid,
  uuid,
  name: uuid,
  node,
  suspended: false,
  installing: false,
  transferring: false,
  underMaintenance: false,
  restoring: false,
  withoutBackups: false,
  limits: {},
  ...place,
});

const OURS = listed('ours', 'fra-1', { address: '203.0.113.7:2456' });

const taken = (server: ListedServer, ...others: readonly ListedServer[]) =>
  new ListedPorts([server, ...others]).ofOthers(server);

describe('the ports of other servers', () => {
  it.each([
    ['at the same address', listed('other', 'fra-1', { address: '203.0.113.7:2457' })],
    [
      'at the same address, of a node with another name',
      listed('other', 'fra-2', { address: '203.0.113.7:2457' }),
    ],
    ['of the same node, listed with a name', listed('other', 'fra-1', { address: 'play.example.com:2457' })],
    ['of the same node, listed without an address', listed('other', 'fra-1', { allocation: ':2457' })],
  ])('include those %s', (_, other) => {
    expect(taken(OURS, other)).toEqual([2457]);
  });

  it.each([
    ['at another IP address of the node', listed('other', 'fra-1', { address: '203.0.113.8:2457' })],
    ['of another node', listed('other', 'fra-2', { address: 'play.example.com:2457' })],
    ['without an allocation', listed('other', 'fra-1', {})],
    ["with the server's own port", listed('other', 'fra-1', { address: 'play.example.com:2456' })],
  ])('exclude those %s', (_, other) => {
    expect(taken(OURS, other)).toEqual([]);
  });
});
