import { beforeEach, expect, it } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { NeedsWatch } from '../../../src/fleet/needs.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

type Server = Pick<ServerTarget, 'mode' | 'blocked'>;

const STREAMED: Server = { mode: 'auto' };
const POLLED: Server = { mode: 'poll' };
const BLOCKED: Server = { mode: 'auto', blocked: 'suspended' };
const times = (count: number, server: Server) => Array.from({ length: count }, () => server);

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let watch: NeedsWatch<Server>;

interface World {
  readonly servers: readonly Server[];
  readonly limitPerMinute: number;
  readonly knownLimitPerMinute?: number;
  readonly listingPerMinute: number;
  readonly part: number;
}

let world: World;

function watchWith(isPinned: boolean): NeedsWatch<Server> {
  return new NeedsWatch({
    panel: 'main',
    clock,
    log,
    servers: () => world.servers,
    wishes: () => ({ pollIntervalMs: 30_000, listingPerMinute: world.listingPerMinute, listsPerMinute: 0 }),
    budget: () => ({ ...world, isPinned }),
    socketLimit: {
      descriptors: 256,
      requiredDescriptors: 1_200,
      sockets: 100,
      get part() {
        return world.part;
      },
    },
  });
}

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  world = {
    servers: times(3, STREAMED),
    limitPerMinute: 48,
    listingPerMinute: 0,
    part: Number.POSITIVE_INFINITY,
  };
  watch = watchWith(false);
});

const change = (changes: Partial<World>) => {
  world = { ...world, ...changes };
  watch.follow();
};
const lines = () => log.lines.map(({ level, message }) => `${level} ${message}`);

it('waits ten seconds for the limit, and logs nothing about it if the panel reports none', async () => {
  change({ listingPerMinute: 60 });
  await clock.advance(9_999);
  expect(watch.problems).toEqual([]);
  expect(lines()).toEqual([]);
  change({ listingPerMinute: 0 });
  await clock.advance(1);
  expect(lines()).toEqual([
    'info panel main: 3 servers, each with its own console socket; using up to 48 calls per minute',
  ]);
  expect(log.lines[0]?.fields).toEqual({
    panel: 'main',
    sockets: 3,
    polls: 0,
    callsPerMinute: 0.4,
    budgetPerMinute: 48,
  });
});

it('is one line as soon as the limit is known, which is not repeated', async () => {
  watch.follow();
  change({ knownLimitPerMinute: 240, limitPerMinute: 192 });
  change({});
  await clock.advance(60_000);
  expect(lines()).toEqual([
    'info panel main: 3 servers, each with its own console socket; using up to 192 of 240 calls per minute',
  ]);
});

it('logs nothing before the first server is discovered', async () => {
  change({ servers: [], knownLimitPerMinute: 240 });
  await clock.advance(60_000);
  expect(lines()).toEqual([]);
});

it('warns about what is missing instead, once, and reports when it is no longer missing', () => {
  watch = watchWith(true);
  change({ listingPerMinute: 60 });
  expect(watch.problems.map(({ cause }) => cause)).toEqual(['budget_too_small']);
  change({ listingPerMinute: 60.001 });
  change({ listingPerMinute: 0 });
  expect(watch.problems).toEqual([]);
  expect(lines()).toEqual([
    expect.stringMatching(
      /^warn panel main: API budget too small: 3 servers need 60\.4 API calls per minute, but `requests_per_minute` allows 48: /,
    ),
    'info panel main: 3 servers, each with its own console socket; using up to 48 calls per minute',
  ]);
});

it('shows how many sockets the panel may hold, and that some servers have none', () => {
  change({ knownLimitPerMinute: 240 });
  expect(watch.reading).toMatchObject({ requiredSockets: 3, allowedSockets: 100 });
  change({ part: 2 });
  expect(watch.reading).toMatchObject({ requiredSockets: 3, allowedSockets: 2 });
  expect(watch.problems).toMatchObject([{ cause: 'descriptors' }]);
});

it.each([
  [[STREAMED], '1 server, with its own console socket'],
  [[POLLED], '1 server, 0 with a console socket, 1 polled'],
  [[...times(2, STREAMED), POLLED, ...times(2, BLOCKED)], '5 servers, 2 with a console socket, 1 polled'],
])('describes %j', (servers, text) => {
  watch = watchWith(true);
  change({ servers });
  expect(lines()).toEqual([`info panel main: ${text}; using up to 48 calls per minute`]);
});

it('leaves no timer behind', () => {
  watch.follow();
  watch.stop();
  expect(clock.pending).toBe(0);
});
