import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForeignCalls, unexplained } from '../../../src/panel/foreign-calls.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LIMIT = 10_000;

describe('calls that own ones do not explain', () => {
  it.each<[what: string, used: number, made: number, expected: number]>([
    ['all are own', 12, 102, 0],
    ['some are of others', 20, 102, 8],
    ["the panel's window began anew", 4, 101, 3],
    ['own calls were not counted', 10, 103, -3],
  ])('%s', (_what, used, made, expected) => {
    expect(unexplained({ used: 10, made: 100 }, used, made)).toBe(expected);
  });
});

interface Account {
  /** Calls per minute. */
  readonly own: number;
  readonly others: number;
  /** The length of the panel's windows, and how late it counts a call at most. */
  readonly windowMs: number;
  readonly latencyMs: number;
  /** Own calls start together in groups of this size. */
  readonly together?: number;
}

type Report = readonly [at: number, perMinute: number | undefined];

interface Event {
  readonly at: number;
  readonly what: 'start' | 'own' | 'other';
}

function eventsOf({ own, others, latencyMs, together = 1 }: Account, minutes: number, othersUntil: number) {
  const events: Event[] = [];
  for (let call = 0; call < own * minutes; call += 1) {
    const at = (Math.floor(call / together) * together * MINUTE) / own;
    events.push({ at, what: 'start' }, { at: at + ((call * 7_919) % (latencyMs + 1)), what: 'own' });
  }
  for (let call = 0; call < others * othersUntil; call += 1)
    events.push({ at: (call * MINUTE) / others + 0.5, what: 'other' });
  return events.sort((one, other) => one.at - other.at);
}

/** Plays an account for this many minutes; what is reported after each own response. */
function play(account: Account, minutes: number, othersUntil = minutes): readonly Report[] {
  const watch = new ForeignCalls();
  const reports: Report[] = [];
  let windowFrom = Number.NEGATIVE_INFINITY;
  let used = 0;
  for (const { at, what } of eventsOf(account, minutes, othersUntil)) {
    if (what === 'start') {
      watch.started();
      continue;
    }
    if (at >= windowFrom + account.windowMs) {
      windowFrom = at;
      used = 0;
    }
    used += 1;
    if (what === 'other') continue;
    watch.saw('resources', { limitPerMinute: LIMIT, remaining: LIMIT - used }, at);
    reports.push([at, watch.perMinute]);
  }
  return reports;
}

const shown = (reports: readonly Report[]) => reports.filter(([, perMinute]) => perMinute !== undefined);

const left = (used: number) => ({ limitPerMinute: LIMIT, remaining: LIMIT - used });

describe('somebody else', () => {
  it('is never reported while all calls are own, however the panel counts them', () => {
    const accounts = fc.record({
      own: fc.integer({ min: 1, max: 100 }),
      others: fc.constant(0),
      windowMs: fc.integer({ min: MINUTE, max: 5 * MINUTE }),
      latencyMs: fc.integer({ min: 0, max: 9 * SECOND }),
      together: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(accounts, (account) => {
        expect(shown(play(account, 25))).toEqual([]);
      }),
    );
  });

  it.each([
    [20, 20],
    [60, 60],
    [3, 60],
    [1, 10],
  ])(
    'who makes calls beside %i own ones a minute, %i a minute, is reported within a quarter of an hour',
    (own, others) => {
      const reports = shown(play({ own, others, windowMs: MINUTE + SECOND, latencyMs: SECOND }, 25));
      const [[at] = [0], last] = [reports[0], reports.at(-1)?.[1]];
      expect(at).toBeGreaterThanOrEqual(10 * MINUTE);
      expect(at).toBeLessThanOrEqual(15 * MINUTE);
      expect(last).toBeGreaterThan(0);
      expect(last).toBeLessThanOrEqual(others * 1.2);
    },
  );

  it('who looks at the panel for five minutes is not reported', () => {
    expect(shown(play({ own: 20, others: 60, windowMs: MINUTE, latencyMs: 0 }, 30, 5))).toEqual([]);
  });

  it('who ends is no longer reported four minutes later', () => {
    const reports = shown(play({ own: 20, others: 60, windowMs: MINUTE, latencyMs: 0 }, 30, 15));
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.at(-1)?.[0]).toBeLessThanOrEqual(19 * MINUTE);
  });

  it('is told from other shards, which may use their part of the limit', () => {
    const [alone, beside] = [new ForeignCalls(), new ForeignCalls(() => 100)];
    for (let now = 0; now <= 20 * MINUTE; now += MINUTE / 2) {
      for (const watch of [alone, beside]) {
        watch.started();
        watch.saw('resources', left(now % MINUTE === 0 ? 1 : 51), now);
      }
    }
    expect(alone.perMinute).toBeGreaterThan(0);
    expect(beside.perMinute).toBeUndefined();
  });

  it('changes what is shown twice: when it is reported, and when it is over', () => {
    const watch = new ForeignCalls();
    const changes: number[] = [];
    for (let now = 0; now <= 40 * MINUTE; now += MINUTE / 2) {
      watch.started();
      const used = now < 20 * MINUTE && now % MINUTE !== 0 ? 50 : 1;
      if (watch.saw('resources', left(used), now)) changes.push(now / MINUTE);
    }
    expect(changes).toHaveLength(2);
    expect(changes[0]).toBeGreaterThanOrEqual(10);
    expect(changes[1]).toBeGreaterThan(20);
  });
});
