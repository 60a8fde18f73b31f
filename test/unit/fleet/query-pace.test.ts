import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import {
  LOADING_MS,
  LONGEST_BACKOFF_MS,
  QUERY_SEATS,
  restsAfter,
  SILENT_SEATS,
} from '../../../src/fleet/query-pace.ts';
import { type QueriedServer, QueryWatch } from '../../../src/fleet/query-watch.ts';
import type { Answer } from '../../../src/query/query-model.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const INTERVAL = 30 * SECOND;
const DEADLINE = 5 * SECOND;
const FIRST_PORT = 20_000;
const SILENT: Answer = { query_problem: { cause: 'query_no_answer', detail: 'no response' } };

/** A server in virtual time. */
class FakeServer implements QueriedServer {
  readonly #world: World;
  readonly target: ServerTarget;
  readonly node = undefined;
  readonly state = 'running';
  query: QueriedServer['query'];
  /** The time until a response; undefined while the server doesn't respond. */
  answersAfterMs: number | undefined;
  currentRun: number | undefined = 0;
  /** The times of all queries. */
  readonly asked: number[] = [];
  /** The times of all responses. */
  readonly answered: number[] = [];
  /** Whether the last query in this run had no response, or was withdrawn. */
  #isSilent = false;
  #queriedRun: number | undefined;

  constructor(world: World, port: number, answersAfterMs: number | undefined, intervalMs = INTERVAL) {
    this.#world = world;
    this.target = target({ query: { type: 'minecraft', intervalMs }, address: `203.0.113.7:${port}` });
    this.answersAfterMs = answersAfterMs;
  }

  runAt(): number | undefined {
    return this.currentRun;
  }

  ask(signal: AbortSignal): Promise<Answer> {
    const { clock } = this.#world;
    this.asked.push(clock.now());
    const isSilent = this.#isSilent && this.#queriedRun === this.currentRun;
    this.#queriedRun = this.currentRun;
    this.#world.begin(isSilent);
    const tookMs = this.answersAfterMs ?? DEADLINE;
    const isAnswered = this.answersAfterMs !== undefined && this.answersAfterMs < DEADLINE;
    return new Promise((resolve) => {
      const end = (answer: Answer) => {
        this.#world.end(isSilent);
        this.#isSilent = answer.query_problem !== undefined;
        resolve(answer);
      };
      const cancel = clock.schedule(Math.min(tookMs, DEADLINE), () => {
        signal.removeEventListener('abort', onAbort);
        if (isAnswered) this.answered.push(clock.now());
        end(isAnswered ? {} : SILENT);
      });
      const onAbort = () => {
        cancel();
        end(SILENT);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** Random numbers that are the same in every run (a linear congruential generator). */
function randomNumbers(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

class World {
  readonly clock = new ManualClock(0);
  servers: readonly FakeServer[] = [];
  readonly watch = new QueryWatch({
    clock: this.clock,
    log: collectingLogger(),
    random: randomNumbers(),
    panelUrl: 'https://panel.example.com',
    client: {
      query: ({ ways: [way] }, signal) =>
        this.servers[(way?.port ?? 0) - FIRST_PORT]?.ask(signal) ?? Promise.resolve(SILENT),
    },
    resolve: () => Promise.reject(new Error('expected no name')),
    findService: () => Promise.resolve(undefined),
    isTaken: () => false,
    isListingPending: () => false,
  });
  atOnce = 0;
  silentAtOnce = 0;
  mostAtOnce = 0;
  mostSilentAtOnce = 0;

  begin(isSilent: boolean): void {
    this.atOnce += 1;
    if (isSilent) this.silentAtOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    this.mostSilentAtOnce = Math.max(this.mostSilentAtOnce, this.silentAtOnce);
  }

  end(isSilent: boolean): void {
    this.atOnce -= 1;
    if (isSilent) this.silentAtOnce -= 1;
  }

  add(count: number, answersAfterMs: number | undefined, intervalMs = INTERVAL): readonly FakeServer[] {
    const added = Array.from({ length: count }, (_, index) => {
      return new FakeServer(this, FIRST_PORT + this.servers.length + index, answersAfterMs, intervalMs);
    });
    this.servers = [...this.servers, ...added];
    this.watch.follow(this.servers);
    return added;
  }
}

const gapsOf = (times: readonly number[]) => times.slice(1).map((at, index) => at - (times[index] ?? 0));

describe('a server that responds', () => {
  it('is queried once per interval', async () => {
    const world = new World();
    const [server] = world.add(1, 50);
    await world.clock.advance(10 * MINUTE);
    expect(server?.asked.length).toBeGreaterThanOrEqual(20);
    for (const gap of gapsOf(server?.asked ?? [])) expect(gap).toBeCloseTo(INTERVAL, 0);
  });

  it('has its own phase: the queries of a thousand servers are spread over the seconds', async () => {
    const world = new World();
    const servers = world.add(1_000, 50);
    await world.clock.advance(2 * INTERVAL);
    const from = INTERVAL;
    const bySecond = Array.from({ length: INTERVAL / SECOND }, () => 0);
    for (const at of servers.flatMap(({ asked }) => asked)) {
      const second = Math.floor((at - from) / SECOND);
      if (second >= 0 && second < bySecond.length) bySecond[second] = (bySecond[second] ?? 0) + 1;
    }
    expect(bySecond.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(995);
    expect(Math.max(...bySecond)).toBeLessThanOrEqual(60);
    expect(Math.min(...bySecond)).toBeGreaterThanOrEqual(10);
  });
});

describe('a server that does not respond', () => {
  it('is queried less and less often: up to every minute while it may be loading, then every five minutes', async () => {
    const world = new World();
    const [server] = world.add(1, undefined);
    await world.clock.advance(90 * MINUTE);
    const asked = server?.asked ?? [];
    const gaps = gapsOf(asked).map((gap) => Math.round(gap / SECOND));
    // The first query is repeated in a seat for silent servers.
    expect(gaps.slice(0, 5)).toEqual([1, 29, 60, 60, 60]);
    const loading = gaps.filter((_, index) => (asked[index] ?? 0) < LOADING_MS);
    expect(new Set(loading.slice(2, -1))).toEqual(new Set([60]));
    expect(new Set(gaps.slice(loading.length))).toEqual(new Set([300]));
  });

  it('is queried at its interval again after it responds', async () => {
    const world = new World();
    const [server] = world.add(1, undefined);
    await world.clock.advance(30 * MINUTE);
    if (server !== undefined) server.answersAfterMs = 50;
    await world.clock.advance(6 * MINUTE);
    const before = server?.asked.length ?? 0;
    await world.clock.advance(5 * MINUTE);
    expect((server?.asked.length ?? 0) - before).toBeGreaterThanOrEqual(9);
  });

  it('starts over with its next run', async () => {
    const world = new World();
    const [server] = world.add(1, undefined);
    await world.clock.advance(30 * MINUTE);
    const before = server?.asked.length ?? 0;
    if (server !== undefined) Object.assign(server, { currentRun: 1, answersAfterMs: 50 });
    await world.clock.advance(INTERVAL);
    expect(server?.asked.length).toBe(before + 1);
  });

  it.each([
    [1, INTERVAL, 0],
    [2, INTERVAL, 1],
    [3, INTERVAL, 3],
    [5, INTERVAL, 9],
    [5_000, INTERVAL, 9],
    [500, LONGEST_BACKOFF_MS, 0],
    [500, 2 * LONGEST_BACKOFF_MS, 0],
  ])('is not queried after %i failures with an interval of %i ms for %i intervals', (failures, ms, rests) => {
    expect(restsAfter(failures, ms, LOADING_MS)).toBe(rests);
  });

  it('is queried once a minute at least while it may be loading', () => {
    expect(restsAfter(5_000, 30_000, LOADING_MS - 1)).toBe(1);
  });
});

describe('a server that is not running', () => {
  it('is queried within an interval once it runs', async () => {
    const world = new World();
    const [server] = world.add(1, 50);
    if (server !== undefined) server.currentRun = undefined;
    await world.clock.advance(10 * MINUTE);
    if (server !== undefined) server.currentRun = 1;
    await world.clock.advance(INTERVAL);
    expect(server?.asked).toHaveLength(1);
  });

  it('is skipped if it stopped while waiting for a seat', async () => {
    const world = new World();
    const slow = world.add(2_000, 4_900);
    await world.clock.advance(INTERVAL / 2);
    for (const server of slow) server.currentRun = undefined;
    const before = slow.flatMap(({ asked }) => asked).length;
    await world.clock.advance(10 * MINUTE);
    expect(slow.flatMap(({ asked }) => asked)).toHaveLength(before);
  });
});

describe('dead servers', () => {
  it('do not delay others if they all die at once', async () => {
    const world = new World();
    const dying = world.add(500, 50);
    const healthy = world.add(200, 50);
    await world.clock.advance(5 * MINUTE);
    for (const server of dying) server.answersAfterMs = undefined;
    await world.clock.advance(10 * MINUTE);
    for (const { asked } of healthy)
      for (const gap of gapsOf(asked)) expect(gap).toBeLessThanOrEqual(INTERVAL + 2 * SECOND);
  });

  it('are each still queried repeatedly', async () => {
    const world = new World();
    const dead = world.add(300, undefined);
    world.add(100, 50);
    await world.clock.advance(30 * MINUTE);
    for (const { asked } of dead) expect(asked.length).toBeGreaterThanOrEqual(5);
  });

  it('are not confused with slow servers if there are few seats either', async () => {
    const world = new World();
    world.add(50, undefined);
    const slow = world.add(450, 2_000);
    await world.clock.advance(3 * MINUTE);
    const before = slow.map(({ answered }) => answered.length);
    await world.clock.advance(10 * MINUTE);
    for (const [index, { answered }] of slow.entries())
      expect(answered.length - (before[index] ?? 0)).toBeGreaterThanOrEqual(15);
  });
});

it('the scheduler never exceeds its limits, whatever the servers do', async () => {
  const server = fc.record({
    answersAfterMs: fc.option(fc.integer({ min: 1, max: 7_000 }), { nil: undefined }),
    intervalMs: fc.integer({ min: 10 * SECOND, max: 2 * MINUTE }),
    count: fc.integer({ min: 1, max: 120 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(server, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(4)),
      async (kinds, changes) => {
        const world = new World();
        const groups = kinds.map(({ count, answersAfterMs, intervalMs }) =>
          world.add(count, answersAfterMs, intervalMs),
        );
        for (const change of changes.slice(0, 4)) {
          await world.clock.advance(MINUTE);
          const group = groups[change % groups.length] ?? [];
          for (const one of group) {
            if (change === 0) one.currentRun = one.currentRun === undefined ? world.clock.now() : undefined;
            else one.answersAfterMs = one.answersAfterMs === undefined ? 50 : undefined;
          }
        }
        await world.clock.advance(2 * MINUTE);
        expect(world.mostAtOnce).toBeLessThanOrEqual(QUERY_SEATS);
        expect(world.mostSilentAtOnce).toBeLessThanOrEqual(SILENT_SEATS);
        world.watch.follow([]);
        await world.clock.advance(0);
        expect(world.atOnce).toBe(0);
      },
    ),
    { numRuns: 15 },
  );
});
