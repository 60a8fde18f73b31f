// The effect of a fault on servers that it doesn't concern, in virtual time.
import { describe, expect, it } from 'vitest';
import type { Effect, Fault, ServerGroup } from '../../../bench/fairness/scripted-panel.ts';
import { type Setting, startWorld, type World } from '../../../bench/fairness/simulation.ts';
import { type Look, type Seen, watchWorld } from '../../support/world-watch.ts';

/** A healthy server's newest sample is never older. */
const STALENESS_S = 60;

/** The time after which everything works again, counted from the end of a fault. */
const BACK_S = 75;

/** The timeout of a call. */
const REQUEST_TIMEOUT_S = 25;

type Mode = ServerGroup['mode'];

const group = (count: number, mode: Mode, node = 'n0', trouble: ServerGroup['trouble'] = 'none') => ({
  count,
  mode,
  trouble,
  node,
});

/** Groups with equally many servers on the nodes n0, n1, and so on. */
const nodesOf = (nodes: number, perNode: number, mode: Mode): readonly ServerGroup[] =>
  places(0, nodes).map((node) => group(perNode, mode, `n${node}`));

const places = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

const LISTED = { limit: 240, listingMinutes: 1 };

/** A fault during the first ten minutes, unless `more` contains other times. */
const fault = (effect: Effect, more: Partial<Fault> = {}): Fault => ({
  fromMinute: 0,
  toMinute: 10,
  effect,
  ...more,
});

/** The same effect on the tokens and the polls of some servers. */
const onCalls = (effect: Effect, more: Partial<Fault> = {}): readonly Fault[] => [
  fault(effect, { ...more, on: 'websocket' }),
  fault(effect, { ...more, on: 'resources' }),
];

/** `FAULT_SEED=7` plays every row with other random numbers. */
const SEED = Number(process.env['FAULT_SEED'] ?? 0);

type Event = readonly [minute: number, act: (world: World) => void];

const dropsAt = (minute: number, nodes: readonly string[]): Event => [
  minute,
  ({ panel }) => nodes.forEach((node) => panel.dropSockets(node)),
];

interface Played extends Seen {
  readonly world: World;
  /** The visible state in each second from this one on. */
  readonly looks: (fromS?: number) => readonly Look[];
}

/** Plays a world for some minutes. */
async function play(setting: Setting, minutes: number, events: readonly Event[] = []): Promise<Played> {
  const world = startWorld(setting, SEED);
  for (const [minute, act] of events) world.clock.schedule(minute * 60_000, () => act(world));
  try {
    const seen = await watchWorld(world, minutes);
    return { ...seen, world, looks: (fromS = 0) => places(fromS, minutes * 60).map((s) => seen.at(s)) };
  } finally {
    await world.fleet.stop();
  }
}

/** The highest age of these servers' newest samples, in seconds. */
const oldestS = ({ looks }: Played, servers: readonly number[], fromS: number) =>
  Math.max(...looks(fromS).flatMap(({ ages }) => servers.map((server) => ages[server] ?? 0)));

const blamedBesides = ({ blamed }: Played, scopes: readonly string[]) =>
  [...blamed].filter((scope) => !scopes.includes(scope));

/** Log lines about paths of the API, by path. */
const pathLines = ({ world: { lines } }: Played) =>
  lines.flatMap(({ at, message }) => {
    const [, path] = /(?:for|responds to) (\w+) calls (?:only|again)/.exec(message) ?? [];
    return path === undefined ? [] : [{ at, path }];
  });

describe('servers that work stay fresh', () => {
  it.each([0, 2])('while two of six nodes are silent, from minute %i', async (fromMinute) => {
    const faults = ['n0', 'n1'].map((node) => fault('hang', { on: 'resources', node, fromMinute }));
    const seen = await play(
      { ...LISTED, groups: nodesOf(6, 2, 'poll'), faults, requestTimeoutMs: 10_000 },
      9,
    );
    expect(oldestS(seen, places(4, 12), 15)).toBeLessThanOrEqual(STALENESS_S);
    expect(blamedBesides(seen, ['node n0', 'node n1'])).toEqual([]);
    expect(seen.at(480).nodes).toEqual({ n0: 'node_silent', n1: 'node_silent' });
  });

  it.each([0, 2])('while the panel responds with 500 for two others, from minute %i', async (fromMinute) => {
    const faults = [fault('error', { on: 'resources', servers: [0, 6], fromMinute })];
    const seen = await play({ ...LISTED, groups: nodesOf(2, 6, 'poll'), faults }, 9);
    expect(oldestS(seen, [...places(1, 6), ...places(7, 12)], 15)).toBeLessThanOrEqual(STALENESS_S);
    expect([...seen.blamed]).toEqual([]);
    expect(seen.warnings.length).toBeLessThanOrEqual(2);
  });

  it.each([0, 2])(
    'without a server list, while the panel responds with 500 for a node, from minute %i',
    async (fromMinute) => {
      const faults = onCalls('error', { node: 'n0', fromMinute });
      const seen = await play({ limit: 240, groups: nodesOf(3, 4, 'auto'), faults }, 9, [
        dropsAt(fromMinute, ['n0']),
      ]);
      expect(oldestS(seen, places(4, 12), 15)).toBeLessThanOrEqual(STALENESS_S);
      expect(blamedBesides(seen, ['node n0'])).toEqual([]);
      // Without a server list, only the addresses of sockets reveal nodes, and servers with a token
      // keep streaming.
      expect(seen.at(480).nodes).toEqual({});
    },
  );

  it.each(['error', 'unreachable'] as const)(
    'while the polls of three other servers of their node fail (%s)',
    async (effect) => {
      const faults = [fault(effect, { on: 'resources', servers: [0, 1, 2] })];
      const seen = await play({ ...LISTED, groups: [group(4, 'poll'), group(4, 'poll', 'n1')], faults }, 9);
      expect(oldestS(seen, places(3, 8), 5)).toBeLessThanOrEqual(STALENESS_S);
    },
  );

  it('whose calls are more than the rate, spread over the minute', async () => {
    const seen = await play({ ...LISTED, limit: 150, groups: nodesOf(4, 50, 'poll') }, 9);
    const { fleet, clock } = seen.world;
    expect(fleet.records.filter((record) => record.isFresh(clock.now()))).toHaveLength(200);
    expect(seen.at(65).sampled).toBe(200);
    expect(oldestS(seen, places(0, 200), 240)).toBeLessThanOrEqual(2.5 * 110);
    const starts = seen.world.panel.calls.map(({ at }) => at).filter((at) => at > 180_000);
    const busiest = Math.max(
      ...starts.map((from) => starts.filter((at) => from <= at && at < from + 2_000).length),
    );
    expect(busiest).toBeLessThanOrEqual(30);
  });

  it('while half of all calls fail at a proxy, which is no problem of the panel, and no log line comes twice a minute', async () => {
    const groups = [...nodesOf(3, 6, 'auto'), group(6, 'poll')];
    const seen = await play({ ...LISTED, groups, faults: [fault('flaky')] }, 9);
    expect(seen.wasDown).toBe(false);
    const lines = pathLines(seen);
    const repeated = lines.filter(({ at, path }, index) =>
      lines.slice(0, index).some((before) => before.path === path && at - before.at < 60_000),
    );
    expect(repeated).toEqual([]);
  });
});

describe('the cause is known', () => {
  it.each([0, 2])(
    'of a node that refuses upgrades with 403, and no server is blocked (from minute %i)',
    async (fromMinute) => {
      const faults = [fault('origin', { on: 'socket', node: 'n0', fromMinute })];
      const seen = await play({ ...LISTED, groups: nodesOf(2, 5, 'socket'), faults }, 9, [
        dropsAt(fromMinute, ['n0']),
      ]);
      expect(new Set(seen.looks().flatMap(({ blocked }) => blocked))).toEqual(new Set());
      expect(seen.at(480)).toMatchObject({ nodes: { n0: 'origin' }, causes: [], streaming: 5 });
      expect(blamedBesides(seen, ['node n0'])).toEqual([]);
    },
  );

  it('before anybody is blamed, when two nodes die at once', async () => {
    const faults = ['n0', 'n1'].flatMap((node) => [
      fault('refused', { on: 'socket', node, fromMinute: 2 }),
      fault('hang', { on: 'resources', node, fromMinute: 2 }),
    ]);
    const groups = [...nodesOf(6, 4, 'auto'), ...nodesOf(6, 2, 'poll')];
    const seen = await play({ ...LISTED, groups, faults }, 9, [dropsAt(2, ['n0', 'n1'])]);
    expect(blamedBesides(seen, ['node n0', 'node n1'])).toEqual([]);
    expect(oldestS(seen, [...places(8, 24), ...places(28, 36)], 15)).toBeLessThanOrEqual(STALENESS_S);
  });

  it.each([10_000, 25_000])(
    'before anybody is blamed, when the panel is silent, with a request timeout of %i ms',
    async (requestTimeoutMs) => {
      const groups = [...nodesOf(3, 4, 'auto'), ...nodesOf(3, 4, 'poll')];
      const faults = [fault('hang', { fromMinute: 2 })];
      const seen = await play({ ...LISTED, groups, faults, requestTimeoutMs }, 9);
      expect([...seen.blamed]).toEqual(['panel']);
      expect(seen.at(480).causes).toEqual(['timeout']);
    },
  );

  it.each([0, 2])('30 s after the first canary of a panel that hangs, from minute %i', async (fromMinute) => {
    const groups = [...nodesOf(2, 4, 'auto'), group(4, 'poll')];
    const seen = await play({ ...LISTED, groups, faults: [fault('hang', { fromMinute })] }, 4);
    const first = seen.world.panel.calls.find(({ at }) => at >= fromMinute * 60_000);
    // Nothing is known before the first canary. Later, canaries follow the first call that times
    // out.
    const canaryS = (first?.at ?? 0) / 1000 + (fromMinute === 0 ? 0 : REQUEST_TIMEOUT_S);
    const downS = seen.looks().findIndex(({ blamed }) => blamed.includes('panel'));
    expect(downS).toBeGreaterThan(canaryS);
    expect(downS).toBeLessThanOrEqual(canaryS + 31);
  });

  it.each([
    ['key', (world: World) => world.fleet.keyChanged()],
    ['access', (world: World) => world.fleet.accessChanged()],
  ] as const)('of a panel that is down, in each second after the %s changed', async (_what, change) => {
    const groups = [...nodesOf(2, 4, 'auto'), group(4, 'poll')];
    const seen = await play({ ...LISTED, groups, faults: [fault('cut', { fromMinute: 1 })] }, 8, [
      [4, change],
      [6.3, change],
    ]);
    for (const look of seen.looks(3 * 60))
      expect(look).toMatchObject({ up: false, causes: ['connection_cut'], blamed: ['panel'] });
  });

  it.each([1, undefined])(
    'of wrong ids: each server is not found, and nothing else has a problem (listing every %s min)',
    async (listingMinutes) => {
      const groups = [group(5, 'auto', 'n0', 'unknown'), group(5, 'poll', 'n0', 'unknown')];
      const seen = await play(
        { limit: 240, groups, ...(listingMinutes !== undefined && { listingMinutes }) },
        9,
      );
      for (const { blocked, up } of seen.looks(30))
        expect({ blocked, up }).toEqual({ blocked: places(0, 10).map(() => 'not_found'), up: true });
      expect([...seen.blamed]).toEqual([]);
    },
  );

  it.each([1, undefined])(
    'of a panel whose responses are all 404 from the start, and no server is blocked (listing every %s min)',
    async (listingMinutes) => {
      const groups = [...nodesOf(2, 5, 'auto'), ...nodesOf(2, 5, 'poll')];
      const faults = [fault('missing')];
      const seen = await play(
        { limit: 240, groups, faults, ...(listingMinutes !== undefined && { listingMinutes }) },
        9,
      );
      expect(new Set(seen.looks().flatMap(({ blocked }) => blocked))).toEqual(new Set());
      expect([...seen.blamed]).toEqual(['panel']);
      expect(seen.at(480)).toMatchObject({ up: false, causes: ['not_a_panel'] });
    },
  );

  it('of blocked servers in each second while the server list is cut', async () => {
    const groups = [group(9, 'auto', 'n0', 'suspended'), group(6, 'auto', 'n1')];
    const seen = await play(
      // The rate limit is so low that it takes a while to poll each server again.
      {
        ...LISTED,
        pinned: 12,
        groups,
        faults: [fault('cut', { on: 'listing', fromMinute: 2, toMinute: 20 })],
      },
      15,
    );
    expect(Math.min(...seen.looks(10).map(({ blocked }) => blocked.length))).toBe(9);
  });
});

describe('within 75 s after its end, nothing is left', () => {
  it('of 404 for listed servers', async () => {
    const end = { fromMinute: 2, toMinute: 2 + 35 / 60, servers: places(0, 10) };
    const faults = [...onCalls('missing', end), fault('missing', { ...end, on: 'socket' })];
    const groups = [group(20, 'auto'), group(10, 'poll', 'n1')];
    const seen = await play({ ...LISTED, groups, faults }, 5, [dropsAt(2, ['n0'])]);
    expect(seen.at(150).streaming).toBe(10);
    expect(seen.allStreamAfterS(155)).toBeLessThanOrEqual(BACK_S);
    expect(seen.at(155 + BACK_S).blocked).toEqual([]);
    expect(seen.at(155 + BACK_S).nodes).toEqual({});
    // The node doesn't know half of its servers. In the second without any streaming server, these
    // may look like all of its servers.
    expect([...seen.blamed].filter((subject) => subject !== 'node n0')).toEqual([]);
  });

  it.each([20, 40])('of a daemon that forgot %i servers, with a limit of 60', async (count) => {
    const end = { fromMinute: 2, toMinute: 5, node: 'n0' };
    const faults = [...onCalls('missing', end), fault('missing', { ...end, on: 'socket' })];
    const groups = [group(count, 'auto'), group(10, 'auto', 'n1')];
    const seen = await play({ ...LISTED, limit: 60, groups, faults }, 8, [dropsAt(2, ['n0'])]);
    expect(seen.at(299).fresh).toBe(10);
    expect(seen.allFreshAfterS(300)).toBeLessThanOrEqual(BACK_S);
    expect(seen.at(300 + BACK_S).blocked).toEqual([]);
  });

  it('of 403s, at once, when the key changes', async () => {
    const groups = [...nodesOf(2, 4, 'auto'), group(4, 'poll')];
    const faults = onCalls('forbidden', { toMinute: 4 });
    const seen = await play({ ...LISTED, groups, faults }, 6, [[4.001, ({ fleet }) => fleet.keyChanged()]]);
    expect(seen.at(239).fresh).toBe(0);
    expect(seen.allFreshAfterS(240)).toBeLessThanOrEqual(5);
    expect(seen.allWellAfterS(240)).toBeLessThanOrEqual(BACK_S);
  });

  it('of 404 for the backups at the start', async () => {
    const faults = [fault('missing', { on: 'backups', toMinute: 100 / 60 })];
    const read: unknown[] = [];
    const seen = await play({ ...LISTED, groups: nodesOf(2, 5, 'auto'), faults, backupMinutes: 10 }, 4, [
      [(100 + BACK_S) / 60, ({ fleet }) => read.push(...fleet.records.map(({ backups }) => backups))],
    ]);
    expect(read.filter((backups) => backups === undefined)).toEqual([]);
    expect(seen.allWellAfterS(100)).toBeLessThanOrEqual(BACK_S);
  });

  it.each([60, 240])('of refusing nodes whose trials need no call, limit %i', async (limit) => {
    const nodes = places(0, 50).map((node) => `n${node}`);
    const refusal = { on: 'socket', fromMinute: 14, toMinute: 14 + 1 / 3 } as const;
    const faults = nodes.map((node) => fault('refused', { ...refusal, node }));
    const setting = { ...LISTED, limit, groups: nodesOf(50, 4, 'auto'), faults };
    const seen = await play(setting, 17, [dropsAt(14, nodes)]);
    expect(seen.at(835).streaming).toBe(200);
    expect(seen.allStreamAfterS(860)).toBeLessThanOrEqual(45);
  });

  it.each([
    ['a node’s old address', LISTED, 2],
    ['the old address of a node that no list names', { limit: 240 }, 2],
    ['the old address of such a node, before it gave any other token', { limit: 240 }, 0.5],
  ])('of %s, and its sockets don’t go there again', async (_what, setting, minute) => {
    const faults = [fault('moved', { on: 'socket', node: 'n0', fromMinute: minute, toMinute: 20 })];
    const groups = nodesOf(2, 55, 'auto');
    const seen = await play({ ...setting, groups, faults }, minute + 7, [dropsAt(minute, ['n0'])]);
    const movedS = minute * 60;
    expect(seen.allStreamAfterS(movedS + 5)).toBeLessThanOrEqual(BACK_S - 5);
    for (const { streaming, blamed } of seen.looks(movedS + BACK_S))
      expect({ streaming, blamed }).toEqual({ streaming: 110, blamed: [] });
    const { connects } = seen.world.panel;
    const old = connects.filter(({ url, at }) => at > movedS * 1_000 && url.startsWith('wss://n0'));
    expect(old.length).toBeLessThanOrEqual(65);
    expect(blamedBesides(seen, ['node n0'])).toEqual([]);
  });
});
