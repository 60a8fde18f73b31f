import { beforeEach, describe, expect, it } from 'vitest';
import type { PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import { SocketLimit } from '../../../src/fleet/socket-limit.ts';
import { FleetBench, servers } from '../../support/fleet-bench.ts';

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

  const conditions = () => {
    const counts: Record<string, number> = {};
    for (const { status } of fleet.records) counts[status.condition] = (counts[status.condition] ?? 0) + 1;
    return counts;
  };

  it('streams as many servers as there is room for, polls the others, and shows what to raise', async () => {
    fleet.start();
    await bench.clock.advance(120_000);
    expect(bench.sockets).toHaveLength(4);
    expect(bench.streamed()).toHaveLength(4);
    expect(conditions()).toEqual({ streaming: 4, polling: SERVERS - 4 });
    expect(fleet.reading().needs).toMatchObject({ requiredSockets: SERVERS, allowedSockets: 4 });
    const [problem] = fleet.reading().problems;
    expect(problem?.cause).toBe('descriptors');
    expect(problem?.detail).toMatch(
      /^the limit of \d+ open files leaves room for 4 console sockets; 16 servers have none and can only be polled; required limit: \d+$/,
    );
    const warnings = bench.log.lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^panel main: out of file descriptors: .*ulimit -n/),
    ]);
  });

  it('streams the first servers of the list, however often a server is renamed or blocked', async () => {
    fleet.start();
    await bench.clock.advance(60_000);
    expect(bench.streamed()).toEqual(['a', 'b', 'c', 'd']);
    fleet.setSelection({ servers: servers(SERVERS, { name: 'renamed' }) });
    await bench.clock.advance(60_000);
    expect(bench.sockets).toHaveLength(4);
    const [first, ...others] = servers(SERVERS);
    if (first === undefined) throw new Error('no server');
    fleet.setSelection({ servers: [{ ...first, mode: 'poll' }, ...others] });
    await bench.clock.advance(60_000);
    expect(new Set(bench.streamed())).toEqual(new Set(['b', 'c', 'd', 'e']));
    expect(bench.sockets).toHaveLength(5);
  });

  it('gives every server its socket back when servers are removed', async () => {
    fleet.start();
    await bench.clock.advance(60_000);
    fleet.setSelection({ servers: servers(SERVERS).slice(-4) });
    await bench.clock.advance(60_000);
    expect(new Set(bench.streamed())).toEqual(new Set(['q', 'r', 's', 't']));
    expect(fleet.reading().problems).toEqual([]);
  });

  it("shares the sockets equally with other panels' fleets, whatever their size", async () => {
    fleet.start();
    await bench.clock.advance(60_000);
    const other = bench.create(servers(26), { name: 'other' });
    other.start();
    await bench.clock.advance(100);
    const sockets = () => [fleet, other].map((one) => one.reading().needs.allowedSockets);
    // Another panel reserves two descriptors for its calls.
    expect(sockets()).toEqual([1, 1]);
    expect(bench.streamed()).toEqual(['a', 'a']);
    await other.stop();
    await bench.clock.advance(100);
    expect(sockets()[0]).toBe(4);
    expect(bench.streamed()).toHaveLength(4);
  });

  it("keeps a small panel's sockets, whatever other panels claim", async () => {
    bench.socketLimit = limitFor(12);
    const small = bench.create(servers(5), { name: 'small' });
    small.start();
    await bench.clock.advance(60_000);
    const large = bench.create(servers(26), { name: 'large' });
    large.start();
    await bench.clock.advance(60_000);
    expect(small.reading()).toMatchObject({ problems: [], needs: { requiredSockets: 5, allowedSockets: 5 } });
    expect(bench.sockets.filter(({ ended }) => ended !== undefined)).toEqual([]);
    expect(bench.streamed()).toHaveLength(10);
  });
});
