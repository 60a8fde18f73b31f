import { describe, expect, it } from 'vitest';
import type { PanelFleet } from '../../../../src/fleet/panel-fleet.ts';
import { eventually } from '../../../support/eventually.ts';
import { FleetBench, named, SETTINGS } from '../../../support/fleet-bench.ts';

const SERVERS = 1_000;
const many = Array.from({ length: SERVERS }, (_, index) => named(String(10_000_000 + index)));

function largeFleet(): { bench: FleetBench; fleet: PanelFleet } {
  const bench = new FleetBench();
  bench.gateway.limitPerMinute = 100_000;
  bench.gateway.isPinned = true;
  return { bench, fleet: bench.create(many) };
}

const conditions = ({ records }: PanelFleet) => records.map(({ status }) => status.condition);

describe('a large fleet', () => {
  it('starts its sessions in batches', async () => {
    const { bench, fleet } = largeFleet();
    fleet.start();
    expect(bench.gateway.calls.length).toBeLessThan(200);
    expect(fleet.records).toHaveLength(SERVERS);
    await eventually(() => expect(bench.gateway.calls).toHaveLength(SERVERS));
    await bench.clock.advance(1_000);
    expect(new Set(conditions(fleet))).toEqual(new Set(['streaming']));
    await fleet.stop();
  });

  it('stopped during the start begins nothing more, and shows every server as stopped', async () => {
    const { bench, fleet } = largeFleet();
    fleet.start();
    const calls = bench.gateway.calls.length;
    await fleet.stop();
    await bench.clock.advance(1_000);
    expect(bench.gateway.calls).toHaveLength(calls);
    expect(bench.streamed()).toEqual([]);
    expect(bench.clock.pending).toBe(0);
    expect(new Set(conditions(fleet))).toEqual(new Set(['stopped']));
  });

  it('shows servers that have not been started as waiting, whatever the panel reports meanwhile', async () => {
    const { bench, fleet } = largeFleet();
    fleet.start();
    bench.gateway.becomes('up');
    expect(fleet.records.at(-1)?.status.condition).toBe('waiting');
    await fleet.stop();
  });

  it('applies a new list that arrives during the start', async () => {
    const { bench, fleet } = largeFleet();
    fleet.start();
    fleet.configure({ ...SETTINGS, servers: many.slice(0, 500) });
    const allStream = () => conditions(fleet).every((condition) => condition === 'streaming');
    while (!allStream()) await bench.clock.advance(10);
    expect(bench.streamed()).toHaveLength(500);
    await fleet.stop();
  });
});
