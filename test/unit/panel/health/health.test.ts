import { describe, expect, it } from 'vitest';
import { socketSigns } from '../../../../src/diagnosis/signs.ts';
import { PanelError } from '../../../../src/panel/panel-error.ts';
import { CHANNELS, NO_SERVER, pathSubject, socketsSubject } from '../../../../src/panel/subjects.ts';
import {
  blamed,
  type HealthSetup,
  type HealthWorld,
  healthOf,
  SERVERS,
  settled,
  withOutage,
} from '../../../support/health-world.ts';

/**
 * Three servers failed two minutes ago, when the fourth one worked. This success is too old to
 * contradict an outage.
 */
async function threeFailed() {
  const world = healthOf();
  world.socketEnds('d');
  for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
  await world.clock.advance(120_000);
  return world;
}

describe('what has an outage', () => {
  it('is decided at once by a first failure', () => {
    const world = healthOf();
    for (const server of ['a', 'b']) world.socketEnds(server, 'node_connection');
    expect(withOutage(world)).toEqual([]);
    world.socketEnds('c', 'node_connection');
    expect(withOutage(world)).toEqual([socketsSubject('n1')]);
    expect(world.health.isJudging).toBe(true);
  });

  it.each(['node_error', 'node_connection'] as const)(
    'is decided at once by another failure: %s',
    async (cause) => {
      const world = await threeFailed();
      expect(withOutage(world)).toEqual([]);
      world.socketEnds('a', cause);
      expect(withOutage(world)).toEqual([socketsSubject('n1')]);
    },
  );

  it('stays undecided after the end', async () => {
    const world = await threeFailed();
    world.health.stop();
    await world.clock.advance(600_000);
    expect([world.asked, world.clock.pending]).toEqual([[], 0]);
  });

  it('is told once it is blamed, and once it no longer is', async () => {
    const world = healthOf();
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    await settled(world);
    const of = { of: 'subject', subject: socketsSubject('n1') };
    expect(world.changes).not.toContainEqual(of);
    world.socketEnds('d', 'node_connection');
    await settled(world);
    expect(world.changes.filter((change) => change.of === 'subject')).toEqual([of]);
    expect(world.health.firstProblem('panel', socketsSubject('n1'))).toMatchObject({
      cause: 'node_connection',
    });
    world.socketEnds('a');
    expect(world.changes.filter((change) => change.of === 'subject')).toEqual([of, of]);
    expect([
      withOutage(world),
      world.health.firstProblem(socketsSubject('n1')),
      world.health.isJudging,
    ]).toEqual([[], undefined, false]);
  });

  it('is forgotten with a way that has changed, but for what still streams', () => {
    const world = healthOf();
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    world.health.forget(new Set(['sockets']));
    expect([withOutage(world), world.health.last('sockets', 'a')]).toEqual([[], undefined]);
    world.health.socketEnded('d', {
      startedAt: 0,
      problem: undefined,
      signs: socketSigns(undefined),
      streams: true,
    });
    world.health.forget(new Set(CHANNELS));
    expect(world.health.last('sockets', 'd')).toMatchObject({ streams: true });
  });

  it('of each of many nodes is forgotten in slices', async () => {
    const servers = Array.from({ length: 600 }, (_, index) => `s${index}`);
    const world = healthOf({ servers, nodeFor: (server) => server });
    const failed = () => servers.filter((server) => world.health.last('sockets', server) !== undefined);
    const out = () => servers.filter((server) => world.health.outage(socketsSubject(server)) !== undefined);
    for (const server of servers) world.socketEnds(server, 'node_connection');
    expect([failed().length, out().length]).toEqual([600, 600]);
    await world.clock.advance(1);
    world.health.forget(new Set(CHANNELS));
    expect([failed().length > 100, failed().length < 500, out().length]).toEqual([true, true, 600]);
    await world.clock.advance(1);
    expect([failed(), out()]).toEqual([[], []]);
  });

  it('is nothing else while it is forgotten in slices', async () => {
    const servers = Array.from({ length: 600 }, (_, index) => `s${index}`);
    const world = healthOf({ servers, nodeFor: (server) => server, enqueues: false, isMoving: true });
    world.callEnds('websocket', 's0');
    for (const server of ['s300', 's301', 's302']) world.callEnds('websocket', server, 'bad_answer');
    world.callEnds('resources', 's599');
    expect(withOutage(world)).toEqual([]);
    world.health.forget(new Set(CHANNELS));
    await world.clock.advance(1);
    expect([withOutage(world), world.health.last('websocket', 's0')]).toEqual([[], undefined]);
  });

  it('is not over because of a call that ended before it began', async () => {
    const world = healthOf({ enqueues: false });
    const startedAt = world.clock.now();
    await world.clock.advance(1_000);
    const endedAt = world.clock.now();
    await world.clock.advance(1_000);
    world.callEnds('resources', 'a', 'panel_down', false);
    const works = { path: 'resources', startedAt, problem: undefined, fromPanel: true } as const;
    for (const server of ['a', 'b']) world.health.callEnded({ ...works, server, endedAt });
    expect(withOutage(world)).toEqual(['panel']);
    expect([world.health.isKnown, world.health.last('resources', 'b')]).toMatchObject([
      true,
      { at: endedAt },
    ]);
    expect(world.health.last('resources', 'a')?.problem).toMatchObject({ cause: 'panel_down' });
    world.health.callEnded({ ...works, server: 'c' });
    expect(withOutage(world)).toEqual([]);
  });

  it('is not over because the panel reports a node’s failure to a call that started before', async () => {
    const world = healthOf({ enqueues: false });
    const startedAt = world.clock.now();
    const problem = { cause: 'node_unreachable', detail: '504' } as const;
    const report = { path: 'resources', problem, fromPanel: true } as const;
    await world.clock.advance(1_000);
    world.callEnds('resources', 'a', 'panel_down', false);
    await world.clock.advance(19_000);
    world.health.callEnded({ ...report, server: 'b', startedAt });
    expect(withOutage(world)).toEqual(['panel']);
    world.health.callEnded({ ...report, server: 'c', startedAt: world.clock.now() });
    expect(withOutage(world)).not.toContain('panel');
  });

  it('is no node whose address has changed, as far as its failures tell', () => {
    const world = healthOf();
    for (const server of ['a', 'b']) world.socketEnds(server, 'node_connection');
    world.health.forgetSockets('n2', false);
    expect(world.health.last('sockets', 'a')).toBeDefined();
    world.health.forgetSockets('n1', false);
    world.socketEnds('c', 'node_connection');
    expect(withOutage(world)).toEqual([]);
  });

  it('is tried at once when its node has another address, and over if that is its name', async () => {
    const world = healthOf();
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    const subject = socketsSubject('n1');
    await world.clock.advance(1_000);
    world.socketEnds(world.health.outage(subject)?.trial?.server ?? '', 'node_connection');
    await world.clock.advance(1_000);
    world.health.forgetSockets('n2', true);
    const now = world.clock.now();
    const rests = world.health.outage(subject);
    expect([rests?.trial, (rests?.trialAt ?? 0) > now]).toEqual([undefined, true]);
    world.health.forgetSockets('n1', false);
    expect(world.health.outage(subject)?.trial?.since ?? world.health.outage(subject)?.trialAt).toBe(now);
    world.health.forgetSockets('n1', true);
    expect(withOutage(world)).toEqual([]);
  });

  it('is found when a server’s node becomes known', () => {
    let node: string | undefined;
    const world = healthOf({ servers: [] });
    const map = new Map(
      SERVERS.map((server) => [
        server,
        {
          get node() {
            return node;
          },
        },
      ]),
    );
    world.health.setUse({
      listing: 'none',
      asked: { websocket: map, resources: map, backups: new Map(), schedules: new Map() },
    });
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    expect(withOutage(world)).toEqual([]);
    node = 'n1';
    for (const server of SERVERS) world.health.nodeMayHaveChanged(server);
    expect(withOutage(world)).toEqual([socketsSubject('n1')]);
  });
});

describe('the panel', () => {
  const failure = new PanelError({ cause: 'timeout', detail: 'no response' });

  it('is unknown until a call has worked, and is checked by a round of canaries', async () => {
    const world = healthOf({ listing: 'required' });
    world.health.check();
    await settled(world);
    expect([world.health.isKnown, withOutage(world)]).toEqual([false, ['panel']]);
    expect(world.asked).toMatchObject([
      { path: 'listing', server: NO_SERVER, tries: 'panel', needsRoom: true },
    ]);
    world.callEnds('listing', NO_SERVER);
    world.asked[0]?.end();
    await settled(world);
    expect([world.health.isKnown, withOutage(world), world.asked.length]).toEqual([true, [], 1]);
  });

  it('is down after two rounds of all kinds, 15 s apart', async () => {
    const world = healthOf({ listing: 'required' });
    world.health.check();
    for (let round = 0; round < 2; round += 1) {
      for (let canary = 0; canary < 3; canary += 1) {
        await world.clock.advance(2_000);
        const last = world.asked.at(-1);
        if (last !== undefined) world.callEnds(last.path, last.server, 'timeout', false);
      }
      expect(blamed(world)).toEqual([]);
      for (const { end } of world.asked) end(failure);
      await settled(world);
      if (round === 0) await world.clock.advance(9_000);
    }
    expect(blamed(world)).toEqual(['panel']);
    expect(world.asked.map(({ path }) => path)).toEqual([
      'listing',
      'websocket',
      'resources',
      'websocket',
      'resources',
      'listing',
    ]);
  });

  it('that is down explains which calls fail: they aren’t recorded, but for successes', async () => {
    const world = healthOf({ listing: 'required' });
    world.health.check();
    await world.clock.advance(4_000);
    for (const { end } of world.asked) end(failure);
    await world.clock.advance(15_000);
    await world.clock.advance(4_000);
    for (const { end } of world.asked) end(failure);
    await settled(world);
    expect(blamed(world)).toEqual(['panel']);
    world.callEnds('resources', 'a', 'timeout', false);
    expect(world.health.last('resources', 'a')).toBeUndefined();
    world.callEnds('resources', 'a');
    expect([blamed(world), world.health.isKnown]).toEqual([[], true]);
  });
});

it('each round of canaries begins with another kind, although those before it proved nothing', async () => {
  const world = healthOf({ listing: 'required' });
  const kinds: (string | undefined)[] = [];
  const round = async () => {
    const { length } = world.asked;
    world.health.check();
    await settled(world);
    kinds.push(world.asked[length]?.path);
    // A 429 ends the call, but shows nothing.
    world.asked[length]?.end(new PanelError({ cause: 'rate_limited', detail: '429' }));
    await settled(world);
  };
  for (let rounds = 0; rounds < 4; rounds += 1) await round();
  expect(kinds).toEqual(['listing', 'websocket', 'resources', 'listing']);
  world.callEnds('listing', NO_SERVER);
  expect(withOutage(world)).toEqual([]);
  await round();
  expect(kinds.at(-1)).toBe('listing');
});

it('each round of canaries asks another node, although a panel that is down explains their failures', async () => {
  const servers = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'];
  const world = healthOf({ servers, nodeFor: ([node]) => node });
  world.health.check();
  let answered = 0;
  for (let second = 0; second < 500; second += 1) {
    for (const { path, server, end } of world.asked.slice(answered)) {
      world.callEnds(path, server, 'timeout', false);
      end(new PanelError({ cause: 'timeout', detail: 'no response' }));
    }
    answered = world.asked.length;
    await world.clock.advance(1_000);
  }
  expect(blamed(world)).toEqual(['panel']);
  const canaries = world.asked.filter(({ path }) => path === 'resources');
  const nodes = canaries.map(({ server: [node] }) => node).slice(0, 9);
  const turn = nodes.slice(0, 3);
  expect(new Set(turn)).toEqual(new Set(['a', 'b', 'c']));
  expect(nodes).toEqual([...turn, ...turn, ...turn]);
});

describe('what happens while something is dealt with', () => {
  it('comes after it, in order, and leaves no trial that nobody ends', async () => {
    const world = healthOf();
    // A session that is chosen for a trial connects at once. It may fail immediately, or may have
    // failed before.
    world.listeners.push((change) => {
      if (change.of === 'trial' && world.health.socketTrial(change.server) !== undefined)
        world.socketEnds(change.server, 'node_connection');
    });
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    await settled(world);
    expect(blamed(world)).toEqual([socketsSubject('n1')]);
    const tried = () => world.changes.filter(({ of }) => of === 'trial').length;
    for (let trials = 0; trials < 10; trials += 1) {
      const before = tried();
      await world.clock.advance(25_000);
      expect(world.health.outage(socketsSubject('n1'))?.trial).toBeUndefined();
      expect(tried()).toBeGreaterThan(before);
    }
  });

  it('is recorded from within a listener, and decided before the next event', () => {
    const world = healthOf();
    const order: string[] = [];
    world.callEnds('resources', 'a', 'node_unreachable');
    world.listeners.push((change) => {
      if (change.of !== 'recovery') return;
      order.push(`recovery of ${change.cause}`);
      world.callEnds('resources', 'b', 'node_unreachable');
      order.push(world.health.last('resources', 'b') === undefined ? 'not yet recorded' : 'recorded');
    });
    world.callEnds('resources', 'a');
    expect(order).toEqual(['recovery of node_unreachable', 'not yet recorded']);
    expect(world.health.last('resources', 'b')?.problem?.cause).toBe('node_unreachable');
  });

  it('goes on after a listener that throws', () => {
    const world = healthOf();
    world.callEnds('resources', 'a', 'node_unreachable');
    const broken = () => {
      throw new Error('a listener is broken');
    };
    world.listeners.push(broken);
    expect(() => world.callEnds('resources', 'a')).toThrow('a listener is broken');
    world.listeners.length = 0;
    world.callEnds('resources', 'b');
    expect(world.health.last('resources', 'b')).toMatchObject({ problem: undefined });
  });
});

describe('a recovery', () => {
  it('is told with its cause and node, once', () => {
    const world = healthOf();
    world.callEnds('resources', 'a', 'forbidden');
    world.callEnds('resources', 'a');
    world.callEnds('resources', 'a');
    expect(world.changes.filter(({ of }) => of === 'recovery')).toEqual([
      { of: 'recovery', cause: 'forbidden', node: 'n1' },
    ]);
  });
});

describe('a working fleet', () => {
  const works = (options: HealthSetup) => {
    const world = healthOf({ listing: 'required', ...options });
    world.callEnds('listing', NO_SERVER);
    for (const server of options.servers ?? SERVERS) world.callEnds('resources', server);
    return world;
  };
  const looks = (world: HealthWorld) => world.asked.filter(({ tries }) => tries === pathSubject('listing'));

  it.each(['not_found', 'forbidden'] as const)(
    'of which three servers begin to get %s is looked up once',
    (cause) => {
      const world = works({});
      for (const server of ['a', 'b']) world.callEnds('resources', server, cause);
      expect(looks(world)).toEqual([]);
      world.callEnds('resources', 'c', cause);
      world.callEnds('resources', 'd', cause);
      expect(looks(world)).toMatchObject([{ path: 'listing', server: NO_SERVER, needsRoom: false }]);
    },
  );

  it('is looked up when its only server begins to get 404', () => {
    const world = works({ servers: ['a'] });
    world.callEnds('resources', 'a', 'not_found');
    expect(looks(world)).toHaveLength(1);
  });

  it('isn’t because of the server list’s own 404', () => {
    const world = works({ servers: ['a'] });
    world.callEnds('listing', NO_SERVER, 'not_found');
    expect(looks(world)).toEqual([]);
  });

  it('is looked up at most once a minute', async () => {
    const world = works({});
    for (let time = 0; time < 3; time += 1)
      for (const server of SERVERS) {
        world.callEnds('resources', server, 'not_found');
        world.callEnds('resources', server);
      }
    expect(looks(world)).toHaveLength(1);
    await world.clock.advance(60_000);
    for (const server of SERVERS) world.callEnds('resources', server, 'not_found');
    expect(looks(world)).toHaveLength(2);
  });
});

describe('one outcome', () => {
  it.each([
    ['on 50 nodes', (servers: number) => Math.min(50, servers / 2)],
    ['on a node each', (servers: number) => servers],
  ])(
    'draws as few lots and tells as few changes among 3,000 servers with an outage as among 100, %s',
    async (_what, nodesOf) => {
      const costOf = async (count: number) => {
        const nodes = nodesOf(count);
        const servers = Array.from({ length: count }, (_, index) => `s${index}`);
        const world = healthOf({ servers, nodeFor: (server) => `n${Number(server.slice(1)) % nodes}` });
        for (const server of servers) world.socketEnds(server, 'node_connection');
        await settled(world);
        const before = [world.changes.length, world.asked.length];
        for (const server of servers.slice(0, 20)) world.socketEnds(server, 'node_connection');
        await settled(world);
        return [world.changes.length - (before[0] ?? 0), world.asked.length - (before[1] ?? 0)];
      };
      const [few, many] = [await costOf(100), await costOf(3_000)];
      for (const [index, cost] of many.entries()) expect(cost).toBeLessThanOrEqual(few[index] ?? 0);
    },
  );
});
