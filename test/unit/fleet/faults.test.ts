import * as fc from 'fast-check';
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

/** Plays a world for some minutes, looks at it every second, and stops it. */
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
    [12, 240, 1],
    [150, 240, 5],
  ])('of %i servers with a limit of %i has all data after %i s', async (servers, limit, seconds) => {
    const { allSampledAfterS } = await play({ limit, groups: fleetOf(servers, 2) }, 1);
    expect(allSampledAfterS).toBeLessThanOrEqual(seconds);
  });

  it('of 200 servers whose node refuses sockets has all data after 75 s', async () => {
    const groups = [group(200, { trouble: 'origin' })];
    const { allSampledAfterS } = await play({ limit: 240, pinned: 120, groups }, 3);
    expect(allSampledAfterS).toBeLessThanOrEqual(75);
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

  it('requests servers in another order each time', async () => {
    const firsts = await Promise.all(
      [1, 2, 3, 4].map(async (seed) => {
        const { panel, clock, fleet } = startWorld({ limit: 60, groups: fleetOf(40) }, seed);
        await clock.advance(500);
        await fleet.stop();
        return panel.calls.find(({ endpoint }) => endpoint === 'websocket')?.server;
      }),
    );
    expect(new Set(firsts).size).toBeGreaterThan(1);
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
const POLLED = [group(15, { mode: 'poll', node: 'n0' }), group(15, { mode: 'poll', node: 'n1' })];

/** The end of a fault that lasts ten minutes from the start. */
describe('one fault', () => {
  it.each([
    ['closed without a response', 'cut', 'connection_cut'],
    ['without a response', 'hang', 'timeout'],
    ['with the response 502', 'down', 'panel_down'],
  ] as const)(
    'of the path of tokens, %s, is one problem of that path, and all servers are polled',
    async (_what, effect, cause) => {
      const seen = await play({ limit: 240, groups: THIRTY, faults: [fault(effect, 'websocket')] }, 9);
      expect(seen.at(8 * 60)).toMatchObject({ up: true, fresh: 30, causes: [cause] });
      expect(seen.warnings.filter((line) => line.includes('for websocket calls only'))).toHaveLength(1);
      expect(seen.wasUp).toBe(true);
    },
  );

  it('of the path of polls is one problem of that path, and streams go on', async () => {
    const faults = [{ ...fault('hang', 'resources'), fromMinute: 2 }];
    const seen = await play({ limit: 240, groups: [...THIRTY, ...POLLED], faults }, 9);
    expect(seen.at(8 * 60)).toMatchObject({ up: true, fresh: 30, causes: ['timeout'] });
  });

  it.each(['cut', 'hang', 'down'] as const)(
    'of the path of backups (%s) is one problem of that path',
    async (effect) => {
      const seen = await play(
        { limit: 240, groups: fleetOf(8), faults: [fault(effect, 'backups')], backupMinutes: 10 },
        9,
      );
      expect(seen.at(8 * 60)).toMatchObject({ up: true, fresh: 8 });
      expect(seen.at(8 * 60).causes).toHaveLength(1);
      expect(seen.wasUp).toBe(true);
    },
  );

  it('of half of all calls is none of the panel, and calls are repeated', async () => {
    const seen = await play({ limit: 240, groups: THIRTY, faults: [fault('flaky')] }, 9);
    expect(seen.at(8 * 60)).toMatchObject({ up: true, sampled: 30 });
    expect(seen.wasDown).toBe(false);
  });

  it('of one node’s calls is a problem of that node', async () => {
    const faults = [fault('error', 'websocket', 'n0'), fault('error', 'resources', 'n0')];
    const seen = await play({ limit: 240, groups: THIRTY, faults }, 9);
    expect(seen.at(8 * 60)).toMatchObject({ up: true, fresh: 20, causes: [], nodes: { n0: 'node_error' } });
  });

  it('of a node’s sockets is a problem of that node, which is up while its servers are polled', async () => {
    const seen = await play({ limit: 240, groups: THIRTY, faults: [fault('origin', 'socket', 'n1')] }, 9);
    expect(seen.at(8 * 60)).toMatchObject({ fresh: 30, causes: [], nodes: { n1: 'origin' }, nodesDown: [] });
  });

  it.each([
    ['500 in the panel’s own form', 'error', 'panel_error'],
    ['404 in the panel’s own form', 'missing', 'not_a_panel'],
    ['401', 'revoked', 'key_refused'],
    ['502 of a proxy', 'down', 'panel_down'],
    ['nothing', 'hang', 'timeout'],
    ['a closed connection', 'cut', 'connection_cut'],
  ] as const)(
    'of every call, with the response %s, is the panel’s only problem',
    async (_what, effect, cause) => {
      for (const fromMinute of [0, 3]) {
        const seen = await play(
          { limit: 240, groups: [...THIRTY, ...POLLED], faults: [{ ...fault(effect), fromMinute }] },
          9,
        );
        expect(seen.at(8 * 60)).toMatchObject({ up: false, causes: [cause] });
        expect(seen.warnings.filter((line) => line.includes('for ') && line.includes('calls only'))).toEqual(
          [],
        );
      }
    },
  );

  it('that ends is forgotten within 75 s by all servers', async () => {
    const effects: readonly Fault[] = [
      fault('down', 'websocket'),
      fault('down'),
      fault('hang'),
      fault('missing'),
      fault('revoked'),
      fault('refused', 'socket'),
      fault('mismatch', 'socket'),
      fault('mismatch', 'socket', 'n0'),
      fault('clock', 'socket', 'n0'),
      fault('certificate', 'socket', 'n0'),
      fault('origin', 'socket', 'n0'),
      fault('hang', 'socket', 'n1'),
    ];
    for (const one of effects) {
      // A node's servers need new tokens one by one, while the others are polled.
      const servers = one.on === 'socket' ? 60 : 150;
      const seen = await play(
        { limit: 240, groups: fleetOf(servers, 3), faults: [{ ...one, toMinute: 8 }] },
        10,
      );
      expect(seen.at(8 * 60 - 1).streaming, JSON.stringify(one)).toBeLessThan(servers);
      expect(seen.allStreamAfterS(8 * 60), JSON.stringify(one)).toBeLessThanOrEqual(75);
    }
  }, 120_000);

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

  it('that is shorter than two rounds of canaries is over 75 s after its end as well', async () => {
    for (const effect of ['missing', 'revoked'] as const) {
      const faults = [{ ...fault(effect), fromMinute: 3.01, toMinute: 3.1 }];
      const seen = await play({ limit: 240, groups: [...THIRTY, ...POLLED], faults }, 5);
      expect(seen.at(200).fresh, effect).toBeLessThanOrEqual(60);
      expect(seen.allFreshAfterS(3.1 * 60 + 30), effect).toBeLessThanOrEqual(45);
    }
  });

  it('of a node’s sockets is tried by another of its servers each time', async () => {
    const setting = { limit: 240, groups: fleetOf(12, 2), faults: [fault('mismatch', 'socket', 'n0')] };
    const world = startWorld({ ...setting, listingMinutes: 1 });
    await watchWorld(world, 8);
    await world.fleet.stop();
    const { calls } = world.panel;
    const tokens = world.panel.servers
      .filter(({ node }) => node === 'n0')
      .map(
        ({ target: { id } }) =>
          calls.filter((call) => call.endpoint === 'websocket' && call.server === id).length,
      );
    expect(Math.max(...tokens) - Math.min(...tokens)).toBeLessThanOrEqual(1);
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

async function dropNode({ panel, clock }: World, node: string): Promise<void> {
  panel.dropSockets(node);
  await clock.advance(0);
}

const lasting = { fromMinute: fc.integer({ min: 0, max: 5 }), lasts: fc.integer({ min: 1, max: 4 }) };
const ended = <One extends { fromMinute: number; lasts: number }>({ lasts, ...rest }: One) => ({
  ...rest,
  toMinute: rest.fromMinute + lasts,
});

/** Of the whole panel, or of one path. A panel that refuses single servers isn't a fault. */
const anyPanelFault: fc.Arbitrary<Fault> = fc.oneof(
  fc
    .record({
      effect: fc.constantFrom<Effect>('cut', 'hang', 'down', 'error', 'missing', 'revoked', 'flaky'),
      ...lasting,
    })
    .map(ended),
  fc
    .record({
      effect: fc.constantFrom<Effect>('cut', 'hang', 'down', 'error', 'flaky'),
      on: fc.constantFrom('websocket' as const, 'resources' as const, 'listing' as const, 'backups' as const),
      ...lasting,
    })
    .map(ended),
);

/** Of a node's sockets, or of the calls for its servers. */
const anyNodeFault: fc.Arbitrary<Fault> = fc.oneof(
  fc
    .record({
      effect: fc.constant<Effect>('error'),
      on: fc.constantFrom('websocket' as const, 'resources' as const),
      node: fc.constantFrom('n0', 'n1'),
      ...lasting,
    })
    .map(ended),
  fc
    .record({
      effect: fc.constant<Effect>('unreachable'),
      on: fc.constant('resources' as const),
      node: fc.constantFrom('n0', 'n2'),
      ...lasting,
    })
    .map(ended),
  fc.record({
    effect: fc.constantFrom<Effect>('refused', 'origin', 'mismatch', 'hang'),
    on: fc.constant('socket' as const),
    node: fc.constantFrom('n0', 'n1', 'n2'),
    fromMinute: fc.integer({ min: 0, max: 5 }),
    toMinute: fc.integer({ min: 6, max: 9 }),
  }),
);

const anyLimit = fc.constantFrom(60, 120, 240);
const anySeed = fc.nat(1_000_000);
const twoOrThree = (one: fc.Arbitrary<Fault>) => fc.array(one, { minLength: 2, maxLength: 3 });

/** The paths whose calls together are all that show whether the panel works. */
const ESSENTIAL = ['listing', 'websocket', 'resources'] as const;

/** May this be blamed, because one of the faults hits it? */
function isHit(scope: string, faults: readonly Fault[]): boolean {
  const [kind, name] = scope.split(' ');
  const isPathHit = (path: string | undefined) => faults.some(({ on }) => on === undefined || on === path);
  if (kind === 'panel') return ESSENTIAL.every(isPathHit);
  if (kind === 'path') return isPathHit(name);
  return kind === 'node' && faults.some(({ node = name }) => node === name);
}

describe('any two or three faults', () => {
  const groups = [...fleetOf(18, 3), group(6, { mode: 'poll', node: 'n2' }), group(6, { node: 'healthy' })];
  // The same combinations in every run; FAULT_RUNS=500 tries as many new ones.
  const wanted = process.env['FAULT_RUNS'];
  const runs = wanted === undefined ? { numRuns: 15, seed: 25 } : { numRuns: Number(wanted) };

  const examples: [readonly Fault[], number, number][] = [
    // A path that is rarely used, and one whose single failures mean nothing.
    [[{ ...fault('flaky', 'backups'), fromMinute: 2, toMinute: 5 }], 120, 16],
    [
      [
        { ...fault('flaky'), toMinute: 4 },
        { ...fault('unreachable', 'resources', 'n2'), fromMinute: 1, toMinute: 4 },
      ],
      60,
      753_916,
    ],
    // A panel that is missing for less than two rounds of canaries, when few calls remain.
    [
      [
        { ...fault('missing'), fromMinute: 1, toMinute: 2 },
        { ...fault('cut', 'backups'), fromMinute: 1, toMinute: 5 },
      ],
      60,
      574_842,
    ],
    // Polls of a node fail while its servers have no sockets for another reason.
    [
      [
        { ...fault('down', 'websocket'), toMinute: 4 },
        { ...fault('unreachable', 'resources', 'n0'), fromMinute: 4, toMinute: 5 },
        { ...fault('error', 'resources', 'n1'), fromMinute: 4, toMinute: 8 },
      ],
      240,
      419_923,
    ],
    // The panel's errors for a node's tokens.
    [
      [
        { ...fault('revoked'), toMinute: 3 },
        { ...fault('error', 'websocket', 'n0'), fromMinute: 3, toMinute: 6 },
      ],
      60,
      715_603,
    ],
    [
      [
        { ...fault('missing'), fromMinute: 4, toMinute: 9 },
        { ...fault('refused', 'socket', 'n2'), fromMinute: 4, toMinute: 9 },
      ],
      60,
      393_040,
    ],
  ];

  it('show one cause per scope, blame only what they affect, exceed no limit, and are over 75 s after the last one ends', async () => {
    const anyFaults = twoOrThree(fc.oneof(anyPanelFault, anyNodeFault));
    await fc.assert(
      fc.asyncProperty(anyFaults, anyLimit, anySeed, async (faults, limit, seed) => {
        const end = Math.max(...faults.map(({ toMinute }) => toMinute)) * 60;
        const seen = await play({ limit, groups, faults, backupMinutes: 30 }, end / 60 + 2, seed);
        expect(seen.mostCausesPerScope).toBeLessThanOrEqual(1);
        expect([...seen.blamed].filter((scope) => !isHit(scope, faults))).toEqual([]);
        expect(seen.busiestMinute).toBeLessThanOrEqual(limit * 0.8);
        expect(seen.throttled).toBe(0);
        expect(seen.allFreshAfterS(end), 'fresh').toBeLessThanOrEqual(75);
        // A connect or a call for a token that hangs when the fault ends has to time out first.
        const isHanging = (part: Fault['on']) =>
          faults.some(({ effect, on = 'websocket' }) => effect === 'hang' && on === part);
        const connectS = isHanging('websocket') ? 25 : isHanging('socket') ? 12 : 0;
        expect(seen.allStreamAfterS(end), 'stream').toBeLessThanOrEqual(75 + connectS);
        expect(seen.allWellAfterS(end), 'well').toBeLessThanOrEqual(75);
      }),
      { ...runs, examples },
    );
  }, 600_000);

  it('of single nodes never leave a server of another node without data for longer than its staleness', async () => {
    await fc.assert(
      fc.asyncProperty(twoOrThree(anyNodeFault), anyLimit, anySeed, async (faults, limit, seed) => {
        const seen = await play({ limit, groups, faults }, 10, seed);
        expect(seen.longestGapS('healthy')).toBe(0);
      }),
      runs,
    );
  }, 600_000);
});

/** Larger fleets take longer: the benchmark and the tests of faults have them. */
const MOST_SERVERS = 500;

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
