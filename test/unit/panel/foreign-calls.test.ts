import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ForeignCalls, unexplained } from '../../../src/panel/foreign-calls.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const LIMIT = 10_000;

describe('calls that own ones do not explain', () => {
  it.each<[what: string, used: number, atMost: number, expected: number]>([
    ['all are own', 12, 102, 0],
    ['some are of others', 20, 102, 8],
    ["the panel's window began anew", 4, 101, 3],
    ['own calls were not counted', 10, 103, -3],
  ])('%s', (_what, used, atMost, expected) => {
    expect(unexplained({ used: 10, atLeast: 100 }, { used, atMost })).toBe(expected);
  });
});

interface Account {
  /** Calls per minute. */
  readonly own: number;
  readonly others: number;
  /** The length of the panel's windows, and the maximum duration of a call and its response. */
  readonly windowMs: number;
  readonly latencyMs: number;
  /** The exporter's calls start together, in groups of this size. */
  readonly together?: number;
  /**
   * One of this many calls of the exporter is aborted at once. The panel counts it up to 9 s later.
   */
  readonly lostOf?: number;
}

type Report = readonly [at: number, perMinute: number | undefined];

interface Event {
  readonly at: number;
  /** The exporter's call; undefined for a call of another program. */
  readonly call?: number;
  readonly what: 'starts' | 'is counted' | 'ends';
}

const isLostIn = ({ lostOf }: Account, call: number) => lostOf !== undefined && call % lostOf === 0;

function eventsOf(account: Account, minutes: number, othersUntil: number): readonly Event[] {
  const { own, others, latencyMs, together = 1 } = account;
  const events: Event[] = [];
  for (let call = 0; call < own * minutes; call += 1) {
    const starts = (Math.floor(call / together) * together * MINUTE) / own;
    const isLost = isLostIn(account, call);
    const counted =
      starts + (isLost ? (call * 7_919) % (9 * SECOND) : ((call * 7_919) % (latencyMs + 1)) / 2);
    const ends = isLost ? starts : counted + ((call * 6_151) % (latencyMs + 1)) / 2;
    events.push({ at: starts, call, what: 'starts' }, { at: counted, call, what: 'is counted' });
    events.push({ at: ends, call, what: 'ends' });
  }
  for (let call = 0; call < others * othersUntil; call += 1)
    events.push({ at: (call * MINUTE) / others + 0.5, what: 'is counted' });
  return events.sort((one, other) => one.at - other.at);
}

/**
 * Plays an account for this many minutes. Returns the report after each response to the exporter.
 */
function play(account: Account, minutes: number, othersUntil = minutes): readonly Report[] {
  const watch = new ForeignCalls();
  const reports: Report[] = [];
  const calls = new Map<number, ReturnType<ForeignCalls['started']>>();
  const usedBy = new Map<number, number>();
  let windowFrom = Number.NEGATIVE_INFINITY;
  let used = 0;
  for (const { at, call, what } of eventsOf(account, minutes, othersUntil)) {
    if (what === 'is counted') {
      if (at >= windowFrom + account.windowMs) [windowFrom, used] = [at, 0];
      used += 1;
      if (call !== undefined) usedBy.set(call, used);
    } else if (call !== undefined && what === 'starts') calls.set(call, watch.started(at));
    else if (call !== undefined) {
      const isLost = isLostIn(account, call);
      watch.ended(!isLost, at);
      if (isLost) continue;
      const remaining = LIMIT - (usedBy.get(call) ?? 0);
      const own = calls.get(call);
      if (own === undefined) throw new Error('expected calls to start before they end');
      watch.saw(own, 'resources', { limitPerMinute: LIMIT, remaining }, at);
      reports.push([at, watch.perMinute]);
    }
  }
  return reports;
}

const shown = (reports: readonly Report[]) => reports.filter(([, perMinute]) => perMinute !== undefined);

const left = (used: number) => ({ limitPerMinute: LIMIT, remaining: LIMIT - used });

/** Makes a call. In its response, the panel reports this number of used calls. */
function sequence(watch: ForeignCalls, now: number, used: number): boolean {
  const call = watch.started(now);
  watch.ended(true, now);
  return watch.saw(call, 'resources', left(used), now);
}

describe('somebody else', () => {
  it('is never reported while all calls are own, however the panel counts them', () => {
    const accounts = fc.record({
      own: fc.integer({ min: 1, max: 200 }),
      others: fc.constant(0),
      windowMs: fc.integer({ min: MINUTE, max: 5 * MINUTE }),
      latencyMs: fc.integer({ min: 0, max: MINUTE }),
      together: fc.integer({ min: 1, max: 20 }),
      lostOf: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(accounts, (account) => {
        expect(shown(play(account, 25))).toEqual([]);
      }),
    );
  });

  it('is never said to make more calls than they do', () => {
    const accounts = fc.record({
      own: fc.integer({ min: 1, max: 200 }),
      others: fc.integer({ min: 2, max: 100 }),
      windowMs: fc.integer({ min: MINUTE, max: 5 * MINUTE }),
      latencyMs: fc.integer({ min: 0, max: 9 * SECOND }),
      together: fc.integer({ min: 1, max: 20 }),
    });
    // A single response reveals calls that were made over minutes.
    const few = { own: 4, others: 7, windowMs: 285_001, latencyMs: 0, together: 19 };
    fc.assert(
      fc.property(accounts, (account) => {
        const most = Math.max(...play(account, 25).map(([, perMinute = 0]) => perMinute));
        expect(most).toBeLessThanOrEqual(account.others);
      }),
      { examples: [[few]] },
    );
  });

  it.each([
    [20, 20],
    [60, 60],
    [3, 60],
    [1, 10],
    [2, 2],
    [20, 2],
    [60, 3],
    [190, 4],
  ])(
    'who makes calls beside %i own ones a minute, %i a minute, is reported within 20 minutes',
    (own, others) => {
      const account = { own, others, windowMs: MINUTE + SECOND, latencyMs: SECOND / 2 };
      const reports = shown(play(account, 25));
      const [[at] = [0], last] = [reports[0], reports.at(-1)?.[1]];
      expect(at).toBeGreaterThanOrEqual(10 * MINUTE);
      expect(at).toBeLessThanOrEqual(20 * MINUTE);
      expect(last).toBeGreaterThan(0);
    },
  );

  it('is not reported because responses cross, even forty seconds late', () => {
    const watch = new ForeignCalls();
    for (let now = 0; now <= 20 * MINUTE; now += 2 * MINUTE) {
      const [first, second] = [watch.started(now), watch.started(now)];
      const used = 1_000 + now / MINUTE;
      watch.ended(true, now);
      watch.saw(second, 'resources', left(used + 2), now);
      watch.ended(true, now + 40 * SECOND);
      watch.saw(first, 'resources', left(used + 1), now + 40 * SECOND);
    }
    expect(watch.perMinute).toBeUndefined();
  });

  it('who looks at the panel for five minutes is not reported', () => {
    expect(shown(play({ own: 20, others: 60, windowMs: MINUTE, latencyMs: 0 }, 30, 5))).toEqual([]);
  });

  it('who makes a call every two minutes is not reported', () => {
    expect(shown(play({ own: 20, others: 0.5, windowMs: MINUTE, latencyMs: 0 }, 60))).toEqual([]);
  });

  it('who ends is no longer reported four minutes later', () => {
    const reports = shown(play({ own: 20, others: 60, windowMs: MINUTE, latencyMs: 0 }, 30, 15));
    expect(reports.length).toBeGreaterThan(0);
    expect(reports.at(-1)?.[0]).toBeLessThanOrEqual(19 * MINUTE);
  });

  it('is told from other shards, which may use their part of the limit', () => {
    const [alone, beside] = [new ForeignCalls(), new ForeignCalls(() => 100)];
    for (let now = 0; now <= 20 * MINUTE; now += MINUTE / 2) {
      for (const watch of [alone, beside]) sequence(watch, now, now % MINUTE === 0 ? 1 : 51);
    }
    expect(alone.perMinute).toBeGreaterThan(0);
    expect(alone.problem).toMatchObject({ cause: 'account_shared', since: MINUTE / 2 });
    expect(beside.perMinute).toBeUndefined();
  });

  it('changes what is shown twice: when it is reported, and when it is over', () => {
    const watch = new ForeignCalls();
    const changes: number[] = [];
    for (let now = 0; now <= 40 * MINUTE; now += MINUTE / 2) {
      if (sequence(watch, now, now < 20 * MINUTE && now % MINUTE !== 0 ? 50 : 1)) changes.push(now / MINUTE);
    }
    expect(changes).toHaveLength(2);
    expect(changes[0]).toBeGreaterThanOrEqual(10);
    expect(changes[1]).toBeGreaterThan(20);
  });
});
