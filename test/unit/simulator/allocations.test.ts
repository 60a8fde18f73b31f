import { describe, expect, it } from 'vitest';
import { listedAllocations } from '../../../src/simulator/allocations.ts';
import type { SimulatedServer } from '../../../src/simulator/simulated-server.ts';

const SERVER = { identifier: 'a950e436', node: 0, allocationSpec: {} } as const;

describe('the allocations of a server', () => {
  it.each<[string, SimulatedServer['allocationSpec'], readonly object[]]>([
    ['are none', null, []],
    [
      'are others before the default one, without their aliases',
      { ip: '203.0.113.7', alias: 'play.example.com', port: 25_565, otherPorts: [25_575, 25_585] },
      [
        { ip: '203.0.113.7', ip_alias: null, port: 25_575, is_default: false },
        { ip: '203.0.113.7', ip_alias: null, port: 25_585, is_default: false },
        { ip: '203.0.113.7', ip_alias: 'play.example.com', port: 25_565, is_default: true },
      ],
    ],
    [
      'are on its node’s address by default',
      { port: 25_565 },
      [
        { ip: '198.51.100.1', ip_alias: null, port: 25_564, is_default: false },
        { ip: '198.51.100.1', ip_alias: null, port: 25_565, is_default: true },
      ],
    ],
  ])('%s', (_what, allocation, expected) => {
    expect(listedAllocations({ ...SERVER, allocationSpec: allocation })).toEqual(expected);
  });

  it('have a port of their own if the spec has none', () => {
    const [, { port } = { port: 0 }] = listedAllocations(SERVER);
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThan(60_000);
  });
});
