import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import type { PanelAnswer } from '../../../src/panel/api.ts';
import { ApiBudget } from '../../../src/panel/budget.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { type CallKind, type Shares, sharesOf } from '../../../src/panel/fair-share.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { QueuedClock } from '../../support/queued-clock.ts';

const ok: PanelAnswer<string> = { value: 'ok' };
const DEAD_MS = 20_000;
const nodeDead = () =>
  new PanelError({ cause: 'node_unreachable', detail: 'the node does not answer' }, { status: 504 });

/** A budget with calls of a given duration, on a clock that the test advances. */
function setUp(perMinute: number) {
  const clock = new ManualClock();
  const budget = new ApiBudget({
    clock,
    requestTimeoutMs: 25_000,
    log: collectingLogger(),
    panel: 'main',
    pinnedPerMinute: perMinute,
  });
  const origin = clock.now();
  const started: string[] = [];
  const ended: string[] = [];
  const call = (
    kind: CallKind,
    name: string,
    duration: number | (() => number),
    fail: () => Error | undefined = () => undefined,
  ) =>
    budget
      .run({ kind, server: name, signal: new AbortController().signal }, async (signal) => {
        started.push(`${name}@${(clock.now() - origin) / 1_000}`);
        await sleep(clock, typeof duration === 'number' ? duration : duration(), signal);
        const error = fail();
        if (error !== undefined) throw error;
        return ok;
      })
      .then(
        () => ended.push(name),
        (problem: Error) => ended.push(`${name}: ${problem.message}`),
      );
  const poll = (name: string, tookMs = 100) => call('poll', name, tookMs);
  const deadPoll = (name: string) => call('poll', name, DEAD_MS, nodeDead);
  return { clock, budget, started, ended, call, poll, deadPoll };
}

describe('polls of dead nodes', () => {
  it('leave a seat to servers whose nodes answered before', async () => {
    const { clock, started, poll, deadPoll } = setUp(600);
    void poll('healthy');
    await clock.advance(1_000);
    for (let n = 0; n < 20; n += 1) void deadPoll(`dead${n}`);
    await clock.advance(1_000);
    void poll('healthy');
    await clock.advance(100);
    expect(started.at(-1)).toBe('healthy@2');
    expect(started).toHaveLength(5);
  });

  it('let another poll start when they are late', async () => {
    const { clock, started, ended, poll, deadPoll } = setUp(600);
    for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
    void poll('new');
    await clock.advance(2_900);
    expect(started).toHaveLength(3);
    await clock.advance(300);
    expect(started.slice(3)).toEqual(['new@3']);
    expect(ended).toEqual(['new']);
  });

  it('lose their seats if the panel answers later calls in the meantime', async () => {
    const { clock, ended, poll, deadPoll } = setUp(600);
    for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
    for (let n = 0; n < 24; n += 1) void poll(`slow${n}`, 700);
    await clock.advance(9_500);
    expect(ended.filter((end) => end.startsWith('slow'))).toHaveLength(24);
    expect(ended.filter((end) => end.startsWith('dead'))).toEqual([]);
  });

  it('keep their seats while the panel answers nothing, since the panel as a whole is stalled', async () => {
    const { clock, started, ended, poll } = setUp(600);
    const names = Array.from({ length: 8 }, (_, n) => `stalled${n}`);
    for (const name of names) void poll(name, 10_000);
    await clock.advance(60_000);
    expect(started).toHaveLength(names.length);
    expect(ended.toSorted()).toEqual(names);
  });

  it('lose their seats after 15 s in any case', async () => {
    const { clock, started, poll, deadPoll } = setUp(600);
    for (let n = 0; n < 5; n += 1) void deadPoll(`dead${n}`);
    void poll('new');
    await clock.advance(14_900);
    expect(started).toHaveLength(5);
    await clock.advance(500);
    expect(started.slice(5)).toEqual(['new@15', 'dead0@15.1']);
  });

  it('are repeated on the shared seat, where healthy servers among them answer', async () => {
    const { clock, ended, call, poll } = setUp(600);
    for (const name of ['a', 'b', 'c']) {
      const durations = [DEAD_MS, 100];
      void call('poll', name, () => durations.shift() ?? 0);
    }
    for (let n = 0; n < 12; n += 1) void poll(`slow${n}`, 700);
    await clock.advance(15_000);
    expect(ended).toHaveLength(15);
    expect(ended).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  });

  it('fail after a minute if the shared seat stays occupied', async () => {
    const { clock, ended, poll, deadPoll } = setUp(600);
    for (let n = 0; n < 8; n += 1) void deadPoll(`dead${n}`);
    for (let n = 0; n < 20; n += 1) void poll(`slow${n}`, 700);
    await clock.advance(60_000);
    const cut = () => ended.filter((end) => end.endsWith('while other calls waited'));
    expect(ended.filter((end) => /^slow\d+$/.test(end))).toHaveLength(20);
    expect(cut()).toEqual([]);
    await clock.advance(60_000);
    expect(cut().length).toBeGreaterThan(0);
    expect(cut()[0]).toMatch(/^dead\d: no answer within \d+ s, while other calls waited$/);
    expect(ended).toHaveLength(28);
  });

  it('wait for the end of the pause if the repeated call is throttled', async () => {
    const { clock, ended, call, poll } = setUp(600);
    const throttled = new PanelError(
      { cause: 'rate_limited', detail: 'slow down', retryAfterMs: 10_000 },
      { status: 429 },
    );
    const outcomes = [throttled, undefined];
    const durations = [DEAD_MS, 100, 100];
    void call(
      'poll',
      'a',
      () => durations.shift() ?? 0,
      () => outcomes.shift(),
    );
    for (const name of ['b', 'c']) void call('poll', name, DEAD_MS);
    for (let n = 0; n < 12; n += 1) void poll(`slow${n}`, 700);
    await clock.advance(60_000);
    expect(ended).toContain('a');
  });

  it('run to the end if no other call needs their seats', async () => {
    const { clock, ended, deadPoll } = setUp(600);
    for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
    await clock.advance(DEAD_MS + 1_000);
    expect(ended).toEqual(['dead0', 'dead1', 'dead2'].map((name) => `${name}: the node does not answer`));
  });

  it('share one seat afterwards, and never delay others', async () => {
    const { clock, started, poll, deadPoll } = setUp(600);
    for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
    await clock.advance(DEAD_MS + 1_000);
    started.length = 0;
    for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
    for (let n = 0; n < 4; n += 1) void poll(`new${n}`);
    await clock.advance(5_000);
    expect(started.map((entry) => entry.split('@')[0])).toEqual(['dead0', 'new0', 'new1', 'new2', 'new3']);
    await clock.advance(60_000);
    expect(started.slice(5)).toEqual(['dead1@41', 'dead2@61']);
  });

  it('use a fiftieth of the rate if there are many, until one of them is answered', async () => {
    const { clock, started, call, poll } = setUp(240);
    const failing = (name: string) => call('poll', name, 50, nodeDead);
    const names = Array.from({ length: 8 }, (_, n) => `s${n}`);
    for (const name of names) void failing(name);
    await clock.advance(60_000);
    started.length = 0;
    for (const name of names.slice(0, 4)) void failing(name);
    for (const name of names.slice(4)) void poll(name);
    await clock.advance(60_000);
    const seconds = started.map((entry) => Number(entry.split('@')[1]) - 60);
    expect(seconds.slice(0, 5)).toEqual([0, 12.5, 25, 37.5, 50]);
    // The fifth was answered, so its node works again, and the others' nodes may work too.
    for (const second of seconds.slice(5)) expect(second).toBeLessThan(51.5);
  });

  it('get more time if the panel is slow for all servers', async () => {
    const { clock, ended, poll } = setUp(600);
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 3; n += 1) void poll(`slow${n}`, 5_000);
      await clock.advance(90_000);
    }
    ended.length = 0;
    for (let n = 0; n < 12; n += 1) void poll(`slow${n}`, 5_000);
    await clock.advance(120_000);
    expect(ended.every((end) => /^slow\d+$/.test(end))).toBe(true);
  });
});

describe('suspect servers', () => {
  /** Polls of servers whose nodes failed to answer three times in a row, more than the shared seat can handle. */
  async function withManyDead() {
    const harness = setUp(600);
    const { clock, started, ended, deadPoll } = harness;
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
      await clock.advance(3 * DEAD_MS + 3_000);
    }
    for (let n = 0; n < 3; n += 1) void deadPoll(`dead${n}`);
    await clock.advance(1_000);
    started.length = 0;
    ended.length = 0;
    return harness;
  }

  const namesOf = (started: readonly string[]) => started.map((entry) => entry.split('@')[0]);

  it('with one failure are polled before those with repeated failures', async () => {
    const { clock, started, call, poll } = await withManyDead();
    void call('poll', 'blip', 50, nodeDead);
    await clock.advance(1_000);
    void poll('blip');
    await clock.advance(45_000);
    expect(namesOf(started)).toEqual(['blip', 'blip', 'dead1', 'dead2']);
  });

  it('leave the shared seat as soon as they are cleared', async () => {
    const { clock, budget, started } = await withManyDead();
    budget.clearSuspicion('dead2');
    await clock.advance(1_000);
    expect(namesOf(started)).toEqual(['dead2']);
    // Its poll neither occupies nor frees the suspects' seat.
    await clock.advance(18_500);
    expect(namesOf(started)).toEqual(['dead2', 'dead1']);
  });
});

describe('the listing', () => {
  it('never waits for polls', async () => {
    const { clock, started, call, deadPoll } = setUp(600);
    for (let n = 0; n < 20; n += 1) void deadPoll(`dead${n}`);
    await clock.advance(1_000);
    void call('listing', 'listing', 1_000);
    await clock.advance(100);
    expect(started.at(-1)).toBe('listing@1');
  });
});

describe('every kind of call', () => {
  /** Every kind has more calls than its share allows, for a quarter of an hour. */
  async function longestWaits(shares: Shares, perMinute: number, latencies: readonly number[]) {
    const clock = new QueuedClock();
    const budget = new ApiBudget({
      clock,
      requestTimeoutMs: 25_000,
      log: collectingLogger(),
      panel: 'main',
      pinnedPerMinute: perMinute,
    });
    budget.setShares(shares);
    const lanes = {
      connect: 'socket',
      poll: 'poll',
      listing: 'listing',
      backups: 'backups',
      retry: 'retry',
    } as const;
    const greedy = [
      'connect',
      'connect',
      'connect',
      'connect',
      'connect',
      'connect',
      'poll',
      'poll',
      'poll',
      'listing',
      'backups',
      'retry',
    ] as const;
    const longest = new Map<string, { waitMs: number; periodMs: number }>();
    const until = clock.now() + 15 * 60_000;
    let calls = 0;
    const loop = async (kind: keyof typeof lanes) => {
      const entry = {
        waitMs: 0,
        periodMs:
          60_000 / ((shares[lanes[kind]] * perMinute) / greedy.filter((other) => other === kind).length),
      };
      longest.set(kind, entry);
      while (clock.now() < until) {
        const from = clock.now();
        let startedAt = from;
        const run = budget.run({ kind, signal: new AbortController().signal }, async (signal) => {
          startedAt = clock.now();
          entry.waitMs = Math.max(entry.waitMs, startedAt - from);
          await sleep(clock, latencies[calls++ % latencies.length] ?? 100, signal);
          return ok;
        });
        await run.catch(() => {});
      }
    };
    const loops = greedy.map((kind) => loop(kind));
    await clock.advance(15 * 60_000);
    budget.stop();
    await Promise.all(loops);
    return longest;
  }

  it('gets its turn in time, whatever the other kinds do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 24, max: 300 }),
        fc.record({
          poll: fc.double({ min: 0.05, max: 0.6, noNaN: true }),
          listing: fc.double({ min: 0.02, max: 0.1, noNaN: true }),
          backups: fc.double({ min: 0.02, max: 0.1, noNaN: true }),
          retry: fc.constant(0.02),
        }),
        fc.array(fc.integer({ min: 20, max: 2_500 }), { minLength: 1, maxLength: 5 }),
        async (perMinute, parts, latencies) => {
          const shares = sharesOf(parts, 1);
          const longest = await longestWaits(shares, perMinute, latencies);
          for (const [kind, { waitMs, periodMs }] of longest) {
            expect(waitMs, `${kind} of ${JSON.stringify(shares)}`).toBeLessThanOrEqual(periodMs + 60_000);
          }
        },
      ),
      { numRuns: 6 },
    );
  });
});
