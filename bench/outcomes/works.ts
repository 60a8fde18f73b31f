// The outcomes and calls that the benchmark `outcomes` measures.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CHANNELS, pathSubject, socketsSubject } from '../../src/panel/subjects.ts';
import { type Cost, costOf, costPerRun, costPerTurn, medianCost } from '../growth/cost.ts';
import { FailingHealth, type Layout, serverOf, settled } from './failing-health.ts';
import { type Begun, FREE_NODE, WaitingCalls } from './waiting-calls.ts';

/** A kind of work, which is one row of the results. */
export interface LayoutWork {
  readonly what: string;
  /**
   * Whether the work is about all servers, so that its cost may grow with them. It must not block.
   */
  readonly isOfAll?: boolean;
  /** Whether the work isn't the exporter's, but only a comparison for other costs. */
  readonly isComparison?: boolean;
  readonly measure: (layout: Layout) => Promise<Cost>;
}

/** The number of events in one measurement. */
export const TIMES = 1_000;
/** The same for events about all servers of a node, and for events that take many turns. */
export const NODE_TIMES = 200;

/** The mean cost of one of two events. */
function half({ cpuMs, blockMs }: Cost): Cost {
  return { cpuMs: cpuMs / 2, blockMs: blockMs / 2 };
}

type World = FailingHealth;

/** Measures outcomes during an outage of all nodes. */
const ofNodes =
  (work: (world: World) => void, outcomes: 1 | 2 = 1) =>
  async (layout: Layout): Promise<Cost> => {
    const world = new FailingHealth(layout);
    await world.nodesFail();
    const cost = await medianCost(costPerRun(() => work(world), TIMES));
    return outcomes === 1 ? cost : half(cost);
  };

const OUTCOMES: readonly LayoutWork[] = [
  {
    what: 'for comparison, nothing but reading a server’s maps, all nodes with an outage',
    isComparison: true,
    measure: ofNodes((world) => void world.look(world.server())),
  },
  {
    what: 'a poll fails, all nodes with an outage',
    measure: ofNodes((world) => world.callEnds(world.server(), 'node_unreachable')),
  },
  {
    what: 'a poll works or fails, all nodes with an outage',
    measure: ofNodes((world) => {
      const server = world.server();
      world.callEnds(server);
      world.callEnds(server, 'node_unreachable');
    }, 2),
  },
  {
    what: 'a socket ends, all nodes with an outage',
    measure: ofNodes((world) => world.socketFails(world.server())),
  },
  {
    what: 'a socket streams or ends, all nodes with an outage',
    measure: ofNodes((world) => {
      const server = world.server();
      world.socketStreams(server);
      world.socketFails(server);
    }, 2),
  },
  {
    what: 'a poll times out or the list works, all nodes with an outage',
    measure: ofNodes((world) => {
      world.callEnds(world.server(), 'timeout');
      world.listWorks();
    }, 2),
  },
  {
    what: 'a trial fails, all nodes with an outage',
    measure: async (layout) => {
      const world = new FailingHealth(layout);
      await world.nodesFail();
      const next = async () => {
        world.clock.fire();
        await settled();
      };
      return medianCost(costPerTurn(next, NODE_TIMES));
    },
  },
  {
    what: 'a token is denied, the consoles with an outage',
    measure: async (layout) => {
      const world = new FailingHealth(layout, 'websocket');
      await world.callsFail('no_console_permission', 'consoles');
      return medianCost(costPerRun(() => world.callEnds(world.server(), 'no_console_permission'), TIMES));
    },
  },
  {
    what: 'a token times out or the list works, the path with an outage',
    measure: async (layout) => {
      const world = new FailingHealth(layout, 'websocket');
      await world.callsFail('timeout', pathSubject('websocket'));
      const cost = await medianCost(
        costPerRun(() => {
          world.callEnds(world.server(), 'timeout');
          world.listWorks();
        }, TIMES),
      );
      return half(cost);
    },
  },
  {
    what: 'a server is gone, all servers refused',
    measure: async (layout) => {
      const world = new FailingHealth(layout);
      await world.callsFail('not_found');
      return medianCost(costPerRun(() => world.callEnds(world.server(), 'not_found'), TIMES));
    },
  },
  {
    what: 'a node has another address: each socket is forgotten, or fails again',
    measure: async (layout) => {
      const world = new FailingHealth(layout);
      await world.nodesFail();
      let node = 0;
      const each = layout.servers / layout.nodes;
      const { cpuMs } = await medianCost(
        costPerRun(() => {
          node = (node + 1) % layout.nodes;
          world.health.forgetSockets(`node-${node}`, false);
          for (let place = 0; place < each; place += 1)
            world.socketFails(serverOf(node + place * layout.nodes));
        }, NODE_TIMES),
      );
      return { cpuMs: cpuMs / (2 * each), blockMs: cpuMs };
    },
  },
  {
    what: 'the server list is read, nothing changed',
    isOfAll: true,
    measure: async (layout) => {
      const world = new FailingHealth(layout);
      await world.nodesFail();
      return medianCost(() => costOf(() => world.use()));
    },
  },
  {
    what: 'the path’s outage ends, which explains all failures',
    isOfAll: true,
    measure: (layout) =>
      medianCost(async () => {
        const world = new FailingHealth(layout, 'websocket');
        await world.callsFail('timeout', pathSubject('websocket'));
        return costOf(() => {
          world.callEnds(world.server());
          // The end of the outage is decided with the next outcome.
          world.listWorks();
        });
      }),
  },
  {
    what: 'the way to the panel changes: all is forgotten',
    isOfAll: true,
    measure: (layout) =>
      medianCost(async () => {
        const world = new FailingHealth(layout);
        await world.nodesFail();
        return costOf(async () => {
          world.health.forget(new Set(CHANNELS));
          // The health forgets the rest in later turns.
          while (world.clock.nextAt <= world.clock.at) {
            await nextTurn();
            world.clock.fire();
          }
        });
      }),
  },
];

/** Measures a call from `run` to its end, or the end of a call that lets the next one start. */
async function perCall(world: WaitingCalls, next: () => Promise<unknown>): Promise<Cost> {
  world.expectWaiting();
  const cost = await medianCost(
    costPerTurn(async () => {
      world.clock.at += 1;
      await next();
      await settled();
    }, NODE_TIMES),
  );
  world.expectWaiting();
  world.stop();
  return cost;
}

/** Waits until a call that no rule holds has started, and ends it. */
async function startsAndEnds(begun: Begun): Promise<void> {
  await begun.started;
  begun.end();
  await begun.result;
}

const HELD = { subject: pathSubject('backups'), until: Number.POSITIVE_INFINITY } as const;

const STARTS: readonly LayoutWork[] = [
  {
    what: 'a call starts, others wait for a place',
    measure: async (layout) => {
      const world = new WaitingCalls(layout);
      await world.takePlaces();
      await world.all(() => ({ isRenewal: true }));
      return perCall(world, () => {
        world.run('urgent', { path: 'listing' });
        return world.endOldest();
      });
    },
  },
  {
    what: 'a call starts, others wait for their nodes',
    measure: async (layout) => {
      const world = new WaitingCalls(layout, (call) => {
        const node = call.node();
        return node === undefined || node === FREE_NODE
          ? undefined
          : { ...HELD, subject: socketsSubject(node) };
      });
      await world.all(() => ({}));
      return perCall(world, () => startsAndEnds(world.run('urgent', { path: 'listing' })));
    },
  },
  {
    what: 'a call starts, others wait for the panel',
    measure: async (layout) => {
      const world = new WaitingCalls(layout, (call) =>
        call.tries() === 'panel' ? undefined : { ...HELD, subject: 'panel' },
      );
      await world.all(() => ({}));
      return perCall(world, () =>
        startsAndEnds(world.run('urgent', { path: 'listing', tries: () => 'panel' })),
      );
    },
  },
  {
    what: 'a call starts, others wait for the trials’ tenth',
    measure: async (layout) => {
      const world = await withTrialsTaken(layout);
      return perCall(world, () => startsAndEnds(world.run('urgent', { path: 'listing' })));
    },
  },
  {
    what: 'a call starts, others wait for their own limits',
    measure: async (layout) => {
      const world = new WaitingCalls(layout);
      for (let index = 0; index < layout.servers; index += 1)
        for (let call = 0; call < 2; call += 1)
          await startsAndEnds(world.run(serverOf(index), { isRenewal: true }));
      await world.all(() => ({ isRenewal: true }));
      return perCall(world, () => startsAndEnds(world.run('urgent', { path: 'listing' })));
    },
  },
  {
    what: 'a first connect starts, others wait for theirs',
    measure: async (layout) => {
      const world = new WaitingCalls(layout);
      // Each node has more servers than may connect at once.
      const nodes = Math.min(layout.nodes, layout.servers / 20);
      await world.all((index) => ({ node: () => `node-${index % nodes}` }));
      let next = 0;
      return perCall(world, async () => {
        await world.endOldest();
        next += 1;
        world.run(`later ${next}`, { node: () => `node-${next % nodes}`, deadline: 1e9 });
      });
    },
  },
  {
    what: 'a poll starts, others wait for seats of nodes in doubt',
    measure: async (layout) => {
      const world = new WaitingCalls(layout);
      await world.all(() => ({ path: 'resources' }));
      let next = 0;
      return perCall(world, async () => {
        await world.endOldest();
        next += 1;
        const node = `node-${next % layout.nodes}`;
        world.run(`later ${next}`, { path: 'resources', node: () => node, deadline: 1e9 });
      });
    },
  },
  {
    what: 'a call with 429 ends, others wait for their own limits',
    measure: async (layout) => {
      const world = new WaitingCalls(layout);
      for (let index = 0; index < layout.servers; index += 1)
        for (let call = 0; call < 2; call += 1)
          await startsAndEnds(world.run(serverOf(index), { isRenewal: true }));
      await world.all(() => ({ isRenewal: true }));
      const others = { limitPerMinute: 5 };
      return perCall(world, async () => {
        world.limit.throttled('websocket', 'throttled', others, 1_000);
        await startsAndEnds(world.run('urgent', { path: 'listing' }));
      });
    },
  },
  {
    what: 'a path gets 429, others wait for the trials’ tenth',
    isOfAll: true,
    measure: (layout) =>
      medianCost(async () => {
        const world = await withTrialsTaken(layout);
        const cost = await costOf(async () => {
          world.limit.throttled('websocket', 'throttled', {});
          await startsAndEnds(world.run('urgent', { path: 'listing' }));
        });
        world.stop();
        return cost;
      }),
  },
];

/** Retries of all servers wait, because trials have used up their share of the rate. */
async function withTrialsTaken(layout: Layout): Promise<WaitingCalls> {
  const world = new WaitingCalls(layout, undefined, 4_000);
  for (let trial = 0; trial < 400; trial += 1)
    await startsAndEnds(world.run(`trial ${trial}`, { isRetry: () => true }));
  await world.all(() => ({ isRetry: () => true }));
  world.expectWaiting();
  return world;
}

export const WORKS = [...OUTCOMES, ...STARTS];
