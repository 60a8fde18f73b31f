// Faults of a whole fleet in virtual time.
import { describe, expect, it } from 'vitest';
import { missed } from '../../../bench/fairness/benchmark.ts';
import { SCENARIOS } from '../../../bench/fairness/scenarios.ts';
import type { Effect, Fault, ServerGroup, Trouble } from '../../../bench/fairness/scripted-panel.ts';
import { type Setting, simulate, startWorld, type World } from '../../../bench/fairness/simulation.ts';
import { type Seen, watchWorld } from '../../support/world-watch.ts';

const group = (
  count: number,
  {
    mode = 'auto',
    trouble = 'none',
    node = 'a',
  }: Partial<Pick<ServerGroup, 'mode' | 'node'>> & { trouble?: Trouble } = {},
): ServerGroup => ({ count, mode, trouble, node });

/** Plays a world for some minutes, records its state every second, and stops it. */
async function play(setting: Setting, minutes: number, seed?: number): Promise<Seen> {
  const world = startWorld({ listingMinutes: 1, ...setting }, seed);
  try {
    return await watchWorld(world, minutes);
  } finally {
    await world.fleet.stop();
  }
}

const fleetOf = (servers: number, nodes = 4): readonly ServerGroup[] =>
  Array.from({ length: nodes }, (_, node) => group(Math.ceil(servers / nodes), { node: `n${node}` }));

describe('a start', () => {
  it.each([
    [12, 1],
    [150, 5],
  ])('of %i servers has all data after %i s', async (servers, seconds) => {
    const { allSampledAfterS } = await play({ limit: 240, groups: fleetOf(servers, 2) }, 1);
    expect(allSampledAfterS).toBeLessThanOrEqual(seconds);
  });

  it('of 120 servers of which half are refused sockets has all data after 240 s', async () => {
    const groups = [group(60, { trouble: 'origin', node: 'r' }), group(60, { node: 'ok' })];
    const { allSampledAfterS } = await play({ limit: 60, groups }, 6);
    expect(allSampledAfterS).toBeLessThanOrEqual(240);
  });

  it('after another process made calls exceeds no limit', async () => {
    const before = startWorld({ limit: 60, groups: fleetOf(40), listingMinutes: 1 });
    await before.clock.advance(5_000);
    const { usedOfAccount } = before.panel;
    await before.fleet.stop();
    const world = startWorld({ limit: 60, groups: fleetOf(40), listingMinutes: 1 });
    world.panel.useAccount(usedOfAccount);
    await watchWorld(world, 3);
    await world.fleet.stop();
    expect(world.panel.throttled).toBe(0);
  });
});

const fault = (effect: Effect, on?: Fault['on'], node?: string): Fault => ({
  fromMinute: 0,
  toMinute: 10,
  effect,
  ...(on !== undefined && { on }),
  ...(node !== undefined && { node }),
});

const idOf = ({ target: { id } }: World['panel']['servers'][number]) => id;

const THIRTY = fleetOf(30, 3);

/** The fault starts with the world and lasts ten minutes. */
describe('one fault', () => {
  it.each<[string, Fault['on'], number]>([
    // A trial per minute, and the canary after it.
    ['a path', 'websocket', 24],
    // One canary of each kind every 25 s.
    ['the panel', undefined, 60],
  ])('of %s costs few calls', async (_what, on, most) => {
    const world = startWorld({ limit: 240, groups: THIRTY, faults: [fault('cut', on)], listingMinutes: 1 });
    await watchWorld(world, 2);
    const isCounted = ({ endpoint }: World['panel']['calls'][number]) => endpoint === (on ?? endpoint);
    const before = world.panel.calls.filter(isCounted).length;
    await watchWorld(world, 7.9);
    await world.fleet.stop();
    expect(world.panel.calls.filter(isCounted).length - before).toBeLessThanOrEqual(most);
  });

  it.each([
    [2, 2],
    [2, 0.5],
    [0.5, 2],
  ])(
    'of %d min that comes again within five minutes, for %d min, is over after 30 s',
    async (first, lasts) => {
      const outage = fault('refused', 'socket', 'n0');
      const faults = [
        { ...outage, fromMinute: 2, toMinute: 2 + first },
        { ...outage, fromMinute: 6, toMinute: 6 + lasts },
      ];
      const world = startWorld({ limit: 240, groups: fleetOf(40, 2), faults, listingMinutes: 1 });
      for (const minutes of [2, 4]) {
        await watchWorld(world, minutes);
        world.panel.dropSockets('n0');
      }
      const seen = await watchWorld(world, lasts + 2);
      await world.fleet.stop();
      expect(seen.at(lasts * 60 - 5).streaming).toBe(20);
      expect(seen.allStreamAfterS(lasts * 60)).toBeLessThanOrEqual(30);
    },
  );

  it('of a node is over 30 s after its end, however many other nodes are down', async () => {
    const nodes = Array.from({ length: 12 }, (_, node) => `n${node}`);
    const faults = nodes.map((node) => ({
      ...fault('refused', 'socket', node),
      fromMinute: 2,
      toMinute: node === 'n0' ? 6 : 20,
    }));
    const world = startWorld({ limit: 60, groups: fleetOf(24, 12), faults, listingMinutes: 1 });
    await watchWorld(world, 2);
    for (const node of nodes) world.panel.dropSockets(node);
    const seen = await watchWorld(world, 5);
    await world.fleet.stop();
    expect(seen.at(4 * 60 - 1).streaming).toBe(0);
    expect(seen.at(4 * 60 + 30).streaming).toBe(2);
  });

  it('of a few servers whose tokens are refused costs at most a tenth of the calls for tokens, and one a minute and server', async () => {
    for (const count of [2, 40]) {
      const nodes = Array.from({ length: count }, (_, node) => `n${node}`);
      const groups = nodes.flatMap((node) => [group(1, { trouble: 'mismatch', node }), group(2, { node })]);
      const world = startWorld({ limit: 240, groups, listingMinutes: 1 });
      await watchWorld(world, 5);
      const before = world.panel.calls.length;
      const seen = await watchWorld(world, 10);
      await world.fleet.stop();
      const refused = new Set(world.panel.servers.filter(({ trouble }) => trouble === 'mismatch').map(idOf));
      const tokens = world.panel.calls
        .slice(before)
        .filter(({ endpoint, server = '' }) => endpoint === 'websocket' && refused.has(server));
      expect(seen.at(600)).toMatchObject({ fresh: 3 * count, streaming: 2 * count, nodes: {} });
      expect(tokens.length).toBeGreaterThanOrEqual(8 * Math.min(count, 19));
      expect(tokens.length).toBeLessThanOrEqual(12 * Math.min(count, 19));
    }
  });

  it('of a lowered limit costs at most five responses with 429', async () => {
    const world = startWorld({ limit: 240, groups: fleetOf(400) });
    await watchWorld(world, 5);
    world.panel.limit = 60;
    const seen = await watchWorld(world, 5);
    await world.fleet.stop();
    expect(world.panel.throttled).toBeLessThanOrEqual(5);
    expect(seen.wasDown).toBe(false);
  });
});

describe('servers that rotate, because there are too few calls', () => {
  it('are unknown within their staleness if their node dies', async () => {
    const faults: readonly Fault[] = [
      { ...fault('refused', 'socket', 'n0'), fromMinute: 10, toMinute: 30 },
      { ...fault('unreachable', 'resources', 'n0'), fromMinute: 10, toMinute: 30 },
    ];
    const world = startWorld({ limit: 60, groups: fleetOf(800), faults, listingMinutes: 5 });
    await watchWorld(world, 10);
    await dropNode(world, 'n0');
    await watchWorld(world, 1.2);
    const now = world.clock.now();
    const fresh = world.fleet.records.filter((record) => record.node === 'n0' && record.isFresh(now));
    await world.fleet.stop();
    expect(fresh).toEqual([]);
  });
});

it('after a restart of a panel and its node, 200 servers stream as soon as the budget allows, with one token each', async () => {
  const restart = { fromMinute: 5, toMinute: 5.5 };
  const faults = [
    { ...restart, effect: 'down' },
    { ...restart, effect: 'clock', on: 'socket' },
  ] as const;
  const groups = [{ count: 200, mode: 'auto', trouble: 'none', node: 'a' }] as const;
  const world = startWorld({ limit: 240, groups, faults });
  await watchWorld(world, 5);
  const { calls } = world.panel;
  const before = calls.length;
  world.panel.dropSockets('a');
  const seen = await watchWorld(world, 5);
  await world.fleet.stop();
  expect(seen.at(25).streaming).toBe(0);
  expect(seen.allStreamAfterS(30)).toBeLessThanOrEqual(75 + (200 / 192) * 60);
  const tokens = new Map<string, number>();
  let repeated = 0;
  for (const { endpoint, server = '', at } of calls.slice(before)) {
    if (endpoint !== 'websocket' || at < 5.5 * 60_000) continue;
    if (at - (tokens.get(server) ?? Number.NEGATIVE_INFINITY) < 60_000) repeated += 1;
    tokens.set(server, at);
  }
  // A token from a canary isn't used for a socket.
  expect(repeated).toBeLessThanOrEqual(2);
  expect(seen.busiestMinute).toBeLessThanOrEqual(192);
  expect(seen.throttled).toBe(0);
});

async function dropNode({ panel, clock }: World, node: string): Promise<void> {
  panel.dropSockets(node);
  await clock.advance(0);
}

/** The largest fleet in this test. The benchmark and the slow tests of faults have larger ones. */
const MOST_SERVERS = 250;

const small = SCENARIOS.filter(
  ({ groups }) => groups.reduce((sum, { count }) => sum + count, 0) <= MOST_SERVERS,
);

describe('a fleet within its budget', () => {
  it.each(small)(
    'meets every limit: $name',
    async (scenario) => {
      const outcome = await simulate({ ...scenario, minutes: 10 });
      expect(missed(scenario, outcome), JSON.stringify(outcome)).toEqual([]);
      expect(outcome.allSampledAfterS).toBeLessThanOrEqual(75);
      expect(outcome.listingIntervals).toBeLessThanOrEqual(2.5);
    },
    100_000,
  );
});
