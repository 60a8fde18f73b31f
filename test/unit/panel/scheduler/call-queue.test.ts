import { describe, expect, it } from 'vitest';
import type { Call } from '../../../../src/panel/scheduler/call.ts';
import { CallLines } from '../../../../src/panel/scheduler/call-lines.ts';
import { CallQueue, type Job } from '../../../../src/panel/scheduler/call-queue.ts';
import { SlidingWindow, WINDOW_MS } from '../../../../src/panel/scheduler/sliding-window.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NEVER = Number.POSITIVE_INFINITY;
const job: Job = () => Promise.resolve();

/** A queue for a panel that allows four calls per minute, until a time that a test may set. */
function queue() {
  const clock = new ManualClock();
  const state = { opensAt: 0, heldUntil: 0, hasPlace: true, looks: 0, asked: 0, isShort: false };
  const limit = { limitPerMinute: 4, pausedUntil: () => 0, isPaused: () => false };
  const calls = new CallQueue({
    clock,
    lines: new CallLines<Job>(),
    limit: () => ({ ...limit, opensAt: state.opensAt }),
    traffic: (isShort) => {
      state.isShort = isShort;
      return {
        limit,
        isShort,
        isBlamed: () => false,
        running: [],
        respondedAt: new Map(),
        tokensAt: () => [],
        trials: new SlidingWindow(),
        lists: new SlidingWindow(),
        others: new SlidingWindow(),
        connecting: () => [],
        hasStreamed: () => true,
        holds: () => {
          state.asked += 1;
          return clock.now() < state.heldUntil ? { subject: 'sockets n', until: state.heldUntil } : undefined;
        },
      };
    },
    hasPlace: () => state.hasPlace,
    lookAgain: () => {
      state.looks += 1;
    },
  });
  const seen = new calls.queueClass();
  const call = (server: string): Call => ({
    path: 'websocket',
    server,
    node: () => 'n',
    deadline: 0,
    tries: () => undefined,
  });
  const add = (...servers: readonly string[]) => {
    for (const server of servers) seen.enqueue(job, { call: call(server), id: server });
  };
  return { clock, state, calls, seen, add };
}

const SERVERS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('what p-queue sees', () => {
  it('is one call while one may start, and none when all have', () => {
    const { seen, add } = queue();
    expect([seen.size, seen.dequeue()]).toEqual([0, undefined]);
    add('a', 'b');
    expect(seen.size).toBe(1);
    expect([seen.dequeue(), seen.size, seen.dequeue(), seen.size]).toEqual([job, 1, job, 0]);
  });

  it.each<[string, (world: ReturnType<typeof queue>) => void]>([
    ['no place is free', ({ state }) => Object.assign(state, { hasPlace: false })],
    ['the rate allows none yet', ({ state, clock }) => Object.assign(state, { opensAt: clock.now() + 1 })],
    ['a rule holds it', ({ state }) => Object.assign(state, { heldUntil: NEVER })],
    ['it was withdrawn', ({ calls }) => calls.withdrawn('a')],
  ])('is no call while %s', (_what, make) => {
    const world = queue();
    world.add('a');
    make(world);
    world.calls.changed();
    expect([world.seen.size, world.seen.dequeue()]).toEqual([0, undefined]);
  });

  it('is decided once for each change', () => {
    const { state, calls, seen, add } = queue();
    add('a');
    for (let times = 0; times < 3; times += 1) expect(seen.size).toBe(1);
    expect(state.asked).toBe(1);
    calls.changed();
    expect([seen.size, state.asked, state.looks]).toEqual([1, 2, 1]);
  });
});

describe('a timer has p-queue look again', () => {
  it.each([
    ['when the rate allows a call', { opensAt: 5 }, 5],
    ['when a rule lets a call start', { heldUntil: 7 }, 7],
    ['at the later of both, the rule', { opensAt: 5, heldUntil: 7 }, 7],
    ['at the later of both, the rate', { opensAt: 9, heldUntil: 7 }, 9],
    ['at no time if only a change lets a call start', { heldUntil: NEVER }, NEVER],
  ])('%s', async (_what, { opensAt = 0, heldUntil = 0 }: { opensAt?: number; heldUntil?: number }, after) => {
    const { clock, state, seen, add } = queue();
    const start = clock.now();
    Object.assign(state, { opensAt: start + opensAt, heldUntil: start + heldUntil });
    add('a');
    expect([seen.size, clock.pending]).toEqual([0, after === NEVER ? 0 : 1]);
    if (after === NEVER) return;
    await clock.advance(after - 1);
    expect([seen.size, state.looks]).toEqual([0, 0]);
    await clock.advance(1);
    expect([seen.size, state.looks]).toEqual([1, 1]);
  });

  it('not after the queue was stopped', () => {
    const { clock, state, calls, seen, add } = queue();
    state.heldUntil = clock.now() + 5;
    add('a');
    expect([seen.size, clock.pending]).toEqual([0, 1]);
    calls.stop();
    expect(clock.pending).toBe(0);
  });
});

describe('the backlog', () => {
  it('is there from the decision that finds more calls than a minute carries, until fewer are left', async () => {
    const { clock, calls, seen, add } = queue();
    const since = clock.now();
    add(...SERVERS);
    expect(calls.backlog).toBeUndefined();
    expect([seen.size, calls.backlog]).toEqual([1, { calls: 6, since }]);
    await clock.advance(10);
    seen.dequeue();
    expect(calls.backlog).toEqual({ calls: 5, since });
    calls.withdrawn('f');
    expect(calls.backlog).toBeUndefined();
  });

  it.each<[string, (world: ReturnType<typeof queue>) => void]>([
    ['calls that a rule holds', ({ state }) => Object.assign(state, { heldUntil: NEVER })],
    ['an overbooked fleet', ({ calls }) => Object.assign(calls, { isOverbooked: true })],
  ])('isn’t there for %s', (_what, make) => {
    const world = queue();
    make(world);
    world.add(...SERVERS);
    expect([world.seen.size > 0, world.calls.backlog]).toEqual([world.state.heldUntil === 0, undefined]);
  });
});

describe('connects that have waited for a minute', () => {
  const full = () => {
    const world = queue();
    world.state.opensAt = NEVER;
    world.add('a');
    const isShortAfter = async (ms: number) => {
      await world.clock.advance(ms);
      world.calls.changed();
      return world.seen.size > 0 || world.state.isShort;
    };
    return { ...world, isShortAfter };
  };

  it('are a shortage, however few they are, but no backlog', async () => {
    const { calls, add, isShortAfter } = full();
    expect(await isShortAfter(0)).toBe(false);
    add('b');
    expect(await isShortAfter(WINDOW_MS - 1)).toBe(false);
    expect([await isShortAfter(1), calls.backlog]).toEqual([true, undefined]);
    for (const server of ['a', 'b']) calls.withdrawn(server);
    add('c');
    expect(await isShortAfter(1)).toBe(false);
  });

  it('are none if they waited for something else', async () => {
    const { clock, state, isShortAfter } = full();
    expect(await isShortAfter(0)).toBe(false);
    await clock.advance(WINDOW_MS);
    state.heldUntil = clock.now() + WINDOW_MS;
    expect(await isShortAfter(0)).toBe(false);
    expect(await isShortAfter(WINDOW_MS)).toBe(false);
    expect(await isShortAfter(WINDOW_MS - 1)).toBe(false);
    expect(await isShortAfter(1)).toBe(true);
  });

  it('are none in an overbooked fleet', async () => {
    const { calls, isShortAfter } = full();
    calls.isOverbooked = true;
    for (const ms of [0, WINDOW_MS]) expect(await isShortAfter(ms)).toBe(false);
  });
});
