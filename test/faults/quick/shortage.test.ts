// A fleet with a low rate limit in the minutes after a fault, in virtual time.
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../bench/fairness/scripted-panel.ts';
import { startWorld, type World } from '../../../bench/fairness/simulation.ts';
import { watchWorld } from '../../support/world-watch.ts';

const causes = ({ fleet }: World) => fleet.reading().problems.map(({ cause }) => cause);
const nodeCauses = ({ fleet, clock }: World) =>
  [...fleet.reading().nodes(clock.now())].map(({ problem }) => problem?.cause);

describe('a daemon that forgot its servers', () => {
  it('is a problem of the node, and all stream again 75 s after its end', async () => {
    const fault: Fault = { fromMinute: 1, toMinute: 4, effect: 'missing', on: 'socket', node: 'a' };
    const groups = [{ count: 20, mode: 'socket', trouble: 'none', node: 'a' }] as const;
    const world = startWorld({ limit: 60, groups, faults: [fault], listingMinutes: 1 });
    await watchWorld(world, 1);
    world.panel.dropSockets('a');
    const before = world.panel.calls.length;
    await watchWorld(world, 2.9);
    expect(nodeCauses(world)).toEqual(['node_lost_servers']);
    const seen = await watchWorld(world, 3);
    await world.fleet.stop();
    expect(seen.allStreamAfterS(0.1 * 60)).toBeLessThanOrEqual(75);
    expect(world.panel.calls.length - before).toBeLessThanOrEqual(60);
  });
});

describe('more sockets to reopen than a few minutes’ calls carry', () => {
  it('get at least half of the calls, while a problem says why servers wait', async () => {
    const fault: Fault = { fromMinute: 12, toMinute: 21.5, effect: 'refused', on: 'socket' };
    const groups = [{ count: 50, mode: 'auto', trouble: 'none', node: 'a' }] as const;
    const world = startWorld({ limit: 240, pinned: 16, groups, faults: [fault], listingMinutes: 5 });
    await watchWorld(world, 12);
    expect(causes(world)).toEqual([]);
    world.panel.dropSockets('a');
    await watchWorld(world, 10);
    const before = world.panel.calls.length;
    await watchWorld(world, 3);
    const made = world.panel.calls.slice(before);
    const tokens = made.filter(({ endpoint }) => endpoint === 'websocket');
    const shown = causes(world);
    const seen = await watchWorld(world, 5);
    await world.fleet.stop();
    expect(made.length).toBeGreaterThanOrEqual(45);
    expect(tokens.length).toBeGreaterThanOrEqual(made.length / 2 - 1);
    expect(shown).toEqual(['calls_backlog']);
    expect(seen.at(299).streaming).toBe(50);
    expect(causes(world)).toEqual([]);
  });
});

describe('a fleet that works until every call responds with 404', () => {
  it('is a problem of the panel, and costs one look at the server list', async () => {
    const fault: Fault = { fromMinute: 3, toMinute: 8, effect: 'missing' };
    const groups = [{ count: 20, mode: 'poll', trouble: 'none', node: 'a' }] as const;
    const world = startWorld({ limit: 240, groups, faults: [fault], listingMinutes: 60 });
    await watchWorld(world, 4.5);
    const shown = causes(world);
    const { health } = world.gateway;
    await world.fleet.stop();
    expect(health).toBe('down');
    expect(shown).toEqual(['not_a_panel']);
  });
});
