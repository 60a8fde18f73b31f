import { beforeEach, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { countNeeds } from '../../../src/fleet/needs.ts';
import { NeedsWatch } from '../../../src/fleet/needs-watch.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { READ_AT } from '../../support/readings.ts';

type Server = Pick<ServerTarget, 'mode' | 'blocked'>;

const STREAMED: Server = { mode: 'auto' };
const POLLED: Server = { mode: 'poll' };
const BLOCKED: Server = { mode: 'auto', blocked: 'suspended' };
const times = (count: number, server: Server) => Array.from({ length: count }, () => server);

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let watch: NeedsWatch;

interface World {
  readonly servers: readonly Server[];
  readonly limitPerMinute: number;
  readonly knownLimitPerMinute?: number;
  readonly listingPerMinute: number;
  readonly part: number;
}

let world: World;

function watchWith(isPinned: boolean): NeedsWatch {
  return new NeedsWatch({
    panel: 'main',
    clock,
    log,
    needs: () => countNeeds(world.servers, 30_000, world.listingPerMinute),
    gateway: { budget: () => ({ ...world, isPinned }) },
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
  await clock.advance(1_001);
  expect(lines()).toEqual(['info panel main: streaming 3 servers; using up to 48 calls per minute']);
  expect(log.lines[0]?.fields).toEqual({
    panel: 'main',
    sockets: 3,
    polls: 0,
    callsPerMinute: 0.4,
    budgetPerMinute: 48,
  });
});

it('is one line once the limit and the blocked servers are known, which is not repeated', async () => {
  watch.follow();
  change({ knownLimitPerMinute: 240, limitPerMinute: 192 });
  change({ servers: [...times(2, STREAMED), BLOCKED] });
  await clock.advance(60_000);
  expect(lines()).toEqual([
    'info panel main: streaming 2 of 3 servers (1 blocked); using up to 192 of 240 calls per minute',
  ]);
});

it('logs nothing before the first server is discovered', async () => {
  change({ servers: [], knownLimitPerMinute: 240 });
  await clock.advance(60_000);
  expect(lines()).toEqual([]);
});

it('warns about what is missing instead, once, and reports when it is no longer missing', async () => {
  watch = watchWith(true);
  change({ listingPerMinute: 60 });
  expect(watch.problems.map(({ cause }) => cause)).toEqual(['budget_too_small']);
  change({ listingPerMinute: 60.001 });
  change({ listingPerMinute: 0 });
  expect(watch.problems).toEqual([]);
  await clock.advance(1_000);
  expect(lines()).toEqual([
    expect.stringContaining(
      `warn panel main: ${CAUSES.budget_too_small.title}: 3 servers need 60.4 API calls per minute, but \`requests_per_minute\` allows 48: `,
    ),
    'info panel main: streaming 3 servers; using up to 48 calls per minute',
  ]);
});

it('shows how many sockets the panel may hold, and that some servers have none', () => {
  change({ knownLimitPerMinute: 240 });
  expect(watch.reading).toMatchObject({ requiredSockets: 3, allowedSockets: 100 });
  change({ part: 2 });
  expect(watch.reading).toMatchObject({ requiredSockets: 3, allowedSockets: 2 });
  expect(watch.problems).toMatchObject([{ cause: 'descriptors' }]);
});

it('has each problem since the change that caused it, and none without servers', async () => {
  const since = () => watch.problems.map((problem) => [problem.cause, problem.since - READ_AT]);
  change({ knownLimitPerMinute: 240, part: 2 });
  await clock.advance(1_000);
  change({ part: 1 });
  await clock.advance(1_000);
  change({ listingPerMinute: 60 });
  expect(since()).toEqual([
    ['descriptors', 0],
    ['budget_too_small', 2_000],
  ]);
  change({ servers: [] });
  expect(since()).toEqual([]);
});

it.each([
  [[STREAMED], 'streaming 1 server'],
  [[POLLED], 'streaming 0 of 1 server, polling 1'],
  [[...times(2, STREAMED), POLLED, ...times(2, BLOCKED)], 'streaming 2 of 5 servers, polling 1 (2 blocked)'],
])('describes %j', async (servers, text) => {
  watch = watchWith(true);
  change({ servers });
  await clock.advance(1_000);
  expect(lines()).toEqual([`info panel main: ${text}; using up to 48 calls per minute`]);
});

it('leaves no timer behind', () => {
  watch.follow();
  change({ knownLimitPerMinute: 240 });
  watch.stop();
  expect(clock.pending).toBe(0);
});
