// The end of an outage: all servers of the panel lose its problem at once.
import { expect, it } from 'vitest';
import type { Effect, Fault } from '../../../bench/fairness/scripted-panel.ts';
import { startWorld, type World } from '../../../bench/fairness/simulation.ts';
import { CAUSES } from '../../../src/diagnosis/causes.ts';

const blamesPanel = ({ fleet }: World) =>
  fleet.records.filter(({ status }) => {
    const scope = status.problem && CAUSES[status.problem.cause].scope;
    return scope === 'panel' || scope === 'key';
  }).length;

it.each<[Effect]>([['down'], ['cut'], ['page'], ['revoked']])(
  'no server shows a problem of the panel in the second after its end: %s',
  async (effect) => {
    const fault: Fault = { fromMinute: 2, toMinute: 4, effect };
    const groups = [
      { count: 100, mode: 'poll', trouble: 'none', node: 'a' },
      { count: 20, mode: 'auto', trouble: 'none', node: 'b' },
    ] as const;
    const world = startWorld({ limit: 60, groups, faults: [fault], listingMinutes: 60 });
    await world.clock.advance(3.9 * 60_000);
    world.panel.dropSockets('b');
    expect(world.gateway.health).toBe('down');
    expect(blamesPanel(world)).toBeGreaterThan(0);
    while (world.gateway.health !== 'up') await world.clock.advance(100);
    await world.clock.advance(1_000);
    const left = blamesPanel(world);
    await world.fleet.stop();
    expect(left).toBe(0);
  },
);
