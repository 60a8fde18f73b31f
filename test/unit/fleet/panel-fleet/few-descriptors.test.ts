import { beforeEach, describe, expect, it } from 'vitest';
import { SocketLimit } from '../../../../src/app/socket-limit.ts';
import type { PanelFleet } from '../../../../src/fleet/panel-fleet.ts';
import { FleetBench, SETTINGS, servers } from '../../../support/fleet-bench.ts';

const SERVERS = 20;

/** A limit with room for this many sockets of one panel. */
function limitFor(sockets: number): SocketLimit {
  const one = new SocketLimit(100);
  one.require(0, () => undefined);
  return new SocketLimit(100 - one.sockets + sockets);
}

describe('a fleet with more servers than the process can open sockets', () => {
  let bench: FleetBench;
  let fleet: PanelFleet;

  beforeEach(() => {
    bench = new FleetBench();
    bench.gateway.limitPerMinute = 6_000;
    bench.socketLimit = limitFor(4);
    fleet = bench.create(servers(SERVERS));
  });

  it('streams the first servers of the list, however often a server is renamed or blocked', async () => {
    fleet.start();
    await bench.clock.advance(60_000);
    expect(bench.streamed()).toEqual(['a', 'b', 'c', 'd']);
    fleet.configure({ ...SETTINGS, servers: servers(SERVERS, { name: 'renamed' }) });
    await bench.clock.advance(60_000);
    expect(bench.sockets).toHaveLength(4);
    const [first, ...others] = servers(SERVERS);
    if (first === undefined) throw new Error('no server');
    fleet.configure({ ...SETTINGS, servers: [{ ...first, mode: 'poll' }, ...others] });
    await bench.clock.advance(60_000);
    expect(new Set(bench.streamed())).toEqual(new Set(['b', 'c', 'd', 'e']));
    expect(bench.sockets).toHaveLength(5);
  });

  it('gives every server its socket back when servers are removed', async () => {
    fleet.start();
    await bench.clock.advance(60_000);
    fleet.configure({ ...SETTINGS, servers: servers(SERVERS).slice(-4) });
    await bench.clock.advance(60_000);
    expect(new Set(bench.streamed())).toEqual(new Set(['q', 'r', 's', 't']));
    expect(fleet.reading().problems).toEqual([]);
  });
});
