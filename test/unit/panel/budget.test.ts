import { describe, expect, it } from 'vitest';
import type { PanelAnswer } from '../../../src/panel/api.ts';
import { ApiBudget, type BudgetOptions } from '../../../src/panel/budget.ts';
import { PanelError, type PanelErrorFacts } from '../../../src/panel/errors.ts';
import type { CallKind } from '../../../src/panel/fair-share.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const never = () => new AbortController().signal;
const ok: PanelAnswer<string> = { value: 'ok' };
const throttled = ({ retryAfterMs = 30_000, ...facts }: PanelErrorFacts & { retryAfterMs?: number } = {}) =>
  new PanelError(
    { cause: 'rate_limited', detail: 'throttled', retryAfterMs },
    { status: 429, fromPanel: true, ...facts },
  );

function setUp(options: Partial<BudgetOptions> = {}) {
  const clock = new ManualClock();
  const log = collectingLogger();
  const budget = new ApiBudget({ clock, requestTimeoutMs: 25_000, log, panel: 'main', ...options });
  const origin = clock.now();
  const started: string[] = [];
  const open: {
    name: string;
    resolve: (answer: PanelAnswer<string>) => void;
    reject: (error: Error) => void;
  }[] = [];

  /** Queues a call that stays in flight until the test ends it. */
  const hold = (kind: CallKind, name: string, signal: AbortSignal = never()) =>
    budget.run({ kind, server: name, signal }, () => {
      started.push(`${name}@${clock.now() - origin}`);
      return new Promise<PanelAnswer<string>>((resolve, reject) => open.push({ name, resolve, reject }));
    });
  /** Queues a call that ends immediately with the given results; the last one is repeated. */
  const call = (kind: CallKind, name: string, ...ends: (PanelAnswer<string> | Error)[]) => {
    let run = 0;
    return budget.run({ kind, server: name, signal: never() }, async () => {
      started.push(`${name}@${clock.now() - origin}`);
      const end = ends[Math.min(run++, ends.length - 1)] ?? ok;
      if (end instanceof Error) throw end;
      return end;
    });
  };
  return { clock, log, budget, started, open, hold, call };
}

describe('the pace', () => {
  it('is one call a second at first', async () => {
    const { clock, started, call } = setUp();
    const calls = ['a', 'b', 'c'].map((name) => call('connect', name));
    await clock.advance(0);
    expect(started).toEqual(['a@0']);
    await clock.advance(2_000);
    expect(started).toEqual(['a@0', 'b@1000', 'c@2000']);
    await expect(Promise.all(calls)).resolves.toEqual(['ok', 'ok', 'ok']);
  });

  it('has no burst after an idle period', async () => {
    const { clock, started, call } = setUp();
    await clock.advance(600_000);
    void call('connect', 'a');
    void call('connect', 'b');
    await clock.advance(999);
    expect(started).toEqual(['a@600000']);
  });

  it('is unaffected by steps of the wall clock', async () => {
    const { clock, started, call } = setUp();
    void call('connect', 'a');
    void call('connect', 'b');
    clock.unixOffsetMs -= 86_400_000;
    await clock.advance(1_000);
    expect(started).toEqual(['a@0', 'b@1000']);
  });

  it('is reported as calls of the last minute, with the queue length', async () => {
    const { clock, budget, call } = setUp();
    for (const name of ['a', 'b', 'c']) void call('connect', name);
    await clock.advance(1_000);
    expect(budget.reading()).toEqual({
      limitPerMinute: 60,
      usedLastMinute: 2,
      queueLength: 1,
      paused: false,
    });
    await clock.advance(59_000);
    expect(budget.reading()).toMatchObject({ usedLastMinute: 2, queueLength: 0 });
    await clock.advance(60_000);
    expect(budget.reading().usedLastMinute).toBe(0);
  });
});

describe('the order of calls', () => {
  it('serves every waiting kind, and lets a later call of a higher kind overtake a second call of a lower kind', async () => {
    const { clock, started, call } = setUp();
    void call('listing', 'first');
    for (const kind of ['listing', 'poll', 'connect', 'refresh'] as const) void call(kind, kind);
    void call('connect', 'second');
    await clock.advance(3_999);
    void call('refresh', 'late');
    await clock.advance(60_000);
    expect(started.map((entry) => entry.split('@')[0])).toEqual([
      'first',
      'refresh',
      'poll',
      'connect',
      'late',
      'second',
      'listing',
    ]);
  });

  it('puts backups last, and the first listing before connects', async () => {
    const { clock, started, call } = setUp();
    void call('backups', 'first');
    for (const kind of ['backups', 'listing', 'connect', 'firstListing', 'refresh'] as const)
      void call(kind, kind);
    await clock.advance(60_000);
    expect(started.map((entry) => entry.split('@')[0])).toEqual([
      'first',
      'refresh',
      'firstListing',
      'connect',
      'listing',
      'backups',
    ]);
  });

  it('allows at most 8 calls in flight', async () => {
    const { clock, started, open, hold } = setUp();
    for (let n = 0; n < 10; n++) void hold('connect', `c${n}`);
    await clock.advance(60_000);
    expect(started).toHaveLength(8);
    open[0]?.resolve(ok);
    await clock.advance(0);
    expect(started).toHaveLength(9);
  });

  it('allows at most 3 polls of new servers, one page of the listing and one of backups in flight', async () => {
    const { clock, started, open, hold } = setUp({ pinnedPerMinute: 600 });
    for (let n = 0; n < 5; n++) void hold('poll', `p${n}`);
    for (const name of ['l0', 'l1']) void hold('listing', name);
    for (const name of ['b0', 'b1']) void hold('backups', name);
    await clock.advance(2_000);
    expect(new Set(started.map((entry) => entry.split('@')[0]))).toEqual(
      new Set(['b0', 'l0', 'p0', 'p1', 'p2']),
    );
    void hold('connect', 'c');
    await clock.advance(0);
    expect(started.at(-1)).toBe('c@2000');
    open.find(({ name }) => name === 'p0')?.resolve(ok);
    await clock.advance(100);
    expect(started.at(-1)).toBe('p3@2100');
    open.find(({ name }) => name === 'l0')?.resolve(ok);
    await clock.advance(100);
    expect(started.at(-1)).toBe('l1@2200');
  });

  it('rejects a second waiting call of the same kind for a server, and only that', async () => {
    const { clock, started, hold } = setUp();
    void hold('connect', 'other');
    void hold('connect', 'a');
    await expect(hold('connect', 'a')).rejects.toThrow(
      'panel main: a connect call for server a is already waiting',
    );
    void hold('poll', 'a');
    await clock.advance(2_000);
    void hold('connect', 'a');
    await clock.advance(1_000);
    expect(started).toEqual(['other@0', 'a@1000', 'a@2000', 'a@3000']);
  });
});

describe('a withdrawn call', () => {
  it('is removed immediately if it is waiting, and rejects with the reason of its signal', async () => {
    const { clock, budget, started, hold } = setUp();
    void hold('connect', 'a');
    const controller = new AbortController();
    const waiting = hold('connect', 'b', controller.signal);
    void hold('connect', 'c');
    controller.abort(new Error('not wanted'));
    expect(budget.reading().queueLength).toBe(1);
    await expect(waiting).rejects.toThrow('not wanted');
    void hold('connect', 'b');
    await clock.advance(2_000);
    expect(started).toEqual(['a@0', 'c@1000', 'b@2000']);
  });

  it('frees its seat as soon as it ends if it is running', async () => {
    const { clock, budget, started, open, hold } = setUp();
    const controller = new AbortController();
    const pages = [hold('listing', 'a', controller.signal)];
    void hold('listing', 'next');
    await clock.advance(60_000);
    expect(started).toHaveLength(1);
    controller.abort(new Error('not wanted'));
    for (const page of pages) await expect(page).rejects.toThrow('not wanted');
    await clock.advance(0);
    expect(started).toHaveLength(1);
    open[0]?.reject(new Error('ended'));
    await clock.advance(0);
    expect(started.at(-1)).toBe('next@60000');
    expect(budget.reading().queueLength).toBe(0);
  });

  it('never runs if its signal was already aborted', async () => {
    const { clock, started, hold } = setUp();
    await expect(hold('connect', 'a', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    void hold('connect', 'b');
    await clock.advance(0);
    expect(started).toEqual(['b@0']);
  });

  it('and every other call are rejected on a stop, as are later ones', async () => {
    const { clock, budget, started, hold } = setUp();
    const calls = [hold('connect', 'a'), hold('connect', 'b')];
    await clock.advance(0);
    expect(started).toEqual(['a@0']);
    budget.stop();
    for (const call of [...calls, hold('connect', 'c')]) await expect(call).rejects.toThrow('is stopping');
    await clock.advance(60_000);
    expect(started).toEqual(['a@0']);
    expect(clock.pending).toBe(0);
  });
});

describe('the rate limit', () => {
  it('is learned from resources, and four fifths of it are used', async () => {
    const { clock, log, budget, call } = setUp();
    const rates: number[] = [];
    budget.onRateChange((perMinute) => rates.push(perMinute));
    await call('probe', 'a', { value: 'x', limitPerMinute: 240 });
    expect(budget.knownLimit).toBe(240);
    expect(budget.reading().limitPerMinute).toBe(192);
    void call('poll', 'a', { value: 'x', limitPerMinute: 240 });
    await clock.advance(60_000);
    void call('listing', 'a', { value: 'x', limitPerMinute: 60 });
    await clock.advance(60_000);
    expect(rates).toEqual([192, 48]);
    // The first limit is logged with the plan.
    expect(log.lines.map((line) => line.level)).toEqual(['debug', 'info']);
  });

  it('is not learned from answers with a token', async () => {
    const { clock, budget, call } = setUp();
    void call('connect', 'a', { value: 'x', limitPerMinute: 5 });
    void call('refresh', 'a', { value: 'x', limitPerMinute: 5 });
    await clock.advance(2_000);
    expect(budget.knownLimit).toBeUndefined();
    expect(budget.reading().limitPerMinute).toBe(60);
  });

  it('is also learned from a rejection, if it comes from the panel itself', async () => {
    const { clock, budget, call } = setUp();
    const refusal = (fromPanel: boolean, limitPerMinute: number) =>
      new PanelError({ cause: 'not_found', detail: 'no such server' }, { fromPanel, limitPerMinute });
    await Promise.all([
      expect(call('poll', 'a', refusal(false, 10))).rejects.toThrow('no such'),
      expect(call('poll', 'b', refusal(true, 100))).rejects.toThrow('no such'),
      clock.advance(1_000),
    ]);
    expect(budget.knownLimit).toBe(100);
  });

  it('applies to the next call immediately', async () => {
    const { clock, started, call, hold, open } = setUp();
    void hold('poll', 'a');
    void call('connect', 'b');
    await clock.advance(100);
    open[0]?.resolve({ value: 'x', limitPerMinute: 240 });
    await clock.advance(1_000);
    expect(started).toEqual(['a@0', 'b@312.5']);
  });

  it('does not change a pinned rate', async () => {
    const { budget, call } = setUp({ pinnedPerMinute: 30 });
    await call('poll', 'a', { value: 'x', limitPerMinute: 240 });
    expect(budget.reading().limitPerMinute).toBe(30);
  });

  it('is divided among shards', async () => {
    const { budget, call } = setUp({ share: 0.25 });
    expect(budget.reading().limitPerMinute).toBe(15);
    await call('poll', 'a', { value: 'x', limitPerMinute: 240 });
    expect(budget.reading().limitPerMinute).toBe(48);
  });
});

describe('a 429', () => {
  it('pauses the whole queue for as long as the panel says, and the queue then continues in order', async () => {
    const { clock, log, budget, started, call } = setUp();
    const calls = [call('poll', 'a', throttled(), ok), call('poll', 'b'), call('poll', 'c')];
    await clock.advance(0);
    void call('connect', 'late');
    expect(budget.reading()).toMatchObject({ paused: true, queueLength: 4 });
    await clock.advance(29_999);
    expect(started).toEqual(['a@0']);
    await clock.advance(60_000);
    expect(started).toEqual(['a@0', 'late@30000', 'a@31000', 'b@32000', 'c@33000']);
    await expect(Promise.all(calls)).resolves.toEqual(['ok', 'ok', 'ok']);
    expect(budget.reading().paused).toBe(false);
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { panel: 'main', seconds: 30 } }]);
  });

  it('is logged as a warning once until a call succeeds, however many calls get it', async () => {
    const { clock, log, open, hold } = setUp();
    for (const name of ['a', 'b', 'c']) void hold('connect', name);
    await clock.advance(2_000);
    for (const { reject } of open.splice(0)) reject(throttled());
    await clock.advance(60_000);
    expect(log.lines).toHaveLength(1);
    open[0]?.reject(throttled());
    await clock.advance(60_000);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'debug']);
    open[1]?.resolve(ok);
    await clock.advance(0);
    open[2]?.reject(throttled());
    await clock.advance(0);
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'debug', 'warn']);
  });

  it('can lengthen a pause, but never shorten it', async () => {
    const { clock, budget, open, hold } = setUp();
    for (const name of ['a', 'b']) void hold('poll', name);
    await clock.advance(1_000);
    open[0]?.reject(throttled({ retryAfterMs: 300_000 }));
    open[1]?.reject(throttled({ retryAfterMs: 5_000 }));
    await clock.advance(299_999);
    expect(budget.reading().paused).toBe(true);
    await clock.advance(1);
    expect(budget.reading().paused).toBe(false);
  });

  it("for a token with a limit below the panel's delays only that server", async () => {
    const { clock, log, budget, started, call } = setUp();
    const refused = call('connect', 'a', throttled({ limitPerMinute: 5 }));
    void call('connect', 'b');
    await Promise.all([
      expect(refused).rejects.toMatchObject({
        problem: { cause: 'rate_limited', retryAfterMs: 30_000 },
      }),
      clock.advance(1_000),
    ]);
    expect(started).toEqual(['a@0', 'b@1000']);
    expect(budget.reading().paused).toBe(false);
    expect(log.lines).toEqual([]);
  });

  it.each([[undefined], [60], [240]])(
    'for a token with a limit of %j pauses all calls',
    async (limitPerMinute) => {
      const { clock, budget, call } = setUp();
      void call('refresh', 'a', throttled(limitPerMinute === undefined ? {} : { limitPerMinute }), ok);
      await clock.advance(0);
      expect(budget.reading().paused).toBe(true);
    },
  );

  it("for a token is compared with the panel's limit once that is known", async () => {
    const { clock, budget, call } = setUp();
    await call('poll', 'x', { value: 'x', limitPerMinute: 720 });
    const refused = call('connect', 'a', throttled({ limitPerMinute: 100 }));
    await Promise.all([expect(refused).rejects.toThrow('throttled'), clock.advance(1_000)]);
    expect(budget.reading().paused).toBe(false);
  });

  it('does not prevent withdrawing a paused call', async () => {
    const { clock, budget } = setUp();
    const controller = new AbortController();
    const call = budget.run<string>({ kind: 'poll', server: 'a', signal: controller.signal }, async () => {
      throw throttled();
    });
    await clock.advance(1_000);
    expect(budget.reading()).toMatchObject({ paused: true, queueLength: 1 });
    controller.abort(new Error('not wanted'));
    await expect(call).rejects.toThrow('not wanted');
    expect(budget.reading().queueLength).toBe(0);
  });
});

describe('the gate', () => {
  it('holds calls back, and picks the next one when it opens', async () => {
    let waitMs = 5_000;
    const { clock, started, call } = setUp({ gateWaitMs: () => Math.max(0, waitMs) });
    void call('connect', 'a');
    await clock.advance(4_999);
    void call('refresh', 'b');
    expect(started).toEqual([]);
    waitMs = 0;
    await clock.advance(10_000);
    expect(started.map((entry) => entry.split('@')[0])).toEqual(['b', 'a']);
  });
});
