import { describe, expect, it } from 'vitest';
import type { ListedServer } from '../../../src/panel/responses.ts';
import { makeIsTaken, makeIsTakenNow } from '../../../src/query/taken-ports.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { listed } from '../../support/listed.ts';

const on = (uuid: string, node: string, place: Pick<ListedServer, 'address' | 'allocation' | 'otherPorts'>) =>
  listed(0, { uuid, node, ...place });

const LISTED = on('ours', 'fra-1', { address: '203.0.113.7:2456', otherPorts: [2459] });
const OURS = { ...LISTED, panel: 'main' };

const isTaken = (other: ListedServer, port: number) => makeIsTaken('main', [OURS, other])(OURS, port);

describe("a port of a server's address", () => {
  it.each([
    ['at the same address', on('other', 'fra-1', { address: '203.0.113.7:2457' })],
    [
      'at the same address, of a node with another name',
      on('other', 'fra-2', { address: '203.0.113.7:2457' }),
    ],
    ['of the same node, listed with a name', on('other', 'fra-1', { address: 'play.example.com:2457' })],
    ['of the same node, listed without an address', on('other', 'fra-1', { allocation: ':2457' })],
    [
      'that has it as one of its other ports',
      on('other', 'fra-1', { address: '203.0.113.7:2458', otherPorts: [2460, 2457] }),
    ],
  ])('belongs to another server %s', (_, other) => {
    expect(isTaken(other, 2457)).toBe(true);
    expect(isTaken(other, 2461)).toBe(false);
  });

  it.each([
    ['at another IP address of the node', on('other', 'fra-1', { address: '203.0.113.8:2457' })],
    ['of another node', on('other', 'fra-2', { address: 'play.example.com:2457' })],
    ['without an allocation', on('other', 'fra-1', {})],
  ])("doesn't belong to a server %s", (_, other) => {
    expect(isTaken(other, 2457)).toBe(false);
  });

  it("isn't another server's if it is the default port of this one, or only this one's", () => {
    const other = on('other', 'fra-1', { address: 'play.example.com:2456' });
    expect(isTaken(other, 2456)).toBe(false);
    expect(isTaken(other, 2459)).toBe(false);
  });

  it('that several servers have belongs to another server than each of them', () => {
    const twins = ['one', 'two', 'two'].map((uuid) => on(uuid, 'fra-1', { address: '203.0.113.7:2457' }));
    expect(makeIsTaken('main', [OURS, ...twins])(OURS, 2457)).toBe(true);
    const again = on('ours', 'fra-1', { address: '203.0.113.7:2456', otherPorts: [2459, 2459] });
    expect(makeIsTaken('main', [again])(OURS, 2459)).toBe(false);
  });

  it("can belong to another panel's server at the same address, but not of a node that happens to have the same name", () => {
    const others = [
      on('theirs', 'fra-1', { address: '203.0.113.7:2457' }),
      on('named', 'fra-1', { address: 'play.example.com:2458' }),
    ];
    const theirs = makeIsTaken('other', others);
    expect([2457, 2458].map((port) => theirs(OURS, port))).toEqual([true, false]);
    expect(makeIsTaken('other', [LISTED])(OURS, 2459)).toBe(false);
    const named = { ...on('ours', 'fra-1', { address: 'games.example.com:2456' }), panel: 'main' };
    expect(['main', 'other'].map((panel) => makeIsTaken(panel, others)(named, 2457))).toEqual([true, false]);
  });

  it('is looked up quickly, although thousands of servers are listed with it', () => {
    const otherPorts = Array.from({ length: 15 }, (_, index) => 3_000 + index);
    const servers = Array.from({ length: 3_000 }, (_, index) =>
      on(`server ${index}`, 'fra-1', { address: '203.0.113.8:2456', otherPorts }),
    );
    const ports = makeIsTaken('main', [OURS, ...servers]);
    const before = cpuMs();
    const taken = servers.flatMap(() => otherPorts.filter((port) => ports(OURS, port)));
    expect(cpuMs() - before).toBeLessThan(1_500);
    expect(taken).toEqual([]);
  });
});

it('is looked up in the latest server list', () => {
  let servers = [LISTED, on('other', 'fra-1', { address: '203.0.113.7:2457' })];
  const isTakenNow = makeIsTakenNow('main', () => servers);
  expect(isTakenNow(OURS, 2457)).toBe(true);
  servers = [LISTED];
  expect(isTakenNow(OURS, 2457)).toBe(false);
});
